"""Short pages and outputs of runs that have no report to write: skipped, failed, not finished, or about a command."""

from collections.abc import Mapping, Sequence
from typing import Literal

from triage.domain.code import Span
from triage.domain.effect import Annotate, Effect, SetOutputs, WriteJobPage
from triage.domain.run import Status
from triage.say.template import MAX_SUMMARY_UNITS, ensure_safe, render_block

Notice = Literal["skip", "job", "unfinished", "failure", "unpublished"]


def render_notice(kind: Notice, *values: object, links: Sequence[str] = ()) -> str:
    """Return a short page without a report, or a part of one: `values` are the parameters of the macro `kind`."""
    return ensure_safe(render_block("summary", kind, *values), links, MAX_SUMMARY_UNITS) + "\n"


def plan_skip(reason: str) -> list[Effect]:
    return [WriteJobPage(markdown=render_notice("skip", reason)), SetOutputs(values={"status": Status.SKIPPED.value})]


def plan_job_result(
    feature: Literal["fix", "reproduce"],
    message: str,
    outputs: Mapping[str, str],
    status: Status,
    links: Sequence[str] = (),
) -> list[Effect]:
    """Return what a job of a feature writes beside the issue; `message` is Markdown with these links."""
    return [
        WriteJobPage(markdown=render_notice("job", message, feature, links=links)),
        SetOutputs(values={"status": status.value, **outputs}),
    ]


def plan_page(markdown: str) -> list[Effect]:
    """Return the effects of a job that only writes a page; `markdown` is inert."""
    return [WriteJobPage(markdown=markdown), SetOutputs(values={"status": Status.COMPLETE.value})]


def plan_unfinished(message: str) -> list[Effect]:
    """Return the effects of a run that could not finish now: starting it again helps."""
    return [
        WriteJobPage(markdown=render_notice("unfinished", message)),
        Annotate(level="warning", message=message),
        SetOutputs(values={"status": Status.DEGRADED.value}),
    ]


def plan_failure(message: str, at: Span | None = None) -> list[Effect]:
    """Return the effects of a run that fails until somebody fixes the setup, perhaps in the lines `at`."""
    return [
        WriteJobPage(markdown=render_notice("failure", message)),
        Annotate(level="error", message=message, at=at),
        SetOutputs(values={"status": Status.FAILED.value}),
    ]
