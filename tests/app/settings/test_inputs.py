"""Inputs by both roads: what is taken, what is refused and how it is said."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.apps import make_app
from testing.each_row import each_row
from triage.app.settings.inputs import PLACEHOLDER_KEY, Settings
from triage.app.settings.runner_environment import RunnerEnvironment
from triage.base.errors import BadInput
from triage.domain.effect import Policy
from triage.domain.run import Limits

KEY = "sk-abcdefghijklmnop"


def from_runner(**inputs: str) -> Settings:
    return Settings.from_runner({f"INPUT_{name.replace('_', '-').upper()}": text for name, text in inputs.items()})


def refusal(**inputs: str) -> str:
    with pytest.raises(BadInput) as caught:
        from_runner(**inputs)
    return str(caught.value)


class TestDefaults:
    def test_defaults(self) -> None:
        settings = Settings.from_runner({})
        assert settings.effective_engine == "rules"
        assert settings.limits() == Limits()
        assert settings.policy() == Policy()

    def test_an_unset_input_arrives_empty(self) -> None:
        everything = {f"INPUT_{field.alias.upper()}": "" for field in Settings.model_fields.values() if field.alias}
        assert len(everything) == len(Settings.model_fields)
        assert Settings.from_runner(everything) == Settings.from_runner({})

    def test_the_process_environment_is_not_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("INPUT_MODEL", "TRIAGE_MODEL", "MODEL", "model"):
            monkeypatch.setenv(name, "sneaky")
        assert Settings.from_runner({}).model == "gpt-6.1-terra"
        assert Settings.from_terminal({}).model == "gpt-6.1-terra"


class TestRoads:
    def test_the_runner_keeps_hyphens(self) -> None:
        settings = Settings.from_runner({"INPUT_MAX-TOKENS": "5000", "INPUT_MAX_TOKENS": "7000"})
        assert settings.max_tokens == 5000

    def test_a_composite_action_has_underscores(self) -> None:
        assert Settings.from_runner({"INPUT_MAX_TOKENS": " 7000 ", "INPUT_ENGINE": "rules"}).max_tokens == 7000

    def test_an_empty_input_of_the_runner_is_not_replaced(self) -> None:
        settings = Settings.from_runner({"INPUT_MODEL-API-KEY": "", "INPUT_MODEL_API_KEY": "of-somebody-else"})
        assert settings.model_api_key.get_secret_value() == ""

    def test_the_terminal_has_underscores(self) -> None:
        settings = Settings.from_terminal({"TRIAGE_GITHUB_TOKEN": "t0ken", "TRIAGE_TIMEOUT_SECONDS": "20"})
        assert settings.github_token.get_secret_value() == "t0ken"
        assert settings.limits().run_seconds == 20.0

    def test_the_task_is_the_commands(self) -> None:
        assert Settings.from_terminal({"TRIAGE_TASK": "fix-propose"}).task == "triage"
        assert Settings.from_terminal({"TRIAGE_TASK": "doctor"}, task="fix-propose").task == "fix-propose"

    def test_an_override_wins_unless_it_is_none(self) -> None:
        environ = {"TRIAGE_ENGINE": "rules", "TRIAGE_ISSUE_NUMBER": "3"}
        settings = Settings.from_terminal(environ, engine="auto", issue_number=None, dry_run=True)
        assert (settings.engine, settings.issue_number, settings.dry_run) == ("auto", 3, True)


class TestLimitsAndPolicy:
    def test_every_number_reaches_its_limit(self) -> None:
        settings = from_runner(
            max_tokens="2000",
            max_cost_usd="0.25",
            timeout_seconds="100",
        )
        assert settings.limits() == Limits(tokens=2000, usd=0.25, run_seconds=100, agent_seconds=20, tool_seconds=10)

    def test_a_proposal_has_limits_of_its_own(self) -> None:
        assert from_runner(task="fix-propose").limits() == Limits(
            tokens=300_000, usd=2, run_seconds=1500, agent_seconds=300, tool_seconds=30
        )
        assert from_runner(task="fix-propose", max_cost_usd="0.5").limits().usd == 0.5

    def test_every_choice_reaches_the_policy(self) -> None:
        settings = from_runner(comment="never", dry_run="TRUE", labels="apply")
        assert settings.policy() == Policy(comment="never", dry_run=True, labels="apply")

    @each_row(
        ("given", "mode"),
        [("", "auto"), ("always", "always"), ("true", "always"), ("never", "never"), ("false", "never")],
    )
    def test_when_to_comment_may_be_said_as_yes_and_no(self, given: str, mode: str) -> None:
        assert from_runner(comment=given).policy().comment == mode
        assert Settings.from_terminal({"TRIAGE_COMMENT": given}).policy().comment == mode


@each_row(
    ("inputs", "engine"),
    [
        ({}, "rules"),
        ({"model_api_key": KEY}, "model"),
        ({"engine": "rules", "model_api_key": KEY}, "rules"),
        ({"engine": "model", "model_api_key": KEY}, "model"),
        ({"engine": "model", "model_base_url": "https://gateway.example/v1"}, "model"),
        ({"engine": "model", "model_api_key": KEY, "max_cost_usd": "0.00"}, "rules"),
        ({"model_api_key": KEY, "max_cost_usd": "0.001"}, "model"),
    ],
)
def test_engine_chosen(inputs: dict[str, str], engine: str) -> None:
    assert from_runner(**inputs).effective_engine == engine


class TestKeys:
    def test_a_gateway_without_key_gets_the_placeholder(self) -> None:
        settings = from_runner(engine="model", model_base_url="http://ollama:11434/v1/")
        endpoint = make_app(settings, Path()).open_endpoint("1")
        assert endpoint.api_key.get_secret_value() == PLACEHOLDER_KEY
        assert endpoint.base_url == "http://ollama:11434/v1"

    def test_secrets_are_never_shown(self) -> None:
        secrets = ["ghs_abc12345", KEY, "tvly-12345678"]
        settings = from_runner(github_token=secrets[0], model_api_key=secrets[1], tavily_api_key=secrets[2])
        assert not [secret for secret in secrets if secret in f"{settings!r}{settings}{settings.model_dump()}"]

    def test_a_broken_key_is_not_echoed(self) -> None:
        said = refusal(model_api_key="sk-one sk-two")
        assert said == "model-api-key: the value has a space, a line break or another character that keys do not have"

    def test_a_model_has_a_name_without_spaces(self) -> None:
        assert refusal(model="gpt 5") == (
            "model: 'gpt 5' is not a model's name: printable ASCII without spaces, at most 200 characters"
        )

    def test_engine_model_without_endpoint_says_what_to_set(self) -> None:
        assert refusal(engine="model") == (
            "engine: 'model' needs model-api-key, or model-base-url for a gateway without a key"
        )

    def test_local_vectors_where_there_is_no_endpoint(self) -> None:
        assert from_runner(embedding_model="text-embedding-3-small").effective_embedding_model == "local"
        by_rules = from_runner(embedding_model="text-embedding-3-small", model_api_key=KEY, engine="rules")
        assert by_rules.effective_embedding_model == "local", "by rules, code stays on this machine"
        with_key = from_runner(embedding_model="text-embedding-3-small", model_api_key=KEY)
        assert with_key.effective_embedding_model == "text-embedding-3-small"


class TestBaseUrl:
    @each_row(
        "url",
        [
            "https://api.example.com/v1",
            "http://127.0.0.1:8080",
            "http://localhost:11434/v1",
            "http://[::1]:8000/v1",
            "http://10.0.0.7/v1",
            "http://[fd00::1]/v1",
            "http://vllm:8000/v1",
            "http://host.docker.internal:11434/v1",
        ],
    )
    def test_taken(self, url: str) -> None:
        assert from_runner(model_base_url=f"{url}/").model_base_url == url

    @each_row(
        "url",
        [
            "http://api.example.com/v1",
            "https://user:pa55word@api.example.com",
            "https://api.example.com/v1?key=pa55word",
        ],
    )
    def test_refused_without_showing_it(self, url: str) -> None:
        said = refusal(model_base_url=url)
        assert said.startswith("model-base-url: ")
        assert "pa55word" not in said


class TestSupervisorAndFiles:
    @each_row("path", ["a\nb", "a\0b", "a\x1b[2Jb"])
    def test_an_invalid_path_is_refused(self, path: str) -> None:
        said = refusal(config_file=path)
        assert said.startswith("config-file: ")
        assert said.endswith(" is not a path inside the repository, such as .github/triage.yml")

    @each_row("path", ["/etc/passwd", "../triage.yml", "a/../../b", "a//b", "a/", "a\\b", ".", "a/./b"])
    def test_the_config_file_lies_in_the_repository(self, path: str) -> None:
        said = refusal(config_file=path)
        assert said.endswith(" is not a path inside the repository, such as .github/triage.yml")
        assert from_runner(config_file="./ci/triage.yml").config_file == "ci/triage.yml"


class TestFaults:
    @each_row(
        ("inputs", "said"),
        [
            ({"engine": "modle"}, "engine: Input should be 'auto', 'model' or 'rules'"),
            ({"comment": "yes"}, "comment: Input should be 'auto', 'always' or 'never'"),
            ({"dry_run": "maybe"}, "dry-run: Input should be a valid boolean, unable to interpret input"),
            (
                {"issue_number": "#12"},
                "issue-number: Input should be a valid integer, unable to parse string as an integer",
            ),
            ({"max_tokens": "0"}, "max-tokens: Input should be greater than or equal to 1000"),
            ({"max_cost_usd": "1001"}, "max-cost-usd: Input should be less than or equal to 1000"),
            ({"timeout_seconds": "21601"}, "timeout-seconds: Input should be less than or equal to 21600"),
        ],
    )
    def test_name_and_what_is_allowed(self, inputs: dict[str, str], said: str) -> None:
        assert refusal(**inputs) == said

    def test_all_at_once_on_one_line(self) -> None:
        said = refusal(engine="model", issue_number="1;rm", max_cost_usd="nan", comment="nope", model="a\nb")
        named = [part.split(":")[0] for part in said.split("; ")]
        assert named == ["issue-number", "model", "max-cost-usd", "comment", "engine"]
        assert "\n" not in said

    @given(st.sampled_from(sorted(Settings.model_fields)), st.text(max_size=80))
    def test_any_text_is_taken_or_refused_on_one_short_line(self, name: str, text: str) -> None:
        try:
            from_runner(**{name: text})
        except BadInput as error:
            said = str(error)
            assert said.isascii()
            assert said.isprintable()
            assert len(said) < 500
            assert said.startswith(f"{name.replace('_', '-')}: ")


class TestRunnerEnvironment:
    def test_the_runners_variables(self) -> None:
        facts = RunnerEnvironment.read(
            {
                "GITHUB_EVENT_NAME": "issues",
                "GITHUB_EVENT_PATH": "/github/workflow/event.json",
                "GITHUB_WORKSPACE": "/github/workspace",
                "GITHUB_REPOSITORY": "o/n",
                "GITHUB_SERVER_URL": "https://ghe.test/",
                "GITHUB_API_URL": "https://ghe.test/api/v3",
                "GITHUB_RUN_ID": "77",
                "GITHUB_RUN_ATTEMPT": "2",
                "GITHUB_OUTPUT": "/out",
                "GITHUB_STEP_SUMMARY": "",
                "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "secret",
            }
        )
        assert facts.run_url == "https://ghe.test/o/n/actions/runs/77/attempts/2"
        assert str(facts.workspace) == "/github/workspace"
        assert "id-token: write" in facts.warnings[0]
        assert "secret" not in repr(facts)

    def test_the_search_address_is_checked_like_the_models(self) -> None:
        assert RunnerEnvironment.read({"TAVILY_BASE_URL": "http://127.0.0.1:4010"}).tavily_base_url
        with pytest.raises(BadInput, match=r"^TAVILY_BASE_URL: http:// is allowed for loopback"):
            RunnerEnvironment.read({"TAVILY_BASE_URL": "http://evil.example"})
