"""Records a finished run as OpenTelemetry spans, by OpenTelemetry's conventions for generative AI (`gen_ai.`).

Attributes hold our own words, counts, and the names of agents, tools and models. Reasons, gate messages, summaries and
titles may quote what somebody wrote, so no span has them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import SpanKind, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from triage.domain.report import RunReport
from triage.domain.run import ModelCall, Outcome, PlannerDecision, StepRecord, ToolExecution, Usage

Attribute = str | int | float | bool | list[str]
Attributes = Mapping[str, Attribute | None]

_WORKFLOW_NAME = "bug_triage"
_PROVIDER_NAME = "openai"
"""The protocol, whoever runs the endpoint."""
_SCOPE = "bug-triage"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ERROR_NAME = re.compile(r"[A-Za-z][A-Za-z0-9 ,()-]{0,79}")
"""Our names for errors. Text that somebody else wrote has quotation marks, dots or slashes."""


def record_spans(report: RunReport, resource: Resource, traceparent: str) -> Sequence[ReadableSpan]:
    """Returns the finished spans of a run: the run itself, its steps, their model calls and tool calls.

    The request id becomes the trace id. `traceparent` is the W3C header of a parent span, or empty; nothing is returned
    when that span is not sampled.
    """
    exporter = InMemorySpanExporter()
    provider = TracerProvider(
        resource=resource, id_generator=_RunIdGenerator(report.request_id), shutdown_on_exit=False
    )
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    parent = TraceContextTextMapPropagator().extract({"traceparent": traceparent})
    _SpanWriter(provider.get_tracer(_SCOPE, report.triage_version), report.request_id).write_run(report, parent)
    return exporter.get_finished_spans()


def _error_type(record: StepRecord | ToolExecution | ModelCall) -> str | None:
    """Returns the `error.type` of a failed record, or None for success.

    `timeout`, `skipped`, `gate`, a name of ours such as `rate limited (429)`, or `_OTHER`.
    """
    if record.outcome is Outcome.SUCCESS:
        return None
    if record.outcome is not Outcome.FAILED:
        return "timeout" if record.outcome is Outcome.TIMED_OUT else "skipped"
    if isinstance(record, StepRecord) and _describe_check(record) == "refused":
        return "gate"
    return record.error if record.error and _ERROR_NAME.fullmatch(record.error) else "_OTHER"


def _operation_name(call: ModelCall) -> str:
    return "embeddings" if call.mode == "embeddings" else "chat"


def _drop_missing(attributes: Attributes) -> dict[str, Attribute]:
    return {name: value for name, value in attributes.items() if value is not None}


class _RunIdGenerator(RandomIdGenerator):
    def __init__(self, request_id: str) -> None:
        self._trace_id = UUID(request_id).int

    def generate_trace_id(self) -> int:
        return self._trace_id


@dataclass(frozen=True)
class _SpanWriter:
    tracer: Tracer
    request_id: str

    def write_run(self, report: RunReport, parent: Context) -> None:
        name = f"invoke_workflow {_WORKFLOW_NAME}"
        took = timedelta(seconds=report.seconds)
        context = self._write(name, parent, report.started_at, took, _run_attributes(report), report.decisions)
        for step in report.steps:
            self._write_step(step, context)

    def _write_step(self, step: StepRecord, parent: Context) -> None:
        operation = None if step.is_lookup else "plan" if step.step == "supervisor" else "invoke_agent"
        name = f"{operation} {step.step}" if operation else step.step
        took = timedelta(seconds=step.seconds)
        context = self._write(name, parent, step.started_at, took, _step_attributes(step, operation))
        for call in step.calls:
            name = f"{_operation_name(call)} {call.model}"
            attributes = _call_attributes(call, self.request_id)
            self._write(name, context, call.started_at, timedelta(milliseconds=call.ms), attributes)
        for tool in step.tools:
            name = f"execute_tool {tool.tool}"
            self._write(name, context, tool.started_at, timedelta(milliseconds=tool.ms), _tool_attributes(tool))

    def _write(
        self,
        name: str,
        parent: Context,
        began: datetime,
        took: timedelta,
        attributes: Attributes,
        decisions: Sequence[PlannerDecision] = (),
    ) -> Context:
        kind = SpanKind.CLIENT if "gen_ai.request.model" in attributes else SpanKind.INTERNAL
        span = self.tracer.start_span(
            name, parent, kind, _drop_missing(attributes), start_time=_epoch_nanoseconds(began)
        )
        for decision in decisions:
            span.add_event(
                "triage.decision", _drop_missing(_decision_attributes(decision)), _epoch_nanoseconds(decision.timestamp)
            )
        if attributes.get("error.type"):
            span.set_status(StatusCode.ERROR)
        span.end(_epoch_nanoseconds(began + took))
        return set_span_in_context(span, parent)


def _run_attributes(report: RunReport) -> Attributes:
    return {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": _WORKFLOW_NAME,
        "triage.request_id": report.request_id,
        "triage.issue.number": report.issue.number,
        "vcs.ref.head.revision": report.commit,
        "cicd.pipeline.run.url.full": report.run_url or None,
        "triage.status": report.status.value,
        "triage.engine": report.engine,
        "triage.kind": report.kind,
        "triage.verdict": report.verdict,
        "triage.severity": report.severity,
        "triage.confidence": report.confidence,
        "triage.suspects": len(report.suspects),
        "triage.iterations": len(report.decisions),
        "triage.rounds": len(report.rounds),
        "triage.cut": bool(report.ended_early),
        **_usage_attributes(report.usage),
    }


def _step_attributes(step: StepRecord, operation: str | None) -> Attributes:
    return {
        "gen_ai.operation.name": operation,
        "gen_ai.agent.name": step.step if operation else None,
        "triage.engine": step.engine,
        "triage.outcome": step.outcome.value,
        "triage.gate": _describe_check(step),
        "triage.shortfalls": len(step.shortfalls) or None,
        "triage.round": step.round,
        "triage.iteration": step.iteration,
        "error.type": _error_type(step),
        **_usage_attributes(step.usage),
    }


def _call_attributes(call: ModelCall, request_id: str) -> Attributes:
    return {
        "gen_ai.operation.name": _operation_name(call),
        "gen_ai.provider.name": _PROVIDER_NAME,
        "gen_ai.request.model": call.model,
        "triage.mode": call.mode,
        "triage.request_id": request_id,
        "triage.outcome": call.outcome.value,
        "triage.estimated": call.estimated or None,
        "error.type": _error_type(call),
        **_usage_attributes(call.usage),
    }


def _tool_attributes(tool: ToolExecution) -> Attributes:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool.tool,
        "triage.outcome": tool.outcome.value,
        "error.type": _error_type(tool),
    }


def _decision_attributes(decision: PlannerDecision) -> Attributes:
    return {
        "triage.iteration": decision.number,
        "triage.selected": decision.selected,
        "triage.budget_level": decision.budget_level,
        "triage.forced": decision.forced,
    }


def _usage_attributes(usage: Usage) -> Attributes:
    if not usage.calls:
        return {}
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "triage.cost_usd": usage.usd,
    }


def _describe_check(step: StepRecord) -> str | None:
    # The reason may quote the issue.
    return step.answer_check and ("passed" if step.answer_check == "passed" else "refused")


def _epoch_nanoseconds(timestamp: datetime) -> int:
    return (timestamp - _EPOCH) // timedelta(microseconds=1) * 1000
