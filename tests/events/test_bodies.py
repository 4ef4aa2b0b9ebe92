"""Whatever an issue is made of: the run ends well, with one comment that GitHub would take and that does nothing."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.servers.github_server import SLUG, GitHubServer, serving
from testing.webhooks.event_runner import Ended, Place
from triage.domain.issue import Issue
from triage.reading.read_issue import read
from trust.markdown_judge import judged

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
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with serving(GitHubServer("", "")) as github:
        yield Place(tmp_path_factory.mktemp("bodies"), github)


def triaged(place: Place, title: str, body: str | None) -> Ended:
    """A run whose issue reads so, both in the event and when GitHub is asked."""
    place.github.title, place.github.body = title, body  # type: ignore[assignment]  # GitHub's is null when empty
    place.github.comments.clear()
    return place.run("issues", json.dumps(place.github.opened()).encode())


def is_well(place: Place, ended: Ended) -> None:
    assert (ended.code, ended.outputs["status"], ended.errors, ended.odd_commands) == (0, "complete", [], [])
    (comment,) = place.github.comments
    assert len(comment["body"].encode("utf-16-le")) // 2 <= 65_536
    assert judged(comment["body"], [f"https://github.com/{SLUG}/blob/"]).live == []
    report = json.loads((place.workspace / ".triage" / "report.json").read_text("utf-8"))
    assert report["status"] == "complete"


@pytest.mark.parametrize("name", BODIES)
def test_a_body(place: Place, name: str) -> None:
    is_well(place, triaged(place, "Total fails", BODIES[name]))


@pytest.mark.parametrize(
    "title", ["", "😀" * 256, "<!-- x -->\0\ud800\x1b]0;x\x07::error::y\n::warning::z\u202eabc ##[error]x @mona #1"]
)
def test_a_title(place: Place, title: str) -> None:
    is_well(place, triaged(place, title, "It fails."))


@pytest.mark.parametrize("first", range(0, len(NAUGHTY), 103))
def test_every_naughty_string_is_read(first: int) -> None:
    for text in NAUGHTY[first : first + 103]:
        reading = read(Issue(title=text, body=text))
        reading.model_dump_json().encode()
        assert "\n" not in reading.title
