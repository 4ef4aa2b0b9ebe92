"""Sample runs: by a model, degraded, with a tool that failed, with three rounds, cancelled."""

from datetime import timedelta
from typing import Any

from tests.say.sample_reports import DEGRADED, EVIL, FULL, HOSTILE, START, change_report, decision, step, usage
from triage.domain.report import RunReport
from triage.domain.run import (
    ModelCall,
    Outcome,
    PlannerDecision,
    Status,
    StepName,
    StepRecord,
    ToolExecution,
    Usage,
)

MAIN, FAST = "gpt-4o", "gpt-4o-mini"
AGENTS: list[StepName] = ["investigator", "codebase_search", "critic", "writer"]


def call(
    model: str,
    offset: float,
    ms: int,
    spent: Usage | None = None,
    mode: str = "json_schema",
    error: str | None = None,
) -> ModelCall:
    return ModelCall(
        model=model,
        mode=mode,
        started_at=START + timedelta(seconds=offset),
        ms=ms,
        usage=spent or Usage(),
        outcome=Outcome.FAILED if error else Outcome.SUCCESS,
        error=error,
    )


def tool(
    name: str, offset: float, ms: int, asked: str, returned: str, outcome: Outcome = Outcome.SUCCESS
) -> ToolExecution:
    error = None if outcome is Outcome.SUCCESS else "no answer within 30 seconds"
    return ToolExecution(
        tool=name,
        arguments=asked,
        output_summary=returned,
        ms=ms,
        outcome=outcome,
        error=error,
        started_at=START + timedelta(seconds=offset),
    )


def with_details(record: StepRecord, **fields: Any) -> StepRecord:
    return StepRecord.model_validate(dict(record) | fields)


def ruled(number: int, selected: list[str], reason: str, **fields: Any) -> PlannerDecision:
    return PlannerDecision.model_validate(dict(decision(number, selected, reason)) | fields)


def run(
    report: RunReport, steps: list[StepRecord], decisions: list[PlannerDecision], seconds: float, **fields: Any
) -> RunReport:
    spent = sum((record.usage for record in steps), Usage())
    values = {
        "steps": steps,
        "decisions": decisions,
        "usage": spent,
        "seconds": seconds,
    }
    return change_report(report, **(values | fields))


def answer(
    name: StepName, number: int, offset: float, seconds: float, model: str, spent: Usage, **fields: Any
) -> StepRecord:
    """Returns the step of a model answer that passed its check."""
    record = step(name, number, offset, seconds, model, spent)
    return with_details(record, **({"calls": [call(model, offset, 1500, spent)]} | fields))


LOOK_UPS = [
    tool("grep", 9.1, 42, 'text="unknown date format | %s"', "812 characters"),
    tool("read_lines", 9.2, 3, 'path="src/ledger/dates.py", start=1, end=60', "2,210 characters"),
    tool("find_symbol", 11.0, 5, 'name="CsvReader.read_rows"', "640 characters"),
    tool("git_log", 11.1, 61, 'path="src/ledger/importers/csv_reader.py"', "530 characters"),
]
CODE_CALLS = [
    call(MAIN, 7.9, 1100, usage(3120, 96, 0.0088), "tools"),
    call(MAIN, 9.3, 1600, usage(4480, 88, 0.0121), "tools"),
    call(MAIN, 11.2, 4100, usage(5630, 796, 0.022)),
]
PLANNED = run(
    FULL,
    [
        step("read_and_index", 0, 0.0, 1.9),
        answer("investigator", 1, 2.7, 3.1, FAST, usage(1840, 420, 0.0005)),
        answer("codebase_search", 2, 7.9, 9.4, MAIN, usage(13230, 980, 0.0429), tools=LOOK_UPS, calls=CODE_CALLS),
        answer(
            "web_search",
            2,
            7.9,
            6.2,
            FAST,
            usage(3120, 310, 0.0007),
            tools=[tool("tavily_search", 8.8, 1900, 'query="strptime does not match format"', "4,120 characters")],
            calls=[
                call(FAST, 7.9, 900, usage(820, 60, 0.0002), "tools"),
                call(FAST, 10.7, 2100, usage(2300, 250, 0.0005)),
            ],
        ),
        answer("critic", 3, 18.1, 4.8, MAIN, usage(5210, 390, 0.0169)),
        answer("writer", 4, 23.7, 7.7, MAIN, usage(6480, 1150, 0.0277)),
    ],
    [
        ruled(1, ["investigator"], "The issue is unread."),
        ruled(
            2,
            ["codebase_search", "web_search"],
            "The traceback names a function; the format codes are documented outside.",
        ),
        ruled(3, ["critic"], "Enough evidence to be judged."),
        ruled(4, ["writer"], "The critic approved."),
    ],
    31.4,
)

REFUSED = run(
    FULL,
    [
        *PLANNED.steps[:3],
        with_details(
            PLANNED.steps[3],
            tools=[tool("tavily_search", 8.8, 30000, 'query="strptime does not match format"', "", Outcome.TIMED_OUT)],
        ),
        answer("critic", 3, 18.1, 4.8, MAIN, usage(5210, 390, 0.0169)),
        answer(
            "writer",
            4,
            32.9,
            7.7,
            MAIN,
            usage(6480, 1150, 0.0277),
            calls=[
                call(MAIN, 32.9, 800, error="rate limited"),
                call(MAIN, 34.1, 5100, usage(4980, 890, 0.0214)),
                call(MAIN, 32.9, 3100, usage(1500, 260, 0.0063), "plain"),
            ],
        ),
    ],
    [
        *PLANNED.decisions[:2],
        ruled(3, ["critic"], "the findings have not been challenged yet"),
        ruled(4, ["writer"], "the critic approved"),
    ],
    40.6,
    status=Status.DEGRADED,
    notes=[
        "The web search's tool tavily_search failed: no answer within 30 seconds.",
    ],
)

DECLINED = "no usable answer: the agent declined to answer"
SILENT = run(
    change_report(DEGRADED, why="", fix_idea="", check=""),
    [
        step("read_and_index", 0, 0.0, 1.9),
        *(
            with_details(
                step(name, number, 2.0 * number, 0.32, error="the key was refused (401)"),
                calls=[call(MAIN, 2.0, 300, error="the key was refused (401)")],
            )
            for number, name in enumerate(AGENTS, start=1)
        ),
    ],
    [
        ruled(1, ["investigator"], "nobody has read the issue yet"),
        ruled(2, ["codebase_search"], "the code has not been searched yet"),
        ruled(3, ["critic"], "the findings have not been challenged yet"),
        ruled(4, ["writer"], "not approved, and nothing new to look up"),
    ],
    6.1,
    notes=["No model answered: the key was refused (401)."],
)


def _round(number: int, first: int, offset: float, web: bool) -> tuple[list[StepRecord], list[PlannerDecision]]:
    steps = [
        with_details(
            answer(
                "codebase_search",
                first,
                offset + 0.7,
                9.4,
                MAIN,
                usage(11230, 980, 0.0379),
                tools=LOOK_UPS[: 5 - number],
            ),
            round=number,
        ),
    ]
    if web:
        steps.append(answer("web_search", first, offset + 0.7, 6.2, FAST, usage(3120, 310, 0.0007)))
    steps.append(
        with_details(answer("critic", first + 1, offset + 10.8, 4.8, MAIN, usage(5210, 390, 0.0169)), round=number)
    )
    searched = ["codebase_search", "web_search"] if web else ["codebase_search"]
    decisions = [
        ruled(first, searched, "The critic wants the caller looked up."),
        ruled(first + 1, ["critic"], "the findings have not been challenged yet"),
    ]
    return steps, decisions


_PARTS = [_round(1, 3, 6.0, True), _round(2, 5, 22.0, False), _round(3, 7, 38.0, False)]
ROUNDS = run(
    DEGRADED,
    [
        step("read_and_index", 0, 0.0, 1.9),
        with_details(
            step("investigator", 1, 2.0, 2.12, None, usage(1840, 210, 0.0004), error=DECLINED),
        ),
        *(record for part in _PARTS for record in part[0]),
        with_details(answer("writer", 9, 54.7, 7.7, MAIN, usage(6480, 1150, 0.0277)), round=3),
    ],
    [
        ruled(1, ["investigator"], "The issue is unread."),
        *(made for part in _PARTS for made in part[1]),
        ruled(9, ["writer"], "All rounds are spent."),
    ],
    62.4,
)

CUT = run(
    change_report(DEGRADED, critique=None, verdict=None),
    PLANNED.steps[:2],
    PLANNED.decisions[:2],
    9.3,
    notes=["The run was cancelled."],
)

HOSTILE_RUN = run(
    HOSTILE,
    [
        with_details(
            step("critic", 1, 0.0, 1.0, EVIL, usage(1, 1, None), Outcome.FAILED, EVIL),
            tools=[tool(EVIL, 0.1, 1, EVIL, EVIL), tool("tavily_search", 0.2, 1, EVIL, EVIL, Outcome.FAILED)],
            calls=[call(EVIL, 0.3, 1, mode=EVIL, error=EVIL)],
        ),
        with_details(step("writer", 1, 1.0, 1.0, EVIL), shortfalls=[EVIL, f"{EVIL}; {EVIL}"]),
    ],
    [ruled(1, [EVIL, "critic", "writer"], EVIL, forced=True)],
    1.0,
)
