"""Carries a plan out, in order. What cannot be written is told, and the rest is written all the same."""

from collections.abc import Sequence
from dataclasses import dataclass, field

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
from triage.domain.run import Status
from triage.errors import CannotPublish, SetupError
from triage.ports import GitHub, Runner
from triage.publish.summary import unpublished_summary


@dataclass
class Performed:
    """What came of it."""

    comment_url: str = ""
    report_file: str = ""
    failures: list[str] = field(default_factory=list)
    """One line for each effect that was not taken, in our words."""
    must_mend: bool = False
    """A failure is the workflow's author's to mend: exit code 1, status failed."""


def perform(effects: Sequence[Effect], github: GitHub | None, runner: Runner) -> Performed:
    """Write everything. Raises nothing of CannotPublish and SetupError: they are in the result.

    What changes the issue comes first, so that the job's page can say what failed; outputs come last, filled with
    the comment's address and the report's path.
    """
    done = Performed()
    for effect in sorted(effects, key=_turn):
        try:
            _write(effect, github, runner, done)
        except (CannotPublish, SetupError) as error:
            _failed(error, runner, done)
    return done


def _turn(effect: Effect) -> int:
    """Sorting is stable: within a turn the plan's order stays."""
    if isinstance(effect, PostComment | EditComment | AddLabels):
        return 0
    return 2 if isinstance(effect, SetOutputs) else 1


def _write(effect: Effect, github: GitHub | None, runner: Runner, done: Performed) -> None:
    match effect:
        case PostComment() | EditComment() | AddLabels():
            _write_to_issue(effect, github, done)
        case WriteReport():
            done.report_file = runner.report(effect.json_text)
        case WriteSummary():
            runner.summary((unpublished_summary(done.failures) + "\n" if done.failures else "") + effect.markdown)
        case Annotate():
            runner.annotate(effect.level, effect.message)
        case SetOutputs():
            runner.outputs(_filled(effect.values, done))


def _write_to_issue(effect: PostComment | EditComment | AddLabels, github: GitHub | None, done: Performed) -> None:
    if github is None:
        raise CannotPublish("there is no GitHub to write to")
    match effect:
        case PostComment():
            done.comment_url = github.post_comment(effect.issue_number, effect.body)[1]
        case EditComment():
            done.comment_url = github.edit_comment(effect.issue_number, effect.comment_id, effect.body)[1]
        case AddLabels():
            github.add_labels(effect.issue_number, effect.labels)


def _failed(error: CannotPublish | SetupError, runner: Runner, done: Performed) -> None:
    message = str(error)
    if message in done.failures:
        return
    done.failures.append(message)
    if isinstance(error, SetupError):
        done.must_mend = True
        runner.annotate("error", message)
    else:
        runner.annotate("warning", f"Not everything could be written: {message}")


def _filled(values: dict[str, str], done: Performed) -> dict[str, str]:
    filled = dict(values)
    if done.comment_url:
        filled["comment-url"] = done.comment_url
    if done.report_file:
        filled["report-file"] = done.report_file
    if done.must_mend:
        filled["status"] = Status.FAILED.value
    return filled
