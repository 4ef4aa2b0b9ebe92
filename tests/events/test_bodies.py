"""For any issue text, the run ends well: with one comment that GitHub accepts and that has no active content."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.each_row import each_row
from testing.servers.github_server import SLUG, GitHubServer, serve_github
from testing.webhooks.event_runner import EventResult, EventRunner
from triage.domain.issue import Issue
from triage.issue.read_issue import read_issue
from trust.markdown_judge import judge_page

NAUGHTY: list[str] = json.loads(
    (Path(__file__).parents[2] / "testing" / "data" / "naughty_strings.json").read_text("utf-8")
)
BODIES = {
    "65,536 emoji": "😀" * 65_536,
    "line ends of all systems": "It fails.\r\n\r\n```\r\nValueError: x\r\n```\r\rIt\u2028fails\u2029here\x85and\x0bthere\x0c.",
    "letters that are none": "It \0 fails\0 \ud800 and \udfff \udc00\ud800." + "e" + "\u0301" * 10_000,
    "other scripts": "\u202eנכשל\u202c הכול נכשל \u2067x\u2069 "
    + "i\u0300t\u0315 f\u0489".replace("\u0489", "\u0489" * 60),
    "empty": "",
    "none": None,
    "a picture": "![Screenshot](https://user-images.example/1.png)",
    "headings of a template": "### What happened?\n\n### Steps\n\n_No response_\n\n### Version\n\n",
    "all naughty strings": "\n\n".join(NAUGHTY),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EventRunner]:
    with serve_github(GitHubServer("", "")) as github:
        yield EventRunner(tmp_path_factory.mktemp("bodies"), github)


def triaged(place: EventRunner, title: str, body: str | None) -> EventResult:
    """A run whose issue reads so, both in the event and when GitHub is asked."""
    place.github.title, place.github.body = title, body  # type: ignore[assignment]  # GitHub's is null when empty
    place.github.comments.clear()
    return place.run("issues", json.dumps(place.github.opened_event()).encode())


def is_well(place: EventRunner, ended: EventResult) -> None:
    assert (ended.code, ended.outputs["status"], ended.errors, ended.unexpected_commands) == (0, "complete", [], [])
    (comment,) = place.github.comments
    assert len(comment["body"].encode("utf-16-le")) // 2 <= 65_536
    assert judge_page(comment["body"], [f"https://github.com/{SLUG}/blob/"]).live_effects == []
    report = json.loads((place.workspace / ".triage" / "report.json").read_text("utf-8"))
    assert report["status"] == "complete"


@each_row("name", BODIES)
def test_a_body(place: EventRunner, name: str) -> None:
    is_well(place, triaged(place, "Total fails", BODIES[name]))


@pytest.mark.parametrize(
    "title", ["", "😀" * 256, "<!-- x -->\0\ud800\x1b]0;x\x07::error::y\n::warning::z\u202eabc ##[error]x @mona #1"]
)
def test_a_title(place: EventRunner, title: str) -> None:
    is_well(place, triaged(place, title, "It fails."))


@pytest.mark.parametrize("first", range(0, len(NAUGHTY), 103))
def test_every_naughty_string_is_read(first: int) -> None:
    for text in NAUGHTY[first : first + 103]:
        parsed = read_issue(Issue(title=text, body=text))
        parsed.model_dump_json().encode()
        assert "\n" not in parsed.title
