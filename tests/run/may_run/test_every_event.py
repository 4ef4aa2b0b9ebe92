"""Every event of GitHub through the whole action: a task or a reason, and no request without a task."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.each_row import each_row
from testing.servers.github_api import serve_issue
from testing.webhooks.event_runner import EventResult, EventRunner
from testing.webhooks.example_payloads import (
    comment,
    load_examples,
    load_payload,
)
from triage.domain.task import Skip
from triage.run.may_run.route import route_event

EVERY = load_examples()


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EventRunner]:
    with serve_issue("Total fails", "It fails.", number=1) as github:
        yield EventRunner(tmp_path_factory.mktemp("events"), github)


def is_sound(result: EventResult) -> bool:
    """Told on the job's page and in the outputs, without a traceback, and nothing that the log's reader would obey."""
    is_complete = bool(result.summary) and "status" in result.outputs and not result.unexpected_commands
    has_clean_log = (
        "Traceback" not in result.log and "Internal error" not in result.log and len(result.errors) == result.exit_code
    )
    return is_complete and has_clean_log and (result.outputs["status"] == "failed") == bool(result.exit_code)


@each_row("action", sorted({one.payload["action"] for one in EVERY if one.event == "issues"}))
def test_an_issue_that_changes(runner: EventRunner, action: str) -> None:
    payload = next(one.payload for one in EVERY if one.event == "issues" and one.payload["action"] == action)
    result = runner.run("issues", json.dumps(payload).encode())
    assert is_sound(result)
    assert result.exit_code == 0
    assert bool(result.requests) == (
        action in ("opened", "reopened") or (action == "edited" and "body" in payload["changes"])
    )


@each_row("name", ["Issues", "issues ", " issues", "issues\n", "issue", "ISSUES", "iss\u200bues", "іssues", "::error::x", "../issues", "a" * 9_000])  # fmt: skip
def test_an_event_by_another_name_is_skipped(runner: EventRunner, name: str) -> None:
    result = runner.run(name, json.dumps(runner.github.opened_event()).encode())
    assert is_sound(result)
    assert (result.exit_code, result.requests) == (0, [])


@each_row("number", ["1;id", "1e3", "-1", "0", "١", "１", "9223372036854775808", "1.5", "0x1", "#1", "https://github.com/o/r/issues/1", "1 2", "\u200b1", "true"])  # fmt: skip
def test_an_invalid_number(runner: EventRunner, number: str) -> None:
    result = runner.run("workflow_dispatch", b"{}", **{"INPUT_ISSUE-NUMBER": number})
    assert is_sound(result)
    assert (result.exit_code, result.requests) == (1, [])


@pytest.mark.parametrize("content", [b'{"issue": ', b"\xff\xfe{", b"\x00" * 99, b"[" * 100_000, b'{"a":' * 100_000])
def test_a_broken_file(runner: EventRunner, content: bytes) -> None:
    result = runner.run("issues", content)
    assert is_sound(result)
    assert (result.exit_code, result.requests) == (1, [])


def test_a_folder_for_a_file(runner: EventRunner, tmp_path: Path) -> None:
    result = runner.run("issues", tmp_path)
    assert is_sound(result)
    assert (result.exit_code, result.requests) == (1, [])


@each_row("body", ["\ud800", "/triage\ud800", "\0/triage", "/tri\u00adage", "／triage", "/triаge", "/triage\u00a0now", "\u00a0/triage", "> /triage", "```\n/triage\n```", "<!--\n/triage\n-->", "thanks\n/triage", "\\/triage", "&#47;triage", "//triage", "/triage\u2028quiet"])  # fmt: skip
def test_text_that_only_looks_like_a_command(body: str) -> None:
    task = route_event("issue_comment", comment(body, by="stranger"))
    assert isinstance(task, Skip)


def test_a_command_on_a_pull_request_starts_no_request(runner: EventRunner) -> None:
    payload = load_payload("issue_comment.created", comment__body="/triage", issue__pull_request={"url": "x"})
    result = runner.run("issue_comment", json.dumps(payload).encode())
    assert (result.exit_code, result.outputs["status"], result.requests) == (0, "skipped", [])
