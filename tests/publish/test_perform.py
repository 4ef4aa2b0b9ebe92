"""A plan carried out against a GitHub that refuses and a runner that remembers."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from triage.domain.code import Span
from triage.domain.effect import (
    AddLabels,
    Annotate,
    EditComment,
    Effect,
    PostComment,
    SetOutputs,
    WriteReport,
    WriteSummary,
)
from triage.domain.issue import Issue
from triage.errors import CannotPublish, NoSuchIssue, PermissionMissing
from triage.ports import Level
from triage.publish.perform import perform

URL = "https://github.com/acme/ledger/issues/412#issuecomment-77"


class Recording:
    """Both ports at once: what was asked of them, in order; `refusals` are raised by method."""

    def __init__(self, **refusals: Exception) -> None:
        self.refusals = refusals
        self.calls: list[tuple[Any, ...]] = []

    def _call(self, name: str, *values: Any) -> None:
        if name in self.refusals:
            raise self.refusals[name]
        self.calls.append((name, *values))

    def issue(self, number: int) -> Issue:
        raise AssertionError("nothing is read while publishing")

    def labels(self) -> list[str]:
        raise AssertionError("nothing is read while publishing")

    def role(self, login: str) -> str:
        raise AssertionError("nothing is read while publishing")

    def post_comment(self, number: int, body: str) -> tuple[int, str]:
        self._call("post_comment", number, body)
        return 77, URL

    def edit_comment(self, number: int, comment_id: int, body: str) -> tuple[int, str]:
        self._call("edit_comment", number, comment_id, body)
        return comment_id, URL

    def add_labels(self, number: int, labels: Sequence[str]) -> None:
        self._call("add_labels", number, list(labels))

    def summary(self, markdown: str) -> None:
        self._call("summary", markdown)

    def outputs(self, values: Mapping[str, str]) -> None:
        self._call("outputs", dict(values))

    def annotate(self, level: Level, message: str, at: Span | None = None) -> None:
        self._call("annotate", level, message, *([at] if at else []))

    def report(self, json_text: str) -> str:
        self._call("report", json_text)
        return ".triage/report.json"


PLAN: list[Effect] = [
    SetOutputs(values={"status": "complete", "comment-url": "old", "report-file": ""}),
    WriteReport(json_text="{}"),
    WriteSummary(markdown="# Page\n"),
    Annotate(level="warning", message="careful"),
    PostComment(issue_number=412, body="body"),
    AddLabels(issue_number=412, labels=["bug"]),
]


def test_the_issue_comes_first_and_the_outputs_last():
    world = Recording()
    done = perform(PLAN, world, world)
    assert world.calls == [
        ("post_comment", 412, "body"),
        ("add_labels", 412, ["bug"]),
        ("report", "{}"),
        ("summary", "# Page\n"),
        ("annotate", "warning", "careful"),
        ("outputs", {"status": "complete", "comment-url": URL, "report-file": ".triage/report.json"}),
    ]
    assert (done.comment_url, done.report_file, done.failures, done.must_mend) == (
        URL,
        ".triage/report.json",
        [],
        False,
    )


def test_a_comment_is_edited_in_place():
    world = Recording()
    done = perform([EditComment(issue_number=412, comment_id=77, body="new")], world, world)
    assert world.calls == [("edit_comment", 412, 77, "new")]
    assert done.comment_url == URL


def test_a_missing_permission_is_told_once_and_fails_the_job():
    missing = PermissionMissing("The token may not write: add `permissions: issues: write`.")
    world = Recording(post_comment=missing, add_labels=missing)
    done = perform(PLAN, world, world)
    assert done.failures == [str(missing)]
    assert done.must_mend
    names = [call[0] for call in world.calls]
    assert names == ["annotate", "report", "summary", "annotate", "outputs"]
    assert world.calls[0] == ("annotate", "error", str(missing))
    assert world.calls[2][1].startswith("> **Not everything could be written.**\n> - The token may not write")
    assert world.calls[2][1].endswith("# Page\n")
    assert world.calls[-1][1] == {"status": "failed", "comment-url": "old", "report-file": ".triage/report.json"}


@pytest.mark.parametrize(
    ("error", "level", "status"),
    [
        (CannotPublish("GitHub answered 502 and no comment came of it."), "warning", "degraded"),
        (NoSuchIssue("The issue was deleted."), "error", "failed"),
    ],
)
def test_what_github_does_not_take_leaves_the_rest_standing(error, level, status):
    world = Recording(post_comment=error)
    done = perform(PLAN, world, world)
    assert done.failures == [str(error)]
    assert ("add_labels", 412, ["bug"]) in world.calls
    assert [call[1] for call in world.calls if call[0] == "annotate"] == [level, "warning"]
    assert world.calls[-1][1]["status"] == status


def test_without_github_the_page_still_stands():
    world = Recording()
    done = perform(PLAN, None, world)
    assert done.failures == ["there is no GitHub to write to"]
    assert [call[0] for call in world.calls] == ["annotate", "report", "summary", "annotate", "outputs"]


def test_a_page_that_cannot_be_written_leaves_the_outputs():
    world = Recording(summary=CannotPublish("The disk is full."), report=CannotPublish("The disk is full."))
    done = perform(PLAN, world, world)
    assert done.failures == ["The disk is full."]
    assert world.calls[-1][1] == {"status": "degraded", "comment-url": URL, "report-file": ""}


def test_faults_of_our_own_are_not_swallowed():
    world = Recording(post_comment=KeyError("bug"))
    with pytest.raises(KeyError):
        perform(PLAN, world, world)
