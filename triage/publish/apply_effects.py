"""Carries a plan out, in order. What cannot be written is told, and the rest is written all the same."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from triage.domain.effect import (
    AddLabels,
    Annotate,
    EditComment,
    Effect,
    PostComment,
    RemoveComment,
    SetOutputs,
    WriteReport,
    WriteSummary,
)
from triage.domain.run import Status
from triage.errors import CannotPublish, NoSuchComment, SetupError, TriageError
from triage.ports import AnnotationLevel, GitHub, Runner
from triage.publish.deduplicate import deduplicate, find_our_comments
from triage.publish.summary import render_unpublished_notice

IssueEffect = PostComment | EditComment | RemoveComment | AddLabels
"""The effects that go over the network."""
DUPLICATES_UNKNOWN = (
    "The comment was written, but GitHub did not say whether another run wrote one at the same time: if there are two, "
    "the next run removes the second."
)


@dataclass
class PublishResult:
    """What came of it."""

    comment_url: str = ""
    report_file: str = ""
    failures: list[str] = field(default_factory=list)
    """One line for each effect that was not taken, in our words."""
    needs_setup_fix: bool = False
    """A failure is the workflow's author's to mend: exit code 1, status failed."""
    annotations: list[tuple[AnnotationLevel, str]] = field(default_factory=list)

    def add_failure(self, error: TriageError) -> None:
        """Note what could not be written, each reason once."""
        message = str(error)
        if message in self.failures:
            return
        self.failures.append(message)
        if isinstance(error, SetupError):
            self.needs_setup_fix = True
            self.annotations.append(("error", message))
        else:
            self.annotations.append(("warning", f"Not everything could be written: {message}"))


def apply_effects(effects: Sequence[Effect], github: GitHub | None, runner: Runner) -> PublishResult:
    """Write everything. Raises nothing of CannotPublish and SetupError: they are in the result.

    What changes the issue comes first, so that the job's page can say what failed.
    """
    done = PublishResult()
    apply_issue_effects(effects, github, done)
    return apply_local_effects(effects, runner, done)


def apply_issue_effects(effects: Sequence[Effect], github: GitHub | None, done: PublishResult) -> None:
    """The effects that go over the network; `done` tells at any moment what came of them."""
    for effect in effects:
        if isinstance(effect, IssueEffect):
            try:
                _apply_to_issue(effect, github, done)
            except (CannotPublish, SetupError) as error:
                done.add_failure(error)


def apply_local_effects(effects: Sequence[Effect], runner: Runner, done: PublishResult) -> PublishResult:
    """The effects that stay on this machine; outputs last, filled with the comment's address and the report's path."""
    for level, message in done.annotations:
        runner.annotate(level, message)
    for effect in sorted(effects, key=lambda one: isinstance(one, SetOutputs)):
        try:
            _apply_local(effect, runner, done)
        except (CannotPublish, SetupError) as error:
            done.add_failure(error)
            runner.annotate(*done.annotations[-1])
    return done


def _apply_local(effect: Effect, runner: Runner, done: PublishResult) -> None:
    match effect:
        case WriteReport():
            done.report_file = runner.write_report(effect.json_text)
        case WriteSummary():
            runner.write_summary(
                (render_unpublished_notice(done.failures) + "\n" if done.failures else "") + effect.markdown
            )
        case Annotate():
            runner.annotate(effect.level, effect.message, effect.at)
        case SetOutputs():
            runner.write_outputs(_fill_outputs(effect.values, done))


def _apply_to_issue(effect: IssueEffect, github: GitHub | None, done: PublishResult) -> None:
    if github is None:
        raise CannotPublish("there is no GitHub to write to")
    match effect:
        case PostComment():
            _post_comment(effect, github, done)
        case EditComment():
            _edit_comment(effect, github, done)
        case RemoveComment():
            github.delete_comment(effect.issue_number, effect.comment_id)
        case AddLabels():
            github.add_labels(effect.issue_number, effect.labels)


def _post_comment(effect: PostComment, github: GitHub, done: PublishResult) -> None:
    """Write the comment, and look whether another run has written one at the same time: one stays."""
    mine, done.comment_url = github.post_comment(effect.issue_number, effect.body)
    try:
        now = github.refetch_issue(effect.issue_number, mine)
        settlement = deduplicate(now, mine, effect.body)
        kept = settlement.oldest
        if kept is None or kept.comment_id is None:
            return
        if settlement.body is not None:
            github.edit_comment(effect.issue_number, kept.comment_id, settlement.body)
        for one in settlement.remove:
            github.delete_comment(effect.issue_number, one)
        if kept.comment_id != mine and now.url:
            done.comment_url = f"{now.url}#issuecomment-{kept.comment_id}"
    except (CannotPublish, SetupError):
        done.annotations.append(("notice", DUPLICATES_UNKNOWN))


def _edit_comment(effect: EditComment, github: GitHub, done: PublishResult) -> None:
    """Edit our comment. One that is gone was a second one, which another run has removed; or somebody deleted it."""
    number = effect.issue_number
    try:
        done.comment_url = github.edit_comment(number, effect.comment_id, effect.body)[1]
    except NoSuchComment as gone:
        try:
            others = [
                one for one in find_our_comments(github.refetch_issue(number)) if one.comment_id != effect.comment_id
            ]
        except (CannotPublish, SetupError):
            raise gone from None
        if others and others[0].comment_id is not None:
            done.comment_url = github.edit_comment(number, others[0].comment_id, effect.body)[1]
        else:
            _post_comment(PostComment(issue_number=number, body=effect.body), github, done)


def _fill_outputs(values: dict[str, str], done: PublishResult) -> dict[str, str]:
    filled = dict(values)
    if done.comment_url:
        filled["comment-url"] = done.comment_url
    if done.report_file:
        filled["report-file"] = done.report_file
    if done.needs_setup_fix:
        filled["status"] = Status.FAILED.value
    elif done.failures and filled.get("status") == Status.COMPLETE.value:
        filled["status"] = Status.DEGRADED.value
    return filled
