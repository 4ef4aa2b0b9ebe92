"""The ports redact what passes through them, and Markdown and JSON keep their shape."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from testing.factories import issue
from testing.text.encoded_secrets import COLLECTOR, GITHUB, KEYS, MODEL, encode_all, find_secrets
from triage.comment.hidden_state import CommentState, parse_state, render_state
from triage.domain.code import Span
from triage.domain.issue import IssueComment
from triage.domain.past_issues import PastFix, PastIssue
from triage.safety.active_content import find_active_content
from triage.safety.secrets.redactor import OWN_SECRET_PLACEHOLDER, SecretRedactor
from triage.writes.redacting import RedactingGitHub, RedactingPastIssues, RedactingResponseCache
from triage.writes.redacting_runner import RedactingRunner

STATE = render_state(CommentState(text="0123456789abcdef", content="fedcba9876543210"))


class Recorder:
    """Takes every call of a port and answers nothing of its own."""

    def __init__(self, **answers: Any) -> None:
        self.calls: list[tuple[str, Any]] = []
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        def called(*args: Any) -> Any:
            self.calls.append((name, args))
            return self._answers.get(name)

        return called


@pytest.fixture
def redactor() -> SecretRedactor:
    return SecretRedactor(KEYS)


class TestGitHub:
    def test_an_issue_is_redacted_and_one_without_secrets_is_the_same(self, redactor: SecretRedactor) -> None:
        mine = IssueComment(author="github-actions[bot]", body=f"{STATE}\nok", ours=True, comment_id=5)
        written = issue(title=f"Key {GITHUB}", thread=[IssueComment(author="x", body=f"see {MODEL}"), mine])
        read = RedactingGitHub(Recorder(fetch_issue=written), redactor).fetch_issue(7)
        assert find_secrets(read.model_dump_json()) == []
        assert (read.number, read.thread[1]) == (written.number, mine)
        clean = issue()
        assert RedactingGitHub(Recorder(refetch_issue=clean), redactor).refetch_issue(7) is clean

    @pytest.mark.parametrize("form", encode_all(MODEL))
    def test_a_comment_keeps_its_state_and_its_shape(self, redactor: SecretRedactor, form: str) -> None:
        body = f"{STATE}\n**Bug.** It says\n\n```\n{form}\n```\n\n| a | b |\n|---|---|\n| c | `{form}` |\n"
        github = Recorder(post_comment=(1, ""))
        RedactingGitHub(github, redactor).post_comment(7, body)
        posted = github.calls[0][1][1]
        assert parse_state(posted) == parse_state(body) is not None
        assert find_secrets(posted) == []
        assert find_active_content(posted, []) == []

    def test_comments_and_labels(self, redactor: SecretRedactor) -> None:
        github = Recorder(list_labels=["bug", f"by {GITHUB}"], post_comment=(1, ""), edit_comment=(1, ""))
        port = RedactingGitHub(github, redactor)
        assert port.list_labels() == ["bug"]
        port.post_comment(7, f"{STATE}\n{GITHUB}")
        port.edit_comment(7, 1, f"{STATE}\n{GITHUB}")
        port.add_labels(7, ["bug", GITHUB])
        assert [call for call in github.calls if call[0] != "list_labels"] == [
            ("post_comment", (7, f"{STATE}\n{OWN_SECRET_PLACEHOLDER}")),
            ("edit_comment", (7, 1, f"{STATE}\n{OWN_SECRET_PLACEHOLDER}")),
            ("add_labels", (7, ["bug"])),
        ]


class TestRunner:
    def test_everything_is_redacted_and_json_stays_json(self, redactor: SecretRedactor) -> None:
        runner = Recorder(write_report="")
        port = RedactingRunner(runner, redactor)
        assert not port.has_written_summary
        port.write_summary(f"# {GITHUB}\n")
        port.write_outputs({"suspect-files": json.dumps([f"a/{MODEL}.py", "b.py"]), "ticket-title": f"It is {MODEL}"})
        port.annotate("warning", f"Fix {COLLECTOR}.", Span(path=f"{MODEL}/x.py", start=1, end=1))
        port.annotate("error", "Fix it.", Span(path="x.py", start=1, end=1))
        port.write_report(json.dumps({"a": [MODEL]}, indent=2))
        assert port.has_written_summary
        assert find_secrets(repr(runner.calls)) == []
        assert runner.calls[1][1][0] == {
            "suspect-files": f'["a/{OWN_SECRET_PLACEHOLDER}.py", "b.py"]',
            "ticket-title": f"It is {OWN_SECRET_PLACEHOLDER}",
        }
        assert [call[1][2] for call in runner.calls[2:4]] == [None, Span(path="x.py", start=1, end=1)]
        assert json.loads(runner.calls[4][1][0]) == {"a": [OWN_SECRET_PLACEHOLDER]}


def test_cached_replies_are_redacted(redactor: SecretRedactor) -> None:
    cache = Recorder()
    RedactingResponseCache(cache, redactor).put("k", json.dumps({"content": json.dumps({"summary": MODEL})}))
    stored = cache.calls[0][1][1]
    assert json.loads(json.loads(stored)["content"]) == {"summary": OWN_SECRET_PLACEHOLDER}


def test_past_issues_are_what_the_page_shows_without_secrets(redactor: SecretRedactor) -> None:
    written = "\n\n".join(encode_all(MODEL))
    past = PastIssue(
        number=1,
        title=f"Title \u200b{MODEL}",
        body=f"Seen <!-- hidden words --> and <span hidden>hidden too</span>\n\n{written}\n\nDB_PASSWORD=x8Jk2mPq9sLw4Tz7vB",
        author=MODEL,
        labels=[MODEL],
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        fixes=[PastFix(title=f"Fix {MODEL}", files=[f"a/{MODEL}.py"])],
    )
    pages = RedactingPastIssues(lambda words: iter([[past]]), redactor)
    [[shown]] = pages.iterate("words")
    text = shown.model_dump_json()
    assert find_secrets(text) == []
    assert "hidden" not in text
    assert "x8Jk2mPq" not in text
    assert shown.title == "Title [masked secret]"
    assert shown.author == OWN_SECRET_PLACEHOLDER
    assert shown.body.startswith("Seen")
