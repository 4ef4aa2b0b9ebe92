"""Text that a person does not see is in no reading, no prompt and no query."""

from html import unescape

import pytest

from testing.text.hidden_channels import CHANNELS, HIDDEN_BY_ARGUMENT, NOT_COUNTED, contains_canary
from testing.text.rendered_text import visible_words
from triage.domain.issue import Issue, IssueComment
from triage.issue.read_issue import read_issue, read_issue_and_thread
from triage.issue.visible_text.visible_text import extract_visible_page

CANARY = "zebrafinch"


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_hidden_text_is_not_read(channel: str) -> None:
    body = CHANNELS[channel](CANARY)
    page = extract_visible_page(body)
    assert not contains_canary(page.text, CANARY), page.text
    parsed = read_issue(Issue(title="It fails", body=body))
    told = parsed.model_dump(exclude={"links"})
    assert not contains_canary("\n".join(_texts(told)), CANARY)


@pytest.mark.parametrize("channel", [name for name in CHANNELS if name not in NOT_COUNTED])
def test_hidden_text_is_counted(channel: str) -> None:
    assert extract_visible_page(CHANNELS[channel](CANARY)).hidden_fragments >= 1


@pytest.mark.parametrize("channel", [name for name in CHANNELS if name not in HIDDEN_BY_ARGUMENT])
def test_a_person_does_not_see_it_either(channel: str) -> None:
    assert CANARY not in visible_words(CHANNELS[channel](CANARY))


def test_the_canary_is_found_where_it_is_not_hidden() -> None:
    """Whoever looks can see: raw Markdown carries the canary in each channel, and plain words are seen."""
    blind = [name for name, hide in CHANNELS.items() if not contains_canary(unescape(hide(CANARY)), CANARY)]
    assert blind == []
    assert visible_words(f"a {CANARY} `b`") == f"a {CANARY} b"
    assert contains_canary(extract_visible_page(f"a *{CANARY}* `b`").text, CANARY)


@pytest.mark.parametrize("channel", ["comment in a line", "tags", "unused footnote", "hidden in raw code"])
def test_comments_of_others_are_read_in_the_same_way(channel: str) -> None:
    hidden = CHANNELS[channel](CANARY)
    thread = [IssueComment(author="mona", body=hidden), IssueComment(author="hubot", body=hidden)]
    parsed, others = read_issue_and_thread(
        Issue(title=f"It\u200b fails {hidden if channel == 'tags' else ''}", body="b", author="mona", thread=thread)
    )
    assert not contains_canary(parsed.text + "".join(said.body for said in others), CANARY)
    assert parsed.hidden_fragments >= 3


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for part in value.values() for text in _texts(part)]
    return [text for part in value for text in _texts(part)] if isinstance(value, list) else []
