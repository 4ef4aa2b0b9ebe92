"""A report whose fields, where they may quote somebody, hold a word that must not be sent."""

from datetime import datetime, timedelta
from typing import Any

from tests.say.sample_reports import FULL, START
from triage.domain.report import IssueRef, RunReport
from triage.domain.run import Engine, ModelCall, Outcome, PlannerDecision, StepName, StepRecord, ToolExecution, Usage

CANARY = "xyzzy"
REQUEST_ID = "0b9c2c5e-4f0e-4d6b-9a7e-3c1d2e4f5a6b"
QUOTED_TEXT = f"the issue says {CANARY}"


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def call(offset: float, ms: int, model: str = "gpt-4o", **changes: Any) -> ModelCall:
    given: dict[str, Any] = {
        "mode": "json_schema",
        "usage": Usage(input_tokens=1000, output_tokens=50, calls=1, usd=0.003),
        "outcome": Outcome.SUCCESS,
    }
    return ModelCall(model=model, started_at=at(offset), ms=ms, **given | changes)


def tool(name: str, offset: float, ms: int, outcome: Outcome = Outcome.SUCCESS) -> ToolExecution:
    return ToolExecution(
        tool=name,
        arguments=QUOTED_TEXT,
        output_summary=QUOTED_TEXT,
        ms=ms,
        outcome=outcome,
        error=None if outcome is Outcome.SUCCESS else f"no file '{CANARY}.py'",
        started_at=at(offset),
    )


def step(
    name: StepName, iteration: int, offset: float, seconds: float, engine: Engine = "model", **changes: Any
) -> StepRecord:
    given: dict[str, Any] = {"outcome": Outcome.SUCCESS, **changes}
    return StepRecord(
        step=name,
        engine=engine,
        model="gpt-4o" if engine == "model" else None,
        started_at=at(offset),
        seconds=seconds,
        usage=sum((call.usage for call in given.get("calls", [])), Usage()),
        iteration=iteration,
        **given,
    )


def decision(number: int, offset: float, selected: list[str], **changes: Any) -> PlannerDecision:
    return PlannerDecision(number=number, selected=selected, reason=QUOTED_TEXT, timestamp=at(offset), **changes)


BUSY = call(2.0, 300, "gpt-4o-mini", outcome=Outcome.FAILED, error="rate limited (429)", usage=Usage())
STEPS = [
    step("read_and_index", 0, 0.0, 1.5, "rules"),
    step("investigator", 1, 2.0, 2.0, calls=[BUSY, call(3.3, 700, "gpt-4o-mini")]),
    step(
        "codebase_search",
        2,
        4.0,
        5.0,
        calls=[call(4.0, 900, mode="tools"), call(5.5, 3500)],
        tools=[tool("find_symbol", 4.9, 100), tool("read_lines", 5.0, 400, Outcome.FAILED)],
    ),
    step("web_search", 2, 4.0, 3.0, outcome=Outcome.TIMED_OUT, error="no answer within 3 seconds"),
    step("critic", 3, 9.0, 1.01, "rules", error=f"no usable answer: {QUOTED_TEXT}", calls=[call(9.0, 1000)]),
    step("writer", 4, 10.1, 2.0, calls=[call(10.1, 1500)]),
]
DECISIONS = [
    decision(1, 1.9, ["investigator"]),
    decision(2, 4.0, ["codebase_search", "web_search"]),
    decision(3, 9.0, ["critic"]),
    decision(4, 10.05, ["writer"], forced=True),
]
REPORT: RunReport = FULL.model_copy(
    update={
        "request_id": REQUEST_ID,
        "seconds": 12.2,
        "issue": IssueRef(number=412, title=QUOTED_TEXT, url=FULL.issue.url, labels=[CANARY]),
        "summary": QUOTED_TEXT,
        "analysis": QUOTED_TEXT,
        "notes": [QUOTED_TEXT],
        "severity_reason": QUOTED_TEXT,
        "steps": STEPS,
        "decisions": DECISIONS,
        "usage": Usage(input_tokens=9000, output_tokens=450, calls=9, usd=0.027),
    }
)
