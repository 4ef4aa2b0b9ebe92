"""Inputs reach the doors that they are meant for."""

import asyncio
import json
import math
from pathlib import Path

import pytest
from pydantic import SecretStr

from testing.apps import make_app
from testing.checkouts.git_repositories import commit, write
from testing.fakes import FakeOutput
from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import JOB_TOKEN, serve_github_api
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion
from testing.servers.scripted_server import serve_script as endpoint_serving
from testing.text.encoded_secrets import KEYS, MODEL, PROXY, find_secrets
from triage.app.settings.inputs import Settings
from triage.app.settings.runner_environment import RunnerEnvironment
from triage.base.errors import BadInput
from triage.domain.issue import Issue
from triage.domain.project_config import Price, ProjectConfig
from triage.fix.jobs.run_fix_job import open_fix_job
from triage.safety.secrets.redactor import OWN_SECRET_PLACEHOLDER, SecretRedactor


def test_the_projects_settings_reach_the_run(tmp_path: Path):
    commit(tmp_path, {"cart.py": "def total(prices):\n    return sum(prices)\n", "gen/cart.py": "total = 1\n"})
    own = ProjectConfig(ignore=["gen/"], instructions="Look at the cart.")
    services = make_app(Settings(), tmp_path, config=own).open_services()
    assert services.config == own
    services.codebase.index()
    assert services.codebase.list_paths() == ["cart.py"]


def test_a_checkout_without_a_model_has_vectors_of_this_machine(tmp_path: Path):
    settings = Settings(engine="model", model_api_key=SecretStr("k"), embedding_model="text-embedding-3-small")
    assert settings.effective_embedding_model != "local"
    assert make_app(settings, tmp_path).open_codebase(None).embedding_name == "local"


@pytest.mark.parametrize("is_read", [True, False])
def test_attachments_are_read_unless_the_project_does_not_wish_it(tmp_path: Path, *, is_read: bool):
    commit(tmp_path, {"cart.py": "x = 1\n"})
    read = make_app(Settings(), tmp_path, config=ProjectConfig(attachments=is_read)).open_services().read_attachments
    assert (read is not None) == is_read
    assert not is_read or (read and read(Issue(title="No links")) == [])


@pytest.mark.parametrize("limit", [100, 0])
def test_past_issues_are_read_unless_the_project_wants_none(tmp_path: Path, limit: int):
    settings, own = Settings(github_token=SecretStr(JOB_TOKEN)), ProjectConfig(past_issues=limit)
    assert (make_app(settings, tmp_path, "octo/shop", config=own).open_past_issues() is not None) == bool(limit)


class TestConfig:
    def test_is_read_from_the_commit(self, tmp_path: Path):
        commit(tmp_path, {".github/triage.yml": "ignore: [docs]\n"})
        write(tmp_path, {".github/triage.yml": "ignore: [everything]\n"})
        assert make_app(Settings(), tmp_path).read_project_config() == ProjectConfig(ignore=["docs"])

    def test_is_empty_without_a_file(self, tmp_path: Path):
        commit(tmp_path, {"a.py": "x\n"})
        assert make_app(Settings(), tmp_path).read_project_config() is None
        assert make_app(Settings(), tmp_path / "nowhere").read_project_config() is None

    def test_a_file_that_the_workflow_names_must_exist(self, tmp_path: Path):
        commit(tmp_path, {"own.yml": "ignore: [docs]\n"})
        assert make_app(Settings(config_file="own.yml"), tmp_path).read_project_config() == ProjectConfig(
            ignore=["docs"]
        )
        with pytest.raises(BadInput, match=r"^config-file: other\.yml is not in the checked-out commit"):
            make_app(Settings(config_file="other.yml"), tmp_path).read_project_config()


async def test_a_model_neither_gets_nor_gives_a_secret_of_ours(tmp_path: Path):
    def answer(request: ReceivedRequest) -> ScriptedReply:
        if request.path.endswith("/embeddings"):
            rows = [{"object": "embedding", "index": 0, "embedding": [1.0, 2.0]}]
            return ScriptedReply({"object": "list", "data": rows, "model": "m"})
        return chat_completion(f"It is {MODEL}")

    redactor = SecretRedactor(KEYS)
    with endpoint_serving(answer) as endpoint:
        settings = Settings(model_base_url=f"{endpoint.url}/v1", embedding_model="m")
        commit(tmp_path, {"cart.py": f"def total():\n    return 1  # see {PROXY}\n"})
        services = make_app(settings, tmp_path, redactor=redactor).open_services()
        assert services.model is not None
        said = await services.model.with_tools([], "main", 50).ainvoke(f"go {MODEL}")
        assert said.text == f"It is {OWN_SECRET_PLACEHOLDER}"
        services.codebase.index()
    assert {request.path for request in endpoint.requests} == {"/v1/chat/completions", "/v1/embeddings"}
    assert find_secrets(json.dumps([request.body for request in endpoint.requests])) == []
    assert "(model's prompt, model's answer, texts for vectors)" in redactor.warning


async def test_a_model_uses_own_prices_and_the_search_its_own_server(tmp_path: Path):
    replies = [chat_completion("words"), ScriptedReply({"results": []})]
    settings = Settings(model_api_key=SecretStr("k" * 20), tavily_api_key=SecretStr("t" * 20))
    own = ProjectConfig(prices={"gpt-6.1-terra": Price(input=1_000, output=0)})
    with endpoint_serving(replies) as endpoint:
        settings = settings.model_copy(update={"model_base_url": f"{endpoint.url}/v1"})
        environment = RunnerEnvironment(tavily_base_url=endpoint.url)
        services = make_app(settings, tmp_path, environment=environment, config=own).open_services()
        assert services.model is not None
        assert services.web_tools is not None
        assert (await services.model.with_tools([], "main", 50).ainvoke("go")).text == "words"
        assert services.model.usage.usd == pytest.approx(0.1)
        (tool,) = services.web_tools.tools
        assert await tool.ainvoke({"query": "date"}) == {"results": []}
    assert [request.path for request in endpoint.requests] == ["/v1/chat/completions", "/search"]


def test_proposals_use_the_servers_and_the_token_of_the_run(tmp_path: Path):
    with serve_github_api() as api:
        environment = RunnerEnvironment(api_url=api.url, server_url="https://git.example.org")
        settings = Settings(github_token=SecretStr(JOB_TOKEN))
        setup = make_app(settings, tmp_path, "octo/shop", environment=environment)
        job = open_fix_job(
            setup, setup.make_job_context(FakeOutput(), None, asyncio.Event(), lambda: math.inf), lambda _: None
        )
        assert job.context.repository.server_url == "https://git.example.org"
        GitDataApi(api, tmp_path)
        assert job.proposal_store.list_proposals(7) == []
        assert [asked.token for asked in api.requests] == [JOB_TOKEN]
