"""The root: environment in, exit code, log, outputs and summary out. GitHub is a real HTTP server on loopback."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit
from testing.runner_grammar import parse_commands, parse_outputs
from testing.runs.action_run import job_variables
from testing.servers.github_api import JOB_TOKEN, GitHubApi, serve_issue
from triage.action import main

BODY = """
```
Traceback (most recent call last):
  File "shop/cart.py", line 3, in total
    return sum(prices) / len(prices)
ZeroDivisionError: division by zero
```
"""


@dataclass
class Room:
    """A job's folder and variables."""

    folder: Path
    github: GitHubApi
    capsys: pytest.CaptureFixture[str]

    def __post_init__(self) -> None:
        commit(self.folder, {"shop/cart.py": "\n\ndef total(prices):\n    return sum(prices) / len(prices)\n"})
        self.event = self.folder.parent / "event.json"
        self.event.write_text(json.dumps(self.github.opened_event()))
        self.environ = job_variables(
            self.github.url, "issues", self.event.parent, self.folder, github_token=JOB_TOKEN, engine="rules"
        )

    def run(self, **changes: str | None) -> int:
        environ = {**self.environ, **{name.replace("__", "-"): value for name, value in changes.items()}}
        self.code = main({name: value for name, value in environ.items() if value is not None})
        self.log = "".join(self.capsys.readouterr())
        return self.code

    @property
    def outputs(self) -> dict[str, str]:
        path = self.folder.parent / "output"
        return parse_outputs(path.read_bytes()) if path.exists() else {}

    @property
    def summary(self) -> str:
        path = self.folder.parent / "summary"
        return path.read_text() if path.exists() else ""

    def annotations(self, level: str) -> list[str]:
        return [command.data for command in parse_commands(self.log) if command.name == level]


@pytest.fixture
def room(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Room]:
    (tmp_path / "workspace").mkdir()
    with serve_issue("total fails on an empty cart", BODY) as github:
        yield Room(tmp_path / "workspace", github, capsys)


def test_an_opened_issue_is_answered(room: Room):
    assert room.run() == 0
    assert len(room.github.comments) == 1
    assert "shop/cart.py" in room.github.comments[0]["body"]
    assert room.outputs["status"] == "complete"
    assert room.outputs["engine"] == "rules"
    report = json.loads((room.folder / ".triage" / "report.json").read_text())
    assert report["suspects"][0]["path"] == "shop/cart.py"
    assert report["actor"] == "mona"
    assert {name for name, is_on in report["feature_flags"].items() if is_on} == {
        *("web_search", "memory", "comment", "labels")
    }


BAD: list[tuple[str, dict[str, str | None], str]] = [
    ("no event path", {"GITHUB_EVENT_PATH": None}, "GITHUB_EVENT_PATH"),
    ("no repository", {"GITHUB_REPOSITORY": None}, "GITHUB_REPOSITORY"),
    ("no number", {"GITHUB_EVENT_NAME": "workflow_dispatch"}, "issue-number"),
    ("a switch of before", {"INPUT_FIX": "gate"}, "fix: not an input of this version."),
    ("unknown value", {"INPUT_ENGINE": "modle"}, "engine: Input should be 'auto', 'model' or 'rules'"),
    ("no such issue", {"GITHUB_EVENT_NAME": "workflow_dispatch", "INPUT_ISSUE__NUMBER": "999"}, "999"),
    ("model without key", {"INPUT_ENGINE": "model"}, "model-api-key"),
    ("search address", {"TAVILY_BASE_URL": "http://search.example.com"}, "TAVILY_BASE_URL"),
]


@pytest.mark.parametrize(("changes", "words"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_input_is_one_error_line_and_writes_nothing(room: Room, changes: dict[str, str | None], words: str):
    assert room.run(**changes) == 1
    (error,) = room.annotations("error")
    assert words in error
    assert "\n" not in error
    assert words in room.summary
    assert room.outputs["status"] == "failed"
    assert room.github.comments == []
    assert not (room.folder / ".triage").exists()
    assert "Traceback" not in room.log


def test_without_a_checkout_the_text_is_triaged(room: Room, tmp_path: Path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert room.run(GITHUB_WORKSPACE=str(empty), GITHUB_RUN_ID="1", INPUT_COMMENT="always") == 0
    assert room.outputs["status"] == "degraded"
    assert any("actions/checkout" in warning for warning in room.annotations("warning"))
    assert len(room.github.comments) == 1


def test_an_internal_error_is_reported_without_data(room: Room, monkeypatch: pytest.MonkeyPatch):
    def explode(*_: object, **__: object) -> None:
        raise ZeroDivisionError("words from outside")

    monkeypatch.setattr("triage.action.route_event", explode)
    assert room.run() == 1
    (error,) = room.annotations("error")
    assert "ZeroDivisionError" in error
    assert "words from outside" not in room.log + room.summary


@pytest.mark.parametrize(
    "changes",
    [
        {"INPUT_MODEL__API__KEY": "a key with spaces"},
        {"INPUT_MODEL": "ghs_" + "x1" * 18 + " "},
        {"INPUT_ENGINE": "ghs_" + "x1" * 18},
        {"INPUT_MODEL__BASE__URL": "https://bot:a-password-of-mine@llm.example"},
        {"INPUT_MODEL__BASE__URL": "https://llm.example?key=a-password-of-mine"},
        {"HTTPS_PROXY": "socks5://bot:a-password-of-mine@proxy"},
        {"GITHUB_EVENT_PATH": "/ghs_" + "x1" * 18},
    ],
)
def test_an_invalid_input_shows_no_secret(room: Room, changes: dict[str, str | None]):
    room.run(**changes)
    said = "\n".join(line for line in room.log.splitlines() if not line.startswith("::add-mask::"))
    for secret in ("a key with spaces", "a-password-of-mine", "x1" * 18):
        assert secret not in said + room.summary + json.dumps(room.outputs)


def test_tokens_are_masked_before_the_first_log_line(room: Room):
    room.run()
    first = next(iter(parse_commands(room.log)))
    assert (first.name, first.data) == ("add-mask", room.environ["INPUT_GITHUB-TOKEN"])
    assert room.environ["INPUT_GITHUB-TOKEN"] not in room.summary + json.dumps(room.outputs)
