"""A whole answer of each schema, and its reader."""

import json
from typing import Any

from pydantic import BaseModel

from triage.domain.findings import (
    CodebaseFinding,
    CritiqueFinding,
    InvestigatorFinding,
    PlannerProposal,
    TriageReport,
    WebSearchFinding,
)
from triage.model.output_formats import ModelReply, RequestedTool, structured_format

BASE = {"agent_name": "a", "summary": "S.", "confidence": 0.85, "reasoning": "R.", "error": None}
FILE = {
    "path": "a/b.py",
    "relevance_reason": "saves",
    "start_line": 12,
    "end_line": 14,
    "symbol": "Store.save",
    "quote": 'if kind == "a":',
}
MISSING = {"kind": "version", "question": "Which version?", "reason": "It differs."}
INVESTIGATION = BASE | {
    "hypothesis": "The cache is stale.",
    "affected_areas": ["cache"],
    "keywords_for_search": ["Store", "save"],
    "error_messages": ["KeyError: 'a'"],
    "kind": "feature_request",
    "missing_information": [MISSING],
    "reproduction": ["Run it."],
    "versions": ["1.2"],
}
CODEBASE = BASE | {"relevant_files": [FILE], "root_cause_location": "a/b.py"}
PAGE = {"title": "T", "url": "https://a.example/", "relevance_reason": "same"}
WEB = BASE | {"relevant_results": [PAGE], "external_root_cause": "A release."}
CRITIQUE = BASE | {
    "verdict": "CONFIRMED",
    "confidence_adjustment": -0.1,
    "gaps": ["Which caller?"],
    "questions_for_reporter": ["Which version?"],
    "gaps_outside": ["numpy 2"],
    "revised_hypothesis": None,
    "ready_for_report": True,
}
PROPOSAL = {"selected": ["codebase_search", "critic"], "reason": "Next.", "confidence": 0.85}
REPORT = {
    "severity": "HIGH",
    "severity_reason": "Data is lost.",
    "confidence": 0.85,
    "summary": "S.",
    "root_cause": "C.",
    "affected_files": [
        {name: FILE[name] for name in FILE if name not in ("relevance_reason", "quote")} | {"reason": "r"}
    ],
    "evidence": [{"claim": "It fails.", "path": "a/b.py", "start_line": 12, "end_line": 14, "quote": "x = 1 + 2"}],
    "reproduction": ["Run it."],
    "missing_information": [MISSING],
    "next_steps": ["Fix it."],
    "suggested_fix": None,
    "external_references": [PAGE],
}
ANSWERS: list[tuple[type[BaseModel], dict[str, Any]]] = [
    (InvestigatorFinding, INVESTIGATION),
    (CodebaseFinding, CODEBASE),
    (WebSearchFinding, WEB),
    (CritiqueFinding, CRITIQUE),
    (PlannerProposal, PROPOSAL),
    (TriageReport, REPORT),
]


def read(schema: type[BaseModel], text: str, tools: list[RequestedTool] | None = None, finish: str = "stop") -> Any:
    return structured_format(schema).read(make_reply(text, tools, finish), "")


def make_reply(text: str, tools: list[RequestedTool] | None = None, finish: str = "stop") -> ModelReply:
    return ModelReply(text=text, tools=tools or [], finish_reason=finish, refused=False, reasoning={})


def dump(answer: dict[str, Any]) -> str:
    return json.dumps(answer, indent=1)
