"""Applies the effects that stay on this machine, and says what failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triage.base.errors import CannotPublish, SetupError, TriageError
from triage.domain.effect import Annotate, Effect, SetOutputs, WriteJobPage, WriteReport
from triage.domain.run import Status
from triage.say.notices import render_notice

if TYPE_CHECKING:
    from triage.domain.effect import AnnotationLevel
    from triage.run.job_context import Output


@dataclass
class PublishResult:
    comment_url: str = ""
    report_file: str = ""
    failures: list[str] = field(default_factory=list)
    needs_setup_fix: bool = False
    """Somebody has to fix the workflow: exit code 1, status failed."""
    annotations: list[tuple[AnnotationLevel, str]] = field(default_factory=list)

    def downgrade_status(self, status: Status) -> Status:
        """Return the status of a run that wrote this."""
        if self.needs_setup_fix:
            return Status.FAILED
        return Status.DEGRADED if self.failures and status is Status.COMPLETE else status

    def add_failure(self, error: TriageError) -> None:
        """Remember a failure and its annotation, each once."""
        message = str(error)
        if message in self.failures:
            return
        self.failures.append(message)
        if isinstance(error, SetupError):
            self.needs_setup_fix = True
            self.annotations.append(("error", message))
        else:
            self.annotations.append(("warning", f"Not everything could be written: {message}"))


def apply_job_effects(effects: Sequence[Effect], output: Output, result: PublishResult | None = None) -> PublishResult:
    """Applies the effects that stay on this machine. Outputs come last: they need the report's path.

    `result` is that of the effects on the issue, so that the page of the job can say what failed.
    """
    result = result or PublishResult()
    for level, message in result.annotations:
        output.annotate(level, message)
    for effect in sorted(effects, key=lambda effect: isinstance(effect, SetOutputs)):
        try:
            match effect:
                case WriteReport():
                    result.report_file = output.write_report(effect.json_text)
                case WriteJobPage():
                    notice = render_notice("unpublished", result.failures) + "\n" if result.failures else ""
                    output.write_summary(notice + effect.markdown)
                case Annotate():
                    output.annotate(effect.level, effect.message, effect.at)
                case SetOutputs():
                    output.write_outputs(_fill_outputs(effect.values, result))
        except (CannotPublish, SetupError) as error:
            result.add_failure(error)
            output.annotate(*result.annotations[-1])
    return result


def _fill_outputs(values: dict[str, str], result: PublishResult) -> dict[str, str]:
    """Return the outputs with what is known only after writing."""
    filled = dict(values)
    if result.comment_url:
        filled["comment-url"] = result.comment_url
    if result.report_file:
        filled["report-file"] = result.report_file
    if "status" in filled:
        filled["status"] = result.downgrade_status(Status(filled["status"])).value
    return filled
