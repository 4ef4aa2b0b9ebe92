"""Inputs reach the doors that they are meant for."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from pydantic import SecretStr

from testing.checkouts.git_repositories import commit, write
from testing.fakes import FakeJournal
from testing.servers.scripted_server import Reply, Request, completion
from testing.servers.scripted_server import serving as endpoint_serving
from tests.index.chroma_server import serving
from triage import wiring
from triage.domain.project_config import Config, Labels, Price
from triage.errors import BadInput
from triage.index.vectors.chroma_connection import server
from triage.settings import Settings

SLUG = "acme/wired"
NOTHING_SET = Config()


def vectors_of(settings: Settings, root: Path) -> int:
    facts = wiring.services(settings, FakeJournal(), root, SLUG).codebase.index()
    assert facts.notes == []
    return facts.vectors


def test_the_vectors_are_on_the_server_only_where_one_is_given(tmp_path: Path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "cart.py").write_text("def total(prices):\n    return sum(prices)\n")
    with serving(tmp_path / "chroma") as url:
        assert vectors_of(Settings(), tmp_path / "code") == 1
        assert list(server(url).list_collections()) == []
        assert vectors_of(Settings(chroma_url=url), tmp_path / "code") == 1
        (stored,) = server(url).list_collections()
        assert (stored.metadata or {})["repository"] == SLUG
        held = stored.get()
    assert held["metadatas"] == [{"path": "cart.py", "start": 1, "end": 2, "symbol": "total"}]
    assert not any(held["documents"] or []), "no text leaves"


def test_the_index_is_kept_only_where_a_folder_is_given(tmp_path: Path):
    commit(tmp_path / "code", {"cart.py": "def total(prices):\n    return sum(prices)\n"})
    for given, place in (("kept", tmp_path / "code/kept/index"), (str(tmp_path / "own"), tmp_path / "own/index")):
        settings = Settings(cache_dir=given)
        assert wiring.kept_index(settings, tmp_path / "code") == place
        for reused in (0, 1):
            facts = wiring.services(settings, FakeJournal(), tmp_path / "code", SLUG).codebase.index()
            assert (facts.reused, facts.cache, facts.vectors) == (reused, "", 1)
        assert list(place.glob("index-*.bin"))
    assert wiring.kept_index(Settings(), tmp_path) is None


def test_an_endpoint_is_asked_for_the_vectors_of_new_passages_only(tmp_path: Path):
    def answer(request: Request) -> Reply:
        texts = request.body["input"]
        rows = [{"object": "embedding", "index": at, "embedding": [1.0, len(text)]} for at, text in enumerate(texts)]
        usage = {"prompt_tokens": 7, "total_tokens": 7}
        return Reply({"object": "list", "data": rows, "model": "m", "usage": usage})

    commit(tmp_path / "code", {f"src/m{number}.py": f"def f{number}():\n    return 1\n" for number in range(5)})
    asked = []
    with endpoint_serving(answer) as model:
        given = Settings(model_base_url=model.url, embedding_model="m", cache_dir=str(tmp_path / "kept"))
        for change in ({}, {}, {"src/m3.py": "def f3():\n    return 2\n"}):
            commit(tmp_path / "code", change)
            services = wiring.services(given, FakeJournal(), tmp_path / "code", SLUG)
            facts = services.codebase.index()
            assert (facts.embedding, facts.vectors, facts.notes) == ("m", 5, [])
            assert services.model is not None
            texts = [text for request in model.requests for text in request.body["input"]]
            asked.append((len(texts), services.model.usage.input_tokens))
            model.requests.clear()
    assert asked == [(5, 7), (0, 0), (1, 7)]


def test_the_projects_settings_reach_the_run(tmp_path: Path):
    commit(tmp_path, {"cart.py": "def total(prices):\n    return sum(prices)\n", "gen/cart.py": "total = 1\n"})
    own = Config(ignore=["gen/"], instructions="Look at the cart.")
    services = wiring.services(Settings(), FakeJournal(), tmp_path, SLUG, config=own)
    assert services.config == own
    services.codebase.index()
    assert services.codebase.paths() == ["cart.py"]


class TestConfig:
    def test_is_read_from_the_commit(self, tmp_path: Path):
        commit(tmp_path, {".github/triage.yml": "ignore: [docs]\n"})
        write(tmp_path, {".github/triage.yml": "ignore: [everything]\n"})
        assert wiring.config(Settings(), tmp_path) == Config(ignore=["docs"])

    def test_is_empty_without_a_file(self, tmp_path: Path):
        commit(tmp_path, {"a.py": "x\n"})
        assert wiring.config(Settings(), tmp_path) == Config()
        assert wiring.config(Settings(), tmp_path / "nowhere") == Config()

    def test_a_file_that_the_workflow_names_has_to_be_there(self, tmp_path: Path):
        commit(tmp_path, {"own.yml": "ignore: [docs]\n"})
        assert wiring.config(Settings(config_file="own.yml"), tmp_path) == Config(ignore=["docs"])
        with pytest.raises(BadInput, match=r"^config-file: other\.yml is not in the commit"):
            wiring.config(Settings(config_file="other.yml"), tmp_path)


class TestFingerprint:
    def of(self, config: Config = NOTHING_SET, inputs: Mapping[str, str] = MappingProxyType({})) -> str:
        given = {"TRIAGE_MODEL_API_KEY": "sk-one"} | {f"TRIAGE_{name.upper()}": text for name, text in inputs.items()}
        return wiring.fingerprint(Settings.from_terminal(given), config)

    @pytest.mark.parametrize(
        "inputs",
        [
            {"model": "other"},
            {"fast_model": "other"},
            {"fallback_model": "other"},
            {"model_base_url": "https://gateway.example/v1"},
            {"embedding_model": "other"},
            {"supervisor": "model"},
            {"engine": "rules"},
            {"tavily_api_key": "tvly-1"},
        ],
    )
    def test_what_shapes_an_answer_changes_it(self, inputs: dict[str, str]):
        assert self.of(inputs=inputs) != self.of()

    @pytest.mark.parametrize(
        "config",
        [
            Config(instructions="x"),
            Config(ignore=["x"]),
            Config(labels=Labels(allow=["x"])),
            Config(prices={"x": Price(input=1, output=1)}),
        ],
    )
    def test_the_projects_settings_change_it(self, config: Config):
        assert self.of(config) != self.of()

    @pytest.mark.parametrize(
        "inputs",
        [
            {"model_api_key": "sk-two"},
            {"github_token": "other"},
            {"timeout_seconds": "600"},
            {"max_cost_usd": "2"},
            {"comment": "false"},
            {"cache_dir": "elsewhere"},
        ],
    )
    def test_keys_caps_and_what_is_written_do_not(self, inputs: dict[str, str]):
        assert self.of(inputs=inputs) == self.of()


async def test_own_prices_and_kept_answers_reach_model_and_search(tmp_path: Path):
    """A run that goes on finds what the interrupted one was answered, and counts what it paid."""
    replies = [completion("words"), Reply({"results": []})]
    settings = Settings(model_api_key=SecretStr("k" * 20), tavily_api_key=SecretStr("t" * 20), cache_dir="kept")
    own = Config(prices={"gpt-4o": Price(input=1_000, output=0)})
    journal = FakeJournal()
    with endpoint_serving(replies) as endpoint:
        settings = settings.model_copy(update={"model_base_url": f"{endpoint.url}/v1"})
        for _ in range(2):
            services = wiring.services(settings, journal, tmp_path, SLUG, config=own, tavily_base_url=endpoint.url)
            assert services.model is not None
            assert services.search is not None
            assert await services.model.text("main", 50).ainvoke("go") == "words"
            assert services.model.usage.usd == pytest.approx(0.1)
            (tool,) = services.search.tools
            assert await tool.ainvoke({"query": "date"}) == {"results": []}
    assert len(endpoint.requests) == 2
    assert (tmp_path / "kept/runs/replies.sqlite").is_file()
    assert journal.lines == []
