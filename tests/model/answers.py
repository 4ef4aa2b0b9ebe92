"""A whole answer of each schema, and its reader."""

import json
from typing import Any

from pydantic import BaseModel

from triage.domain.findings import (
    CodebaseFinding,
    CritiqueFinding,
    InvestigatorFinding,
    TicketDraft,
    WebSearchFinding,
)
from triage.model.output_formats import ModelReply, RequestedTool, structured_format

BASE = {"agent_name": "a", "summary": "S.", "confidence": 0.85, "reasoning": "R.", "error": None}
MISSING = {"kind": "version", "question": "Which version?", "reason": "It differs."}
INVESTIGATION = BASE | {
    "hypothesis": "The cache is stale.",
    "keywords_for_search": ["Store", "save"],
    "kind": "feature_request",
    "missing_information": [MISSING],
}
CODEBASE = BASE | {
    "places": [{"cite": "7:12-14", "reason": "saves"}],
    "why": "It is saved twice [7:12].",
    "fix_idea": "Save once.",
    "check": "Save twice.",
    "severity": "HIGH",
    "severity_reason": "Data is lost.",
}
PAGE = {"title": "T", "url": "https://a.example/", "relevance_reason": "same"}
WEB = BASE | {"relevant_results": [PAGE], "external_root_cause": "A release."}
CRITIQUE = BASE | {
    "verdict": "CONFIRMED",
    "gaps": ["Which caller?"],
    "questions_for_reporter": ["Which version?"],
    "gaps_outside": ["numpy 2"],
    "revised_hypothesis": None,
}
TICKET = {"labels": ["bug"], "assignee": None, "effort": "S", "title": "T."}
ANSWERS: list[tuple[type[BaseModel], dict[str, Any]]] = [
    (InvestigatorFinding, INVESTIGATION),
    (CodebaseFinding, CODEBASE),
    (WebSearchFinding, WEB),
    (CritiqueFinding, CRITIQUE),
    (TicketDraft, TICKET),
]


def read(schema: type[BaseModel], content: str, tools: list[RequestedTool] | None = None, finish: str = "stop") -> Any:
    return structured_format(schema).modes[0].read(make_reply(content, tools, finish))


def make_reply(content: str, tools: list[RequestedTool] | None = None, finish: str = "stop") -> ModelReply:
    return ModelReply(
        content=content,
        tools=tools or [],
        finish_reason=finish,
        refused=False,
    )


def dump(answer: dict[str, Any]) -> str:
    return json.dumps(answer, indent=1)
