"""Sections that several prompts of the fix flow have."""

from triage.agents.prompts import MAX_JUDGED_BODY_CHARS, format_bullets, format_instructions, format_issue, shorten
from triage.domain.agent_input import AgentInput
from triage.domain.findings import CritiqueFinding
from triage.fix.fix import FixInput
from triage.ports import Services

MAX_TRIAGE_CHARS = 8_000
MAX_FEEDBACK_CHARS = 4_000
MAX_OUTPUT_CHARS = 6_000


def format_ticket(fix_input: FixInput, services: Services) -> dict[str, str]:
    """Return the issue, the maintainers' instructions, and what a person wants changed."""
    agent_input = AgentInput(issue=fix_input.issue, repository=fix_input.repository, parsed=fix_input.parsed)
    return (
        format_issue(agent_input, MAX_JUDGED_BODY_CHARS)
        | format_instructions(services)
        | {"what a maintainer asks for": shorten(fix_input.change_request, MAX_FEEDBACK_CHARS)}
    )


def format_triage(fix_input: FixInput) -> dict[str, str]:
    """Return what the triage found."""
    report = fix_input.report
    if report is None:
        return {}
    suspects = [
        suspect.path
        + (f":{suspect.span.start}-{suspect.span.end}" if suspect.span else "")
        + (f" ({suspect.symbol})" if suspect.symbol else "")
        + f": {suspect.reason}"
        for suspect in report.suspects
    ]
    verdict = f"The critic's verdict: {report.verdict}." if report.verdict else ""
    named = {
        "Why": report.why or report.root_cause,
        "Idea for a fix": report.fix_idea,
        "To check it": report.check,
    }
    lists = {"Suspects": suspects, "Open": _list_open_points(report.critique)}
    parts = [report.summary, verdict, *(f"{name}: {text}" for name, text in named.items() if text)]
    parts += [f"{name}:\n{format_bullets(items)}" for name, items in lists.items() if items]
    return {"triage": shorten("\n".join(filter(None, parts)), MAX_TRIAGE_CHARS)}


def _list_open_points(critique: CritiqueFinding | None) -> list[str]:
    return [*critique.gaps, *critique.gaps_outside, *critique.questions_for_reporter] if critique else []


def format_plan(fix_input: FixInput) -> dict[str, str]:
    """Return what the earlier steps of the flow decided."""
    modules = format_bullets([f"{module.name}: {module.reason}" for module in fix_input.affected_modules])
    return {
        "kind of change": f"{fix_input.ticket_type}: {fix_input.technical_summary}",
        "acceptance criteria": format_bullets(fix_input.acceptance_criteria),
        "modules that may change": modules,
    }


def format_feedback(fix_input: FixInput) -> dict[str, str]:
    """Return what a person said of earlier versions, and what the project's check printed."""
    return {
        "what a maintainer says of the version above": shorten(
            format_bullets(fix_input.human_feedback), MAX_FEEDBACK_CHARS
        ),
        "what the project's check printed with the version above": shorten(fix_input.check_output, MAX_OUTPUT_CHARS),
    }
