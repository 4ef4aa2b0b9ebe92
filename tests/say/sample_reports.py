"""Reports as runs would end with them, for golden files and tables."""

from datetime import UTC, datetime, timedelta
from typing import Any

from triage.domain.code import (
    FileChange,
    IndexFacts,
    LastChange,
    LaterChange,
    LaterFix,
    PathChange,
    RegressionWindow,
    Section,
    Span,
    Suspect,
)
from triage.domain.findings import (
    AgentFinding,
    CritiqueFinding,
    MissingInformation,
    MissingKind,
    WebResult,
)
from triage.domain.issue import Issue
from triage.domain.past_issues import SimilarIssue
from triage.domain.report import CheckedEvidence, Citations, IssueRef, NamedPlace, RunReport, Ticket
from triage.domain.run import Limits, Outcome, PlannerDecision, Status, StepName, StepRecord, Usage
from triage.domain.skill import UsedSkill
from triage.say.decide import decide

START = datetime(2026, 8, 20, 9, 30, tzinfo=UTC)
COMMIT = "4f1c2d3e5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d"
READER = "src/ledger/importers/csv_reader.py"
DATES = "src/ledger/dates.py"
CLI = "src/ledger/cli.py"

ISSUE = Issue(
    number=412,
    title="Import crashes on dates like 31.12.2025",
    body="`ledger import bank.csv` ends in ValueError since 2.4.",
    url="https://github.com/acme/ledger/issues/412",
    author="newcomer",
)


RUN_URL = "https://github.com/acme/ledger/actions/runs/9912"


def span(path: str, start: int, end: int) -> Span:
    return Span(path=path, start=start, end=end)


def suspect(
    path: str,
    start: int | None = None,
    end: int | None = None,
    symbol: str | None = None,
    reason: str = "It is named in the report.",
) -> Suspect:
    lines = span(path, start, end) if start and end else None
    return Suspect(path=path, span=lines, symbol=symbol, reason=reason)


def missing(kind: MissingKind, question: str, reason: str) -> MissingInformation:
    return MissingInformation(kind=kind, question=question, reason=reason)


def usage(tokens_in: int, tokens_out: int, usd: float | None) -> Usage:
    return Usage(input_tokens=tokens_in, output_tokens=tokens_out, calls=1, usd=usd)


def step(
    name: StepName,
    iteration: int,
    offset: float,
    seconds: float,
    model: str | None = None,
    spent: Usage | None = None,
    outcome: Outcome = Outcome.SUCCESS,
    error: str | None = None,
    number: int = 1,
) -> StepRecord:
    return StepRecord(
        step=name,
        engine="model" if model else "rules",
        model=model,
        started_at=START + timedelta(seconds=offset),
        seconds=seconds,
        usage=spent or Usage(),
        outcome=outcome,
        error=error,
        round=number,
        iteration=iteration,
    )


def decision(number: int, selected: list[str], reason: str) -> PlannerDecision:
    return PlannerDecision(number=number, selected=selected, reason=reason, timestamp=START + timedelta(seconds=number))


MODEL_STEPS = [
    step("read_and_index", 0, 0.0, 1.9),
    step("investigator", 1, 1.9, 3.1, "gpt-4o-mini", usage(1840, 420, 0.0005)),
    step("codebase_search", 2, 5.0, 9.4, "gpt-4o", usage(11230, 980, 0.0379)),
    step("web_search", 2, 5.0, 6.2, "gpt-4o-mini", usage(3120, 310, 0.0007)),
    step("critic", 3, 14.4, 4.8, "gpt-4o", usage(5210, 390, 0.0169)),
    step("writer", 4, 19.2, 7.7, "gpt-4o", usage(6480, 1150, 0.0277)),
]
DECISIONS = [
    decision(1, ["investigator"], "Nothing has been read yet."),
    decision(2, ["codebase_search", "web_search"], "There is a hypothesis to look up."),
    decision(3, ["critic"], "The code was searched; what was found is to be judged."),
    decision(4, ["writer"], "The critic approved."),
]
INDEX = IndexFacts(
    commit=COMMIT,
    files=312,
    passages=2480,
    sections=160,
    vectors=357,
    left_out={"binary": 14, "vendored": 41, "lock file": 2},
    seconds=1.8,
)
RULES_STEPS = [
    step("read_and_index", 0, 0.0, 1.9),
    step("investigator", 1, 1.9, 0.02),
    step("codebase_search", 2, 1.9, 0.31),
    step("critic", 3, 2.2, 0.01),
    step("writer", 4, 2.2, 0.02),
]


def _with_statements(report: RunReport) -> RunReport:
    return report.model_copy(update={"statements": decide(report)})


FULL = _with_statements(
    RunReport(
        triage_version="0.1.0",
        request_id="0b9c2c5e",
        started_at=START,
        seconds=27.0,
        status=Status.COMPLETE,
        engine="model",
        repository="acme/ledger",
        server_url="https://github.com",
        commit=COMMIT,
        issue=IssueRef(number=412, title=ISSUE.title, url=ISSUE.url),
        run_url=RUN_URL,
        kind="bug",
        verdict="CONFIRMED",
        severity="HIGH",
        severity_reason="Every import of a German bank statement fails, and 2.3 could read them.",
        confidence=0.86,
        summary="`parse_date` tries only `%Y-%m-%d`, so a day-first date such as 31.12.2025 ends in an uncaught ValueError.",
        why=(
            "`parse_date` in src/ledger/dates.py calls strptime with the one format it got from DEFAULT_FORMAT. "
            "Since 2.4 the importer no longer passes the format of the bank profile. "
            "A day-first date therefore never matches. "
            "The ValueError leaves `read_rows`, which catches only csv.Error."
        ),
        named_places=[NamedPlace(text=DATES, path=DATES)],
        fix_idea="Pass `profile.date_format` from CsvReader.read_rows to parse_date again.",
        check="Import a row with 31.12.2025 and the profile `sparkasse`: it should become an entry of 31 December.",
        suspects=[
            suspect(DATES, 18, 31, "parse_date", "Tries one format and lets the ValueError through."),
            suspect(READER, 74, 96, "CsvReader.read_rows", "Stopped passing `profile.date_format` in 2.4."),
            suspect(CLI, reason="Shows the traceback in place of a message."),
        ],
        likely_files=[suspect(DATES, 18, 31, "parse_date"), suspect(READER, 74, 96, "CsvReader.read_rows")],
        evidence=[
            CheckedEvidence(
                claim="Only the default format is tried.",
                span=span(DATES, 24, 24),
                quote="return datetime.strptime(text, DEFAULT_FORMAT).date()",
                verified=True,
            ),
            CheckedEvidence(
                claim="The caller drops the profile's format.",
                span=span(READER, 81, 83),
                quote="for row in rows:\n    when = parse_date(row[columns.date])\n    yield Entry(when, row)",
                verified=True,
            ),
            CheckedEvidence(
                claim="The report's traceback ends in parse_date.",
                quote="ValueError: time data '31.12.2025' does not match format '%Y-%m-%d'",
                verified=True,
            ),
            CheckedEvidence(claim="Version 2.3 passed the format as a second argument.", verified=False),
        ],
        external_references=[
            WebResult(
                title="strptime() and strftime() format codes",
                url="https://docs.python.org/3/library/datetime.html#format-codes",
                relevance_reason="Which directives a format may hold.",
            )
        ],
        ticket=Ticket(
            title="parse_date ignores the profile's date format",
            labels=["bug", "importer"],
            assignee="maria",
            effort="S",
        ),
        critique=CritiqueFinding(
            questions_for_reporter=[],
            agent_name="critic",
            summary="The traceback, the quoted line and the changed call agree.",
            confidence=0.9,
            reasoning="",
            error=None,
            verdict="CONFIRMED",
            confidence_adjustment=0.2,
            gaps=["The change in 2.4 was not looked up in the history."],
            revised_hypothesis=None,
            ready_for_report=True,
        ),
        citations=Citations(verified=14, total=15, refused=["a citation has a number that nothing was shown under"]),
        hidden_fragments=3,
        findings=[
            AgentFinding(
                agent_name="codebase_search",
                summary="parse_date ignores the profile.",
                confidence=0.8,
                details=DATES,
                relevant_files=[DATES],
                reasoning="read_rows calls parse_date without the profile's format, so DEFAULT_FORMAT is tried alone.",
            )
        ],
        decisions=DECISIONS,
        steps=MODEL_STEPS,
        usage=Usage(input_tokens=27880, output_tokens=3250, calls=8, usd=0.0837),
        limits=Limits(),
        index=INDEX,
    )
)


def change_report(report: RunReport = FULL, **fields: Any) -> RunReport:
    """Returns the report with other values, validated, and with its statements."""
    return _with_statements(RunReport.model_validate(dict(report) | fields))


QUESTIONS = [
    missing("version", "Which version of ledger do you run?", "The importer was rewritten in 2.4."),
    missing("error_output", "What is the full traceback?", "Its last lines name the function that fails."),
]

RULES = change_report(
    engine="rules",
    kind_probability=0.93,
    verdict="UNCERTAIN",
    confidence=0.62,
    seconds=2.3,
    summary="The traceback ends in `parse_date` (src/ledger/dates.py), at a line that exists in the indexed commit.",
    why="",
    fix_idea="",
    check="",
    severity="MEDIUM",
    severity_reason="A crash with a traceback; nothing in the report speaks of lost data.",
    suspects=FULL.suspects[:2],
    likely_files=FULL.suspects[:2],
    evidence=FULL.evidence[2:3],
    missing_information=QUESTIONS[:1],
    external_references=[],
    critique=None,
    citations=Citations(verified=5, total=5),
    hidden_fragments=0,
    notes=["No model key was given, so every agent answered by rules.", "Web search is off: no Tavily key was given."],
    decisions=[
        decision(1, ["investigator"], "nobody has read the issue yet"),
        decision(2, ["codebase_search"], "the code has not been searched yet"),
        decision(3, ["critic"], "the findings have not been challenged yet"),
        decision(4, ["writer"], "not approved, and nothing new to look up"),
    ],
    steps=RULES_STEPS,
    usage=Usage(),
)

UNSAID = change_report(RULES, missing_information=[])
"""Only words are shared."""

FEATURE = change_report(
    kind="feature_request",
    verdict=None,
    severity=None,
    severity_reason="",
    confidence=0.78,
    seconds=8.2,
    summary="It asks for an import of OFX files, which ledger has never had.",
    why="",
    fix_idea="",
    check="",
    suspects=[],
    likely_files=[],
    evidence=[],
    missing_information=[],
    external_references=[],
    ticket=Ticket(title="Import OFX files", labels=["enhancement"]),
    critique=None,
    citations=Citations(),
    documentation=[
        Section(span=span("docs/import.md", 3, 40), heading="Banks"),
        Section(span=span("README.md", 1, 9), heading=""),
    ],
    hidden_fragments=1,
    decisions=DECISIONS[:1],
    steps=[MODEL_STEPS[0], MODEL_STEPS[1], step("writer", 2, 5.0, 3.1, "gpt-4o", usage(2100, 400, 0.0092))],
    usage=Usage(input_tokens=3940, output_tokens=820, calls=2, usd=0.0097),
)

LOW = change_report(
    verdict="UNCERTAIN",
    severity="LOW",
    severity_reason="Nothing in the report speaks of a crash or of lost data.",
    confidence=0.21,
    summary="The report says that the import is wrong, but neither how nor where.",
    why="The importer's column detection is the only part that the words of the report fit.",
    fix_idea="",
    check="",
    suspects=[suspect(READER, 20, 41, "CsvReader.columns", "Shares the words “import” and “column” with the report.")],
    evidence=[],
    missing_information=[
        missing("reproduction", "Which steps lead to it?", "Without them nobody can see the fault."),
        missing("expected", "What did you expect to see?", "So that we know which part of the result is wrong."),
        *QUESTIONS,
    ],
    external_references=[],
    critique=CritiqueFinding(
        questions_for_reporter=[],
        agent_name="critic",
        summary="One file fits by its words alone.",
        confidence=0.8,
        reasoning="",
        error=None,
        verdict="UNCERTAIN",
        confidence_adjustment=0.0,
        gaps=["No traceback and no error message.", "No version."],
        revised_hypothesis="It may be a matter of the file's encoding.",
        ready_for_report=False,
    ),
    citations=Citations(verified=2, total=2),
    hidden_fragments=0,
)

DEGRADED = change_report(
    status=Status.DEGRADED,
    verdict="UNCERTAIN",
    confidence=0.55,
    critique=FULL.critique and FULL.critique.model_copy(update={"verdict": "UNCERTAIN", "ready_for_report": False}),
    citations=Citations(verified=6, total=6),
    notes=[
        "The critic's model was rate limited; rules answered in its place.",
        "Web search timed out after 30 s.",
        "The budget of 30,000 tokens was used up: no further round was run.",
    ],
    steps=[
        *MODEL_STEPS[:3],
        step("web_search", 2, 5.0, 30.0, "gpt-4o-mini", usage(900, 60, 0.0002), Outcome.TIMED_OUT, "tool timed out"),
        step("critic", 3, 35.0, 12.5, "gpt-4o", Usage(), Outcome.FAILED, "rate limited"),
        step("critic", 3, 47.5, 0.01),
        step("codebase_search", 4, 47.5, 8.8, "gpt-4o", usage(9800, 720, 0.0317), number=2),
        step("critic", 5, 56.3, 0.01, number=2),
        step("writer", 6, 56.4, 0.03),
    ],
    usage=Usage(input_tokens=23770, output_tokens=2180, calls=6, usd=None),
    seconds=65.4,
)

FIRST = change_report(
    RULES,
    suspects=[suspect(READER, 20, 41, "CsvReader.columns", "Fits the words."), FULL.suspects[0]],
    likely_files=[suspect(READER, 20, 41, "CsvReader.columns", "Fits the words."), FULL.suspects[0]],
    missing_information=QUESTIONS,
)
SECOND = change_report(suspects=[FULL.suspects[0]], severity="MEDIUM")
"""After FIRST: the questions are answered, and `csv_reader.py` is no longer a suspect."""

LONG = change_report(
    why="The reader drops the profile's format, e.g. day-first ones. " * 40,
    suspects=[
        suspect(f"src/ledger/module_{number}.py", number, number + 9, f"run_{number}", "It calls the reader. " * 12)
        for number in range(1, 31)
    ],
    evidence=[
        CheckedEvidence(
            claim=f"Claim {number}. " + "List<Entry> &rows; it goes on & on. " * 40,
            span=span(READER, number, number + 3),
            quote="when = parse_date(row)\n" * 30,
            verified=True,
        )
        for number in range(1, 26)
    ],
    missing_information=[missing("other", "What else? " * 60, "Because. " * 60)] * 9,
    external_references=[
        WebResult(title=f"Page {number}", url=f"https://docs.example/{number}", relevance_reason="It is so. " * 60)
        for number in range(25)
    ],
    notes=["Map<K, V> [was] {left} out. " * 40] * 30,
    critique=FULL.critique
    and FULL.critique.model_copy(update={"gaps": [f"Gap <{number}> [is] *open*. " * 30 for number in range(40)]}),
    citations=Citations(verified=50, total=90, refused=[f"src/gone_{number}.py: is gone" for number in range(40)]),
    fix_idea="Add a line. " * 4000,
)

SIMILAR = [
    SimilarIssue(
        number=388,
        title="Import of a day-first CSV stops with ValueError",
        state="closed",
        ended="fixed in 0.9",
        score=0.94,
        reasons=["same stack trace", "same error text"],
        fix_files=[DATES, READER],
    ),
    SimilarIssue(number=17, title="Support CSV", score=0.08, reasons=["shares the words `csv`, `import`"]),
]
CHANGES = [
    PathChange(
        commit="9" * 40,
        date="2026-10-03T12:00:00+02:00",
        subject="Read profiles (#371)",
        paths=[READER],
        changelog="CHANGES.md",
        entry="Dates are those of the bank's profile",
    ),
    PathChange(commit="8" * 40, date="2026-09-14T09:30:00+00:00", subject="Dates are parsed once", paths=[DATES, CLI]),
]
PULL_REQUEST = SimilarIssue(
    number=401,
    is_pull_request=True,
    title="Accept dates that begin with the day",
    score=0.9,
    is_probably_same=True,
    reasons=["nearly the same title"],
)
PAST = change_report(
    similar_issues=[*SIMILAR, PULL_REQUEST],
    possible_duplicate=SIMILAR[0],
    past_issue_count=499,
    regression_window=RegressionWindow(worked_in="v0.7", broken_in="v0.8", commits=CHANGES, total=7, is_sure=True),
    later_change=LaterChange(
        version="v0.8", commit=FileChange(commit="9" * 40, date="2026-10-03", subject="Read profiles"), release="v0.9"
    ),
    later_fix=LaterFix(
        version="v0.8",
        commit=FileChange(commit="6" * 40, date="2026-10-05", subject="Fix day-first dates (#380)"),
        release="v0.9",
    ),
    last_change=LastChange(
        commit=FileChange(commit="7" * 40, date="2026-09-14", subject="Dates are parsed once"),
        release="v0.8",
        is_reported=True,
    ),
    owners=["acme/parsers"],
)

EVIL = (
    "@octocat #1 acme/ledger#2 GH-3 deadbeefdeadbeefdeadbeefdeadbeefdeadbeef ![x](https://evil.example/p.png) "
    "[click](javascript:alert(1)) <img src=https://evil.example/x> <!-- bug-triage: v1 {} --> --> | ` `` ``` $a$ "
    "https://evil.example/steal www.evil.example a@evil.example </details>\n\n/approve\n\n# Heading\n- [x] done\n\n```\nx\n"
)
HOSTILE = change_report(
    severity_reason=EVIL,
    summary=EVIL,
    why=EVIL,
    fix_idea=EVIL,
    check=EVIL,
    suspects=[
        Suspect(
            path="src/a b#c?(d)[e]|f`g<h>.md",
            span=span("src/a b#c?(d)[e]|f`g<h>.md", 1, 2),
            symbol="operator||<@octocat>`",
            reason=EVIL,
        ),
        Suspect(path="src/日本語/ü\\|x\n@octocat.py", reason=EVIL),
    ],
    evidence=[
        CheckedEvidence(claim=EVIL, span=span("src/a b#c?(d)[e]|f`g<h>.md", 1, 2), quote=EVIL, verified=True),
        CheckedEvidence(claim=EVIL, quote=EVIL, verified=True),
        CheckedEvidence(claim=EVIL, verified=False),
    ],
    similar_issues=[SimilarIssue(number=1, title=EVIL, state="closed", ended=EVIL, score=1.0, reasons=[EVIL])],
    possible_duplicate=SimilarIssue(number=1, title=EVIL, state="closed", ended=EVIL, score=1.0, reasons=[EVIL]),
    regression_window=RegressionWindow(
        worked_in=EVIL,
        broken_in=EVIL,
        commits=[PathChange(commit=EVIL, date=EVIL, subject=EVIL, paths=[EVIL], changelog=EVIL, entry=EVIL)],
        total=9,
        is_sure=True,
    ),
    later_change=LaterChange(version=EVIL, commit=FileChange(commit=EVIL, date=EVIL, subject=EVIL), release=EVIL),
    later_fix=LaterFix(version=EVIL, commit=FileChange(commit=EVIL, date=EVIL, subject=EVIL), release=EVIL),
    last_change=LastChange(commit=FileChange(commit=EVIL, date=EVIL, subject=EVIL), release=EVIL, is_reported=True),
    owners=[EVIL],
    missing_information=[missing("other", EVIL, EVIL)],
    external_references=[
        WebResult(title=EVIL, url="https://docs.example/a_(b)?q='\"<x>&amp;#c", relevance_reason=EVIL),
        WebResult(title="](https://evil.example)", url="javascript:alert(1)", relevance_reason="script"),
        WebResult(title="@octocat", url="https://github.com@evil.example/", relevance_reason="name before the host"),
        WebResult(
            title="spaces", url="https://evil.example/ x) [y](https://evil.example/z", relevance_reason="breaks out"
        ),
    ],
    ticket=Ticket(title=EVIL, labels=["bug`@octocat`", "a|b"], assignee="@octocat`|\n@x", effort="XL"),
    critique=CritiqueFinding(
        questions_for_reporter=[],
        agent_name=EVIL,
        summary=EVIL,
        confidence=0.9,
        reasoning=EVIL,
        error=None,
        verdict="CHALLENGED",
        confidence_adjustment=-0.2,
        gaps=[EVIL, EVIL],
        revised_hypothesis=EVIL,
        ready_for_report=False,
    ),
    citations=Citations(verified=1, total=2, refused=[EVIL]),
    notes=[EVIL],
    findings=[
        AgentFinding(
            agent_name="codebase_search", summary=EVIL, confidence=0.8, details=EVIL, relevant_files=[], reasoning=EVIL
        )
    ],
    decisions=[decision(1, [EVIL, "writer"], EVIL)],
    steps=[
        step("codebase_search", 1, 0.0, 1.0, EVIL, usage(1, 1, None)),
        step("critic", 1, 0.0, 1.0, 'm"]\nclick s0 "javascript:alert(1)" <b>', usage(1, 1, None), Outcome.FAILED, EVIL),
    ],
    index=IndexFacts(commit=COMMIT, files=1, passages=1, vectors=1, left_out={EVIL: 2}, embedding=EVIL, notes=[EVIL]),
    usage=Usage(input_tokens=1, output_tokens=1, calls=1, usd=None),
)


USED_SKILLS = [
    UsedSkill(
        id="import-profiles",
        name="Profiles of banks",
        description="How profiles describe the files of a bank",
        path=".github/triage/skills/import-profiles.md",
        reasons=["the file `src/ledger/dates.py`", "the word `profile`"],
    ),
    UsedSkill(
        id="money",
        name="Money | [amounts](https://evil.test) @maria <b>#1</b>",
        description="Amounts | and `rounding`",
        path=".github/triage/skills/money.md",
        reasons=["asked for by the critic"],
        requires_approval=True,
        checkpoint_type="labels",
    ),
]
SKILLS_BY_RULES = change_report(
    RULES,
    skills=USED_SKILLS[:1],
    active_skills={"import-profiles": 1},
    notes=[*RULES.notes, "The skill .github/triage/skills/bad.md was not used: line 1: description is missing."],
)
SKILLS_BY_MODEL = change_report(
    FULL,
    skills=USED_SKILLS,
    active_skills={"import-profiles": 3, "money": 2},
    shown_skill_ids=["import-profiles", "money"],
)
