"""What passes the way out: masked, still in shape, told once, and nothing new acts in it."""

import json
from typing import Any

import pytest

from testing.factories import issue
from tests.e2e.leaked import COLLECTOR, GITHUB, KEYS, MODEL, forms, leaks
from tests.publish.sample_reports import MODEL_STEPS
from triage.domain.code import Span
from triage.domain.issue import Issue, IssueComment
from triage.publish.hidden_state import PostedState, parse_state, render_state
from triage.publish.redacting import RedactingGitHub, RedactingResponseCache, RedactingRunner, SecretRedactor
from triage.secrets.matcher import OWN_SECRET_PLACEHOLDER
from triage.text.inert_markdown import find_active_content

STATE = render_state(PostedState(text="0123456789abcdef", content="fedcba9876543210"))


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
def way_out() -> SecretRedactor:
    return SecretRedactor(KEYS)


class TestPage:
    @pytest.mark.parametrize("form", forms(MODEL))
    def test_a_comment_keeps_its_state_and_its_shape(self, way_out: SecretRedactor, form: str) -> None:
        body = (
            f"{STATE}\n**Bug.** It says\n\n```\n{form}\n```\n\n| a | b |\n|---|---|\n| c | `{form.splitlines()[0]}` |\n"
        )
        masked = way_out.redact_markdown("comment", body)
        assert parse_state(masked) == parse_state(body) is not None
        assert leaks(masked) == []
        assert find_active_content(masked, []) == []

    def test_without_a_secret_it_is_the_same(self, way_out: SecretRedactor) -> None:
        page = f"{STATE}\nSee [x](https://github.com/o/r/blob/0/a.py#L1), sk-proj- and ghs_.\n"
        assert way_out.redact_markdown("comment", page) is page
        assert way_out.warning == ""

    @pytest.mark.parametrize(
        "page",
        [
            "{0}\n```\n{1} @mona #1\n```\nend",  # the beginning of the fence goes with the key
            "It is {0} `{1} @mona` there",
            "{0}\n\n    {1}\n    <img src=x>\n",
            "```\nfoo {0}\n```\n\n{1} bar\n```\n@mona\n```\n",
        ],
    )
    def test_what_would_act_when_a_key_is_gone_goes_out_as_its_source(self, way_out: SecretRedactor, page: str) -> None:
        assert find_active_content(page.format("x", "y"), []) == []
        masked = way_out.redact_markdown("summary", page.format(GITHUB[:16], GITHUB[16:]))
        assert leaks(masked) == []
        assert find_active_content(masked, []) == []


class TestWarning:
    def test_once_with_every_place_and_no_word(self, way_out: SecretRedactor) -> None:
        way_out.for_location("log")(f"x {GITHUB}")
        way_out.for_location("log")(f"y {GITHUB}")
        way_out.for_location("model's prompt")({"content": [MODEL]})
        way_out.for_location("outputs")("nothing")
        assert "(log, model's prompt)" in way_out.warning
        assert leaks(way_out.warning) == []


class TestGitHub:
    def test_what_is_read_is_masked_and_what_stands_in_no_text_stays(self, way_out: SecretRedactor) -> None:
        mine = IssueComment(author="github-actions[bot]", body=f"{STATE}\nok", ours=True, comment_id=5)
        told = issue(title=f"Key {GITHUB}", thread=[IssueComment(author="x", body="\n".join(MODEL)), mine])
        read = RedactingGitHub(Recorder(fetch_issue=told), way_out).fetch_issue(7)
        assert leaks(read.model_dump_json()) == []
        assert (read.number, read.thread[1]) == (told.number, mine)
        clean = issue()
        assert RedactingGitHub(Recorder(refetch_issue=clean), way_out).refetch_issue(7) is clean

    def test_comments_and_labels(self, way_out: SecretRedactor) -> None:
        github = Recorder(list_labels=["bug", f"by {GITHUB}"], post_comment=(1, ""), edit_comment=(1, ""))
        port = RedactingGitHub(github, way_out)
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
    def test_everything_is_masked_and_json_stays_json(self, way_out: SecretRedactor) -> None:
        runner = Recorder(write_report="")
        port = RedactingRunner(runner, way_out)
        assert not port.has_written_summary
        port.write_summary(f"# {GITHUB}\n")
        port.write_outputs({"suspect-files": json.dumps([f"a/{MODEL}.py", "b.py"]), "ticket-title": f"It is {MODEL}"})
        port.annotate("warning", f"Mend {COLLECTOR}.", Span(path=f"{MODEL}/x.py", start=1, end=1))
        port.annotate("error", "Mend it.", Span(path="x.py", start=1, end=1))
        port.write_report(json.dumps({"a": [MODEL]}, indent=2))
        assert port.has_written_summary
        assert leaks(repr(runner.calls)) == []
        assert runner.calls[1][1][0] == {
            "suspect-files": f'["a/{OWN_SECRET_PLACEHOLDER}.py", "b.py"]',
            "ticket-title": f"It is {OWN_SECRET_PLACEHOLDER}",
        }
        assert [call[1][2] for call in runner.calls[2:4]] == [None, Span(path="x.py", start=1, end=1)]
        assert json.loads(runner.calls[4][1][0]) == {"a": [OWN_SECRET_PLACEHOLDER]}


def test_what_is_kept_is_masked(way_out: SecretRedactor) -> None:
    replies = Recorder()
    RedactingResponseCache(replies, way_out).put("k", json.dumps({"content": json.dumps({"summary": MODEL})}))
    kept = replies.calls[0][1][1]
    assert json.loads(json.loads(kept)["content"]) == {"summary": OWN_SECRET_PLACEHOLDER}


def test_a_value_keeps_its_type(way_out: SecretRedactor) -> None:
    step = MODEL_STEPS[1].model_copy(update={"error": f"x {GITHUB}"})
    masked = way_out.redact_model("telemetry", step)
    assert (type(masked), masked.error) == (type(step), f"x {OWN_SECRET_PLACEHOLDER}")
    assert masked.started_at == step.started_at
    assert isinstance(way_out.redact_model("issue", issue()), Issue)
