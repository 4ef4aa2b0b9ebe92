"""The change itself, as edits of the code that the model sees."""

from triage.agents.prompts import build_messages
from triage.fix.fix import FixInput
from triage.fix.fix_answers import CodeChanges
from triage.fix.requests.fix_sections import format_feedback, format_plan, format_ticket, format_triage
from triage.fix.requests.last_answer import LastAnswer, format_last_answer
from triage.ports import Model, Services

MAX_TOKENS = 8_000


async def ask_for_changes(
    fix_input: FixInput,
    services: Services,
    model: Model,
    code: str,
    diff: str = "",
    last: LastAnswer | None = None,
) -> CodeChanges:
    """Ask the main model for the change.

    Args:
        fix_input: What is known.
        services: Of the run.
        model: With the run's budget.
        code: The code to edit.
        diff: The version that a person or a check has objected to.
        last: An answer that could not be used.
    """
    chain = model.structured_output(CodeChanges, "main", MAX_TOKENS)
    sections = (
        format_ticket(fix_input, services)
        | format_triage(fix_input)
        | format_plan(fix_input)
        | {"code": code, "earlier version": diff}
        | format_feedback(fix_input)
        | format_last_answer(last)
    )
    return await chain.ainvoke(build_messages("fix_changes", sections))
