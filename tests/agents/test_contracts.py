"""What the agents' specification fixes: translation, the critic's gate, the writer's merge, schemas, powers."""

import json
from typing import Any

import pytest
from openai import pydantic_function_tool
from pydantic import BaseModel

from testing import factories
from triage.agents.agent import to_agent_finding
from triage.agents.codebase_rules import CodebaseSearchInput
from triage.agents.critic import CriticInput, map_critique_to_verdict
from triage.agents.writer import merge_writer_outputs
from triage.domain.findings import (
    AgentFinding,
    CodebaseFinding,
    CritiqueFinding,
    InvestigatorFinding,
    WebSearchFinding,
)
from triage.domain.report import WriterOutput
from triage.graph.capabilities import AGENTS

TICKET = {"title": "It breaks", "labels": ["bug"], "assignee": "keeper", "effort": "S"}


def merged(**changes: Any) -> WriterOutput:
    return merge_writer_outputs({"report": factories.report(), "comment": "words", "ticket": TICKET} | changes)


TRANSLATED: list[tuple[Any, str, list[str]]] = [
    (factories.investigation(), "parse passes a day that the year lacks", ["parse"]),
    (factories.codebase(), "src/parse.py:3", ["src/parse.py"]),
    (factories.codebase(root_cause_location=None), "Root cause location not identified.", ["src/parse.py"]),
    (factories.web(), "No external root cause identified.", ["https://docs.test/date"]),
    (factories.web(external_root_cause="a bug in datetime"), "a bug in datetime", ["https://docs.test/date"]),
    (factories.critique("CHALLENGED", revised_hypothesis="rather this"), "rather this", ["is `leap_year` checked?"]),
    (
        factories.critique("CHALLENGED", gaps=["a", "b"]),
        "Verdict: CHALLENGED. Gaps: a; b",
        ["a", "b"],
    ),
    (merged(), "Triage complete: HIGH severity", []),
]


@pytest.mark.parametrize(("answer", "details", "files"), TRANSLATED)
def test_translation(answer: Any, details: str, files: list[str]):
    agent = AGENTS[answer.agent_name]
    assert (agent.get_details(answer), agent.list_references(answer)) == (details, files)
    assert to_agent_finding(answer, details, files) == AgentFinding(
        agent_name=answer.agent_name,
        summary=answer.summary,
        confidence=answer.confidence,
        details=details,
        relevant_files=files,
        reasoning=answer.reasoning,
    )


@pytest.mark.parametrize(
    ("verdict", "ready", "adjustment", "gate", "confidence"),
    [
        ("CONFIRMED", True, 0.2, "APPROVED", 0.7),
        ("CONFIRMED", False, 0.2, "REJECTED", 0.7),
        ("UNCERTAIN", True, 0.0, "REJECTED", 0.5),
        ("UNCERTAIN", False, -0.9, "REJECTED", 0.0),
        ("CHALLENGED", True, 0.9, "REJECTED", 1.0),
    ],
)
def test_gate(verdict: str, ready: bool, adjustment: float, gate: str, confidence: float):
    raw = factories.critique(verdict, ready_for_report=ready, confidence_adjustment=adjustment, gaps=["one"])
    mapped = map_critique_to_verdict(raw)
    assert mapped.verdict == gate
    assert mapped.gaps == mapped.required_evidence == ([] if gate == "APPROVED" else ["one"])
    assert mapped.confidence == pytest.approx(confidence)


def test_merge_fills_every_field():
    output = merged()
    assert output.agent_name == "writer"
    assert output.confidence == 0.8
    assert output.error is None
    assert output.github_comment_markdown == "words"
    assert (output.ticket_title, output.ticket_labels) == ("It breaks", ["bug"])
    assert (output.ticket_assignee_suggestion, output.ticket_effort_estimate) == ("keeper", "S")


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        (AgentFinding, {"agent_name", "summary", "confidence", "details", "relevant_files"}),
        (CodebaseSearchInput, {"repository", "keywords", "hypothesis", "affected_areas"}),
        (CriticInput, {"all_findings", "current_hypothesis", "codebase_evidence"}),
        (InvestigatorFinding, {"hypothesis", "affected_areas", "keywords_for_search", "error_messages", "error"}),
        (CodebaseFinding, {"relevant_files", "root_cause_location", "reasoning"}),
        (WebSearchFinding, {"relevant_results", "external_root_cause"}),
        (CritiqueFinding, {"verdict", "confidence_adjustment", "gaps", "revised_hypothesis", "ready_for_report"}),
    ],
)
def test_field_names_are_public(schema: type[BaseModel], names: set[str]):
    assert names <= schema.model_fields.keys()


@pytest.mark.parametrize("schema", [InvestigatorFinding, CodebaseFinding, WebSearchFinding, CritiqueFinding])
def test_schemas_hold_no_free_dictionary(schema: type[BaseModel]):
    """Strict mode refuses them."""
    parameters = json.dumps(dict(pydantic_function_tool(schema))["function"])
    assert '"additionalProperties": true' not in parameters
    assert '"additionalProperties": {' not in parameters
