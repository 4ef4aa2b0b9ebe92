"""Builds answers, issues and states for tests; each builder takes the fields that the test is about."""

from typing import Any

from triage.domain.code import Span, Suspect
from triage.domain.findings import (
    CitedPlace,
    CodebaseFinding,
    CritiqueFinding,
    InvestigatorFinding,
    RelevantFile,
    TicketDraft,
    WebResult,
    WebSearchFinding,
)
from triage.domain.issue import Issue, Repository
from triage.domain.report import CheckedEvidence, TriageReport
from triage.graph.triage_state import BugTriageState

PARSE = "def parse(text):\n    parts = text.split('-')\n    return date(*parts)\n"
FILES = {"src/parse.py": PARSE, "src/store.py": "class Store:\n    def save(self, items):\n        pass\n"}
TRACEBACK = """It fails.

```
Traceback (most recent call last):
  File "app.py", line 3, in <module>
    parse("02-29")
  File "src/parse.py", line 3, in parse
    return date(*parts)
ValueError: day is out of range for month
```
"""


def issue(**changes: Any) -> Issue:
    defaults: dict[str, Any] = {
        "number": 7,
        "title": "parse() raises ValueError for 02-29",
        "body": TRACEBACK,
        "url": "https://github.test/o/r/issues/7",
        "author": "reporter",
    }
    return Issue(**defaults | changes)


def repository(**changes: Any) -> Repository:
    defaults: dict[str, Any] = {"slug": "o/r", "server_url": "https://github.test", "labels": ["bug", "Regression"]}
    return Repository(**defaults | changes)


def state(**changes: Any) -> BugTriageState:
    defaults: dict[str, Any] = {"issue": Issue(title="Title", body="Body"), "repository": repository()}
    return BugTriageState(**defaults | changes)


def investigation(**changes: Any) -> InvestigatorFinding:
    defaults: dict[str, Any] = {
        "agent_name": "investigator",
        "summary": "parse fails on leap days",
        "confidence": 0.6,
        "reasoning": "the traceback",
        "error": None,
        "hypothesis": "parse passes a day that the year lacks",
        "affected_areas": ["parse"],
        "keywords_for_search": ["parse", "date"],
        "error_messages": ["ValueError: day is out of range for month"],
        "kind": "bug",
        "missing_information": [],
    }
    return InvestigatorFinding(**defaults | changes)


def relevant(path: str = "src/parse.py", **changes: Any) -> RelevantFile:
    defaults: dict[str, Any] = {
        "relevance_reason": "raises the error",
        "start_line": 1,
        "end_line": 3,
        "symbol": "parse",
        "quote": "return date(*parts)",
    }
    return RelevantFile(path=path, **defaults | changes)


WHY = "The day is checked against the wrong year in `parse` [1:3]."


def codebase(**changes: Any) -> CodebaseFinding:
    """Return the finding of a model: what it cites, and the place that this is in `FILES`.

    It is not sure enough of itself to do without a critic.
    """
    defaults: dict[str, Any] = {
        "agent_name": "codebase_search",
        "summary": "parse builds the date",
        "confidence": 0.65,
        "reasoning": "it is the last frame",
        "error": None,
        "places": [CitedPlace(cite="1:1-3", reason="raises the error")],
        "why": WHY,
        "fix_idea": "Check the day against the year that is given.",
        "check": "`parse('02-29')` in a leap year returns the day.",
        "severity": "HIGH",
        "severity_reason": "a crash",
        "relevant_files": [relevant()],
        "likely_files": [relevant()],
        "root_cause_location": "src/parse.py:3",
    }
    return CodebaseFinding(**defaults | changes)


def web(**changes: Any) -> WebSearchFinding:
    defaults: dict[str, Any] = {
        "agent_name": "web_search",
        "summary": "one page",
        "confidence": 0.4,
        "reasoning": "same words",
        "error": None,
        "relevant_results": [WebResult(title="Dates", url="https://docs.test/date", relevance_reason="says so")],
        "external_root_cause": None,
    }
    return WebSearchFinding(**defaults | changes)


def critique(verdict: str = "CONFIRMED", **changes: Any) -> CritiqueFinding:
    defaults: dict[str, Any] = {
        "agent_name": "critic",
        "summary": "the trace ends there",
        "confidence": 0.8,
        "reasoning": "looked up",
        "error": None,
        "verdict": verdict,
        "confidence_adjustment": 0.1 if verdict == "CONFIRMED" else -0.1,
        "gaps": [] if verdict == "CONFIRMED" else ["is `leap_year` checked?"],
        "questions_for_reporter": [],
        "revised_hypothesis": None,
        "ready_for_report": verdict == "CONFIRMED",
    }
    return CritiqueFinding(**defaults | changes)


def report(**changes: Any) -> TriageReport:
    defaults: dict[str, Any] = {
        "severity": "HIGH",
        "severity_reason": "a crash",
        "confidence": 0.8,
        "summary": "parse crashes on 02-29",
        "affected_files": [
            Suspect(path="src/parse.py", span=Span(path="src/parse.py", start=1, end=3), symbol="parse", reason="dates")
        ],
        "evidence": [
            CheckedEvidence(claim="It raises", span=Span(path="src/parse.py", start=3, end=3), quote="x", verified=True)
        ],
    }
    return TriageReport(**defaults | changes)


def ticket(**changes: Any) -> TicketDraft:
    defaults: dict[str, Any] = {"labels": ["bug"], "assignee": None, "effort": "S", "title": "parse crashes on 02-29"}
    return TicketDraft(**defaults | changes)


def answers(**changes: Any) -> dict[str, Any]:
    """Returns the answers of a model by schema name."""
    defaults: dict[str, Any] = {
        "InvestigatorFinding": investigation(),
        "CodebaseFinding": codebase(),
        "CritiqueFinding": critique(),
        "TicketDraft": ticket(),
    }
    return defaults | changes
