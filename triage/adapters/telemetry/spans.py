"""A finished run as a tree of spans, pure.

It holds our own words, counts, and names of agents, tools and models. A reason, a gate's sentence, a summary or an
issue's title may quote what somebody wrote: none of them is taken over.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

from triage.adapters.telemetry import attribute_names
from triage.domain.report import RunReport
from triage.domain.run import ModelCall, Outcome, PlannerDecision, StepRecord, ToolExecution, Usage

Attribute = str | int | float | bool | list[str]
Attributes = dict[str, Attribute]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ERROR_NAME = re.compile(r"[A-Za-z][A-Za-z0-9 ,()-]{0,79}")
"""Form of our names for failures. Quotation marks, dots and slashes are for what others wrote."""


@dataclass(frozen=True)
class Event:
    """Something that happened at one moment of a span."""

    name: str
    at: int
    """Nanoseconds since 1970."""
    attributes: Attributes


@dataclass(frozen=True)
class Span:
    """A stretch of the run; what happened inside lies within its times."""

    name: str
    start: int
    """Nanoseconds since 1970."""
    end: int
    attributes: Attributes
    kind: Literal["internal", "client"] = "internal"
    events: list[Event] = field(default_factory=list)
    children: list["Span"] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether it ended in an error."""
        return attribute_names.ERROR in self.attributes


def build_run_span(report: RunReport) -> Span:
    """The whole run, from its start to the report; publishing is not in it."""
    steps = own_steps(report)
    start = _epoch_nanoseconds(report.started_at)
    end = max(
        [
            start + _to_nanoseconds(report.seconds),
            *(_epoch_nanoseconds(step.started_at) + _to_nanoseconds(step.seconds) for step in steps),
        ]
    )
    return Span(
        name=f"invoke_workflow {attribute_names.WORKFLOW_NAME}",
        start=start,
        end=end,
        attributes=_run_attributes(report),
        events=[_decision_event(decision) for decision in own_decisions(report)],
        children=[_step_span(step, report.request_id, start, end) for step in steps],
    )


def own_steps(report: RunReport) -> list[StepRecord]:
    """What this run did itself: one that went on with an interrupted run has that one's steps too."""
    return [step for step in report.steps if not report.resumed or step.started_at >= report.started_at]


def own_decisions(report: RunReport) -> list[PlannerDecision]:
    """What this run decided itself."""
    return [made for made in report.decisions if not report.resumed or made.timestamp >= report.started_at]


def error_type(record: StepRecord | ToolExecution | ModelCall) -> str | None:
    """Class of error that it ended in, one of few; none when it succeeded.

    `timeout`, `skipped`, `gate`, our own name such as `rate limited (429)`, or `_OTHER` as the conventions have it.
    """
    if record.outcome is Outcome.SUCCESS:
        return None
    if record.outcome is not Outcome.FAILED:
        return "timeout" if record.outcome is Outcome.TIMED_OUT else "skipped"
    if isinstance(record, StepRecord) and gate_outcome(record) == "refused":
        return "gate"
    return record.error if record.error and _ERROR_NAME.fullmatch(record.error) else "_OTHER"


def operation_name(call: ModelCall) -> str:
    """What the model was asked for, in the conventions' words."""
    return "embeddings" if call.mode == "embeddings" else "chat"


def gate_outcome(step: StepRecord) -> str | None:
    """What the gate said, without its reason."""
    return step.gate and ("passed" if step.gate == "passed" else "refused")


def to_attributes(**attributes: Attribute | None) -> Attributes:
    """Those that have a value, under their names in `names`."""
    return {getattr(attribute_names, name): value for name, value in attributes.items() if value is not None}


def _run_attributes(report: RunReport) -> Attributes:
    return to_attributes(
        OPERATION="invoke_workflow",
        WORKFLOW=attribute_names.WORKFLOW_NAME,
        REQUEST_ID=report.request_id,
        ISSUE=report.issue.number,
        REVISION=report.commit,
        RUN_URL=report.run_url or None,
        STATUS=report.status.value,
        ENGINE=report.engine,
        KIND=report.kind,
        VERDICT=report.verdict,
        SEVERITY=report.severity,
        CONFIDENCE=report.confidence,
        SUSPECTS=len(report.suspects),
        ITERATIONS=len(report.decisions),
        ROUNDS=len(report.rounds),
        CUT=bool(report.cut),
        RESUMED_STEPS=(len(report.steps) - len(own_steps(report))) or None,
        **_usage_attributes(report.usage),
    )


def _step_span(step: StepRecord, request_id: str, start: int, end: int) -> Span:
    doing = {"prepare": None, "supervisor": "plan"}.get(step.step, "invoke_agent")
    begins, ends = _clamp_times(step.started_at, timedelta(seconds=step.seconds), start, end)
    return Span(
        name=f"{doing} {step.step}" if doing else step.step,
        start=begins,
        end=ends,
        attributes=to_attributes(
            OPERATION=doing,
            AGENT=step.step if doing else None,
            ENGINE=step.engine,
            OUTCOME=step.outcome.value,
            GATE=gate_outcome(step),
            SHORTFALLS=len(step.shortfalls) or None,
            ROUND=step.round,
            ITERATION=step.iteration,
            ERROR=error_type(step),
            **_usage_attributes(step.usage),
        ),
        children=sorted(
            [_call_span(call, request_id, begins, ends) for call in step.calls]
            + [_tool_span(tool, begins, ends) for tool in step.tools],
            key=lambda span: span.start,
        ),
    )


def _call_span(call: ModelCall, request_id: str, start: int, end: int) -> Span:
    begins, ends = _clamp_times(call.started_at, timedelta(milliseconds=call.ms), start, end)
    return Span(
        name=f"{operation_name(call)} {call.model}",
        start=begins,
        end=ends,
        kind="client",
        attributes=to_attributes(
            OPERATION=operation_name(call),
            PROVIDER=attribute_names.PROVIDER_NAME,
            REQUEST_MODEL=call.model,
            MODE=call.mode,
            REQUEST_ID=request_id,
            OUTCOME=call.outcome.value,
            ESTIMATED=call.estimated or None,
            REPLAYED=call.replayed or None,
            ERROR=error_type(call),
            **_usage_attributes(call.usage),
        ),
    )


def _tool_span(tool: ToolExecution, start: int, end: int) -> Span:
    begins, ends = _clamp_times(tool.started_at, timedelta(milliseconds=tool.ms), start, end)
    return Span(
        name=f"execute_tool {tool.tool}",
        start=begins,
        end=ends,
        attributes=to_attributes(
            OPERATION="execute_tool", TOOL=tool.tool, OUTCOME=tool.outcome.value, ERROR=error_type(tool)
        ),
    )


def _decision_event(decision: PlannerDecision) -> Event:
    return Event(
        name=attribute_names.DECISION,
        at=_epoch_nanoseconds(decision.timestamp),
        attributes=to_attributes(
            ITERATION=decision.step,
            SELECTED=decision.selected,
            ORIGIN=decision.origin,
            RUNG=decision.rung,
            FORCED=decision.forced,
            REFUSED=bool(decision.refused),
            CONFIDENCE=decision.confidence,
        ),
    )


def _usage_attributes(usage: Usage) -> Attributes:
    """Tokens and dollars, under the keywords of `told`; nothing for what asked no model."""
    if not usage.calls:
        return {}
    spent: Attributes = {"INPUT_TOKENS": usage.input_tokens, "OUTPUT_TOKENS": usage.output_tokens}
    return spent if usage.usd is None else {**spent, "COST": usage.usd}


def _clamp_times(began: datetime, took: timedelta, start: int, end: int) -> tuple[int, int]:
    """Start and end, cut to those of the parent: records are rounded, and a wall clock may be set back."""
    begins = min(max(_epoch_nanoseconds(began), start), end)
    return begins, min(max(_epoch_nanoseconds(began + took), begins), end)


def _to_nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


def _epoch_nanoseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1) * 1000
