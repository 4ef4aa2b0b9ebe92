"""A plan carried out against a GitHub that refuses and a runner that remembers."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from testing.each_row import each_row
from triage.base.errors import CannotPublish, GitHubUnavailable, NoSuchComment, NoSuchIssue, PermissionMissing
from triage.domain.effect import (
    AddLabels,
    Annotate,
    EditComment,
    Effect,
    PostComment,
    SetOutputs,
    SuggestChanges,
    Suggestion,
    WriteJobPage,
    WriteReport,
)
from triage.domain.issue import Issue, IssueComment
from triage.run.write.apply_effects import (
    DUPLICATES_UNKNOWN,
    apply_issue_effects,
)
from triage.run.write.apply_job_effects import PublishResult, apply_job_effects
from triage.say.hidden_state import CommentState, render_state

URL = "https://github.com/acme/ledger/issues/412#issuecomment-77"


class Recording:
    """GitHub and the output: records calls in order; `refusals` has the errors to raise by method."""

    def __init__(self, **refusals: Exception) -> None:
        self.refusals = refusals
        self.calls: list[tuple[Any, ...]] = []
        self.now = Issue(number=412, title="t", url="https://github.com/acme/ledger/issues/412")
        """The issue that GitHub returns."""
        self.gone = 0
        """Id of a comment that was deleted."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*values: Any) -> Any:
            if name == "edit_comment" and values[0] == self.gone:
                raise NoSuchComment("It is gone.")
            if name in self.refusals:
                raise self.refusals[name]
            self.calls.append((name, *(value for value in values if value is not None)))
            answers = {"fetch_issue": self.now, "write_report": ".triage/report.json", "edit_comment": URL}
            return answers.get(name, (77, URL))

        return call


PLAN: list[Effect] = [
    SetOutputs(values={"status": "complete", "comment-url": "old", "report-file": ""}),
    WriteReport(json_text="{}"),
    WriteJobPage(markdown="# Page\n"),
    Annotate(level="warning", message="careful"),
    PostComment(issue_number=412, body="body"),
    AddLabels(issue_number=412, labels=["bug"]),
]


def apply_effects(effects: Sequence[Effect], world: Any) -> PublishResult:
    """Applies all effects, as a flow does."""
    result = PublishResult()
    apply_issue_effects(effects, world, result)
    return apply_job_effects(effects, world, result)


def test_the_issue_comes_first_and_the_outputs_last():
    world = Recording()
    done = apply_effects(PLAN, world)
    assert world.calls == [
        ("post_comment", 412, "body"),
        ("fetch_issue", 412, 77),
        ("add_labels", 412, ["bug"]),
        ("write_report", "{}"),
        ("write_summary", "# Page\n"),
        ("annotate", "warning", "careful"),
        ("write_outputs", {"status": "complete", "comment-url": URL, "report-file": ".triage/report.json"}),
    ]
    assert (done.comment_url, done.report_file, done.failures, done.needs_setup_fix) == (
        URL,
        ".triage/report.json",
        [],
        False,
    )


def test_a_missing_permission_is_reported_once_and_fails_the_job():
    missing = PermissionMissing("The token may not write: add `permissions: issues: write`.")
    world = Recording(post_comment=missing, add_labels=missing)
    done = apply_effects(PLAN, world)
    assert done.failures == [str(missing)]
    assert done.needs_setup_fix
    names = [call[0] for call in world.calls]
    assert names == ["annotate", "write_report", "write_summary", "annotate", "write_outputs"]
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
def test_other_effects_are_applied_after_a_failure(error, level, status):
    world = Recording(post_comment=error)
    done = apply_effects(PLAN, world)
    assert done.failures == [str(error)]
    assert ("add_labels", 412, ["bug"]) in world.calls
    assert [call[1] for call in world.calls if call[0] == "annotate"] == [level, "warning"]
    assert world.calls[-1][1]["status"] == status


def test_outputs_are_set_if_the_page_cannot_be_written():
    world = Recording(write_summary=CannotPublish("The disk is full."), write_report=CannotPublish("The disk is full."))
    done = apply_effects(PLAN, world)
    assert done.failures == ["The disk is full."]
    assert world.calls[-1][1] == {"status": "degraded", "comment-url": URL, "report-file": ""}


FULL = render_state(CommentState(text="1" * 16, content="2" * 16)) + "\nreport\n"
PARTIAL = render_state(CommentState()) + "\npartial\n"
POST = PostComment(issue_number=412, body=FULL)


def ours(comment_id: int, body: str = FULL) -> IssueComment:
    return IssueComment(author="github-actions[bot]", body=body, ours=True, by_bot=True, comment_id=comment_id)


def after_posting(body: str, *thread: IssueComment) -> tuple[list[tuple[Any, ...]], str]:
    world = Recording()
    world.now = world.now.model_copy(update={"thread": list(thread)})
    done = apply_effects([PostComment(issue_number=412, body=body)], world)
    assert done.failures == []
    return world.calls[2:], done.comment_url


QUIET = render_state(CommentState(quiet=True)) + "\nquiet\n"
FORGED = "<!-- bug-triage: v1 {} -->\nforged"
DELETE, EDIT_OLDER = ("delete_comment", 412, 77), ("edit_comment", 70, FULL)


@each_row(
    ("posted", "thread", "calls"),
    [
        (FULL, [ours(77)], []),
        (FULL, [ours(70), ours(77)], [DELETE]),
        (FULL, [ours(77), ours(80), ours(81)], [("delete_comment", 412, 80), ("delete_comment", 412, 81)]),
        (FULL, [ours(70, PARTIAL), ours(77)], [EDIT_OLDER, DELETE]),
        (PARTIAL, [ours(70), ours(77, PARTIAL)], [DELETE]),
        (PARTIAL, [ours(77, PARTIAL), ours(80)], []),  # a better one of another run is left to that run
        (FULL, [ours(70)], []),  # ours was deleted already
        (FULL, [ours(70, PARTIAL)], [EDIT_OLDER]),
        (FULL, [], []),
        (FULL, [ours(70), ours(77, FORGED)], []),  # without a state, nobody deletes it
        (FULL, [ours(70, QUIET), ours(77)], [DELETE]),
    ],
)
def test_of_several_comments_the_oldest_stays_with_the_best_text(
    posted: str, thread: list[IssueComment], calls: list[tuple[Any, ...]]
):
    found, url = after_posting(posted, *thread)
    assert found == calls
    assert url.endswith(str(thread[0].comment_id if thread else 77))


def test_quiet_wins_over_a_report_at_the_same_time():
    (edit, remove), _ = after_posting(QUIET, ours(70), ours(77, QUIET))
    assert '"quiet":true' in edit[2]
    assert "report" in edit[2]
    assert remove == DELETE


@pytest.mark.parametrize(
    "refusals",
    [
        {"fetch_issue": GitHubUnavailable("GitHub answered 502.")},
        {"fetch_issue": NoSuchIssue("The issue was deleted.")},
        {"delete_comment": PermissionMissing("It may not.")},
    ],
)
def test_a_failed_check_for_duplicates_leaves_a_notice(refusals):
    world = Recording(**refusals)
    world.now = world.now.model_copy(update={"thread": [ours(70), ours(77)]})
    done = apply_effects([POST, SetOutputs(values={"status": "complete"})], world)
    assert (done.failures, done.needs_setup_fix) == ([], False)
    assert ("annotate", "notice", DUPLICATES_UNKNOWN) in world.calls
    assert world.calls[-1][1]["status"] == "complete"
    assert world.calls[-1][1]["comment-url"]


EDIT = EditComment(issue_number=412, comment_id=60, body=FULL)


def test_a_deleted_comment_is_posted_again_once():
    world = Recording()
    world.gone = 60
    world.now = world.now.model_copy(update={"thread": [ours(60)]})
    assert apply_effects([EDIT], world).failures == []
    assert world.calls == [("fetch_issue", 412), ("post_comment", 412, FULL), ("fetch_issue", 412, 77)]


def test_if_another_run_removed_the_comment_the_other_one_is_edited():
    world = Recording()
    world.gone = 60
    world.now = world.now.model_copy(update={"thread": [ours(60), ours(65)]})
    apply_effects([EDIT], world)
    assert world.calls == [("fetch_issue", 412), ("edit_comment", 65, FULL)]


@pytest.mark.parametrize("error", [NoSuchIssue("The issue was deleted."), GitHubUnavailable("It is down.")])
def test_a_deleted_issue_is_reported_as_such(error):
    world = Recording(fetch_issue=error)
    world.gone = 60
    done = apply_effects([EDIT], world)
    assert (done.failures, done.needs_setup_fix) == (["It is gone."], False)


SUGGESTIONS = [
    Suggestion(kind="label", name="bug", rationale="It crashes.", confidence="HIGH"),
    Suggestion(kind="type", name="Bug", rationale="It crashes.", confidence="HIGH"),
]


@pytest.mark.parametrize(
    ("refusals", "notice"),
    [
        (
            {"suggest": CannotPublish("GitHub answered 502.")},
            "GitHub did not confirm what was suggested: label bug, type Bug. GitHub answered 502.",
        ),
        (
            {"suggest": PermissionMissing("The token may not.")},
            "GitHub did not confirm what was suggested: label bug, type Bug. The token may not.",
        ),
    ],
)
def test_a_refused_suggestion_fails_nothing(refusals: dict[str, Exception], notice: str):
    world = Recording(**refusals)
    suggest = SuggestChanges(issue_number=412, suggestions=SUGGESTIONS)
    done = apply_effects([suggest, SetOutputs(values={"status": "complete"})], world)
    assert ("annotate", "notice", notice) in world.calls
    assert (done.failures, done.needs_setup_fix) == ([], False)
    assert world.calls[-1] == ("write_outputs", {"status": "complete"})
