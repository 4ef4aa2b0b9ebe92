"""Is it a bug or a story, and what must be true afterwards?"""

from triage.agents.prompts import build_messages
from triage.fix.fix import FixInput
from triage.fix.fix_answers import TicketClass
from triage.fix.requests.fix_sections import format_ticket, format_triage
from triage.ports import Model, Services

MAX_TOKENS = 1_000
MAX_CRITERIA = 6


async def classify_with_model(fix_input: FixInput, services: Services, model: Model) -> TicketClass:
    chain = model.structured_output(TicketClass, "fast", MAX_TOKENS)
    sections = format_ticket(fix_input, services) | format_triage(fix_input)
    return await chain.ainvoke(build_messages("fix_classification", sections))


def classify_by_rules(fix_input: FixInput) -> TicketClass:
    """Return what the triage says already."""
    report = fix_input.report
    is_story = report is not None and report.kind == "feature_request"
    return TicketClass(
        confirmed_type="Story" if is_story else "Bug",
        technical_summary=(report.summary if report else "") or fix_input.ticket_summary,
        affected_components=[],
        complexity="medium",
        acceptance_criteria=[],
        error=None,
    )
