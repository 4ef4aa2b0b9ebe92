"""An issue from a file."""

import json

import pytest

from testing.each_row import each_row
from triage.app.command_line import parse_issue_text
from triage.base.errors import BadInput
from triage.domain.issue import Issue


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("# It breaks\n\nBadly.\n", "It breaks", "Badly."),
        ("It breaks", "It breaks", ""),
        ("\ufeff\r\n\r\nIt breaks\r\nBadly.\r\n", "It breaks", "Badly."),
        ("## C# breaks\nx", "C# breaks", "x"),
        ('{"title": "It breaks", "body": null}', "It breaks", ""),
        ('{"issue": {"title": "It breaks", "body": "Badly."}}', "It breaks", "Badly."),
    ],
)
def test_first_line_is_the_title(text: str, title: str, body: str):
    found = parse_issue_text(text)
    assert (found.title, found.body) == (title, body)


def test_githubs_json_keeps_number_author_and_labels():
    payload = {
        "title": "t",
        "body": "b",
        "number": 12,
        "html_url": "https://github.test/o/r/issues/12",
        "user": {"login": "reporter"},
        "labels": [{"name": "bug"}, "odd", None],
    }
    assert parse_issue_text(json.dumps(payload)) == Issue(
        title="t", body="b", number=12, url="https://github.test/o/r/issues/12", author="reporter", labels=["bug"]
    )


@each_row("text", ["", " \n\n", "# " + "x" * 1_000_000, "{", "{}", '{"title": 5}', '{"title": ""}', "{" * 100_000])
def test_what_is_no_issue_is_refused_in_one_line(text: str):
    with pytest.raises(BadInput) as raised:
        parse_issue_text(text)
    assert "\n" not in str(raised.value)
