"""The test that fails without the change."""

from triage.agents.prompts import build_messages
from triage.fix.fix import FixInput
from triage.fix.fix_answers import TestChanges
from triage.fix.requests.fix_sections import format_feedback, format_plan, format_ticket
from triage.fix.requests.last_answer import LastAnswer, format_last_answer
from triage.ports import Model, Services

MAX_TOKENS = 6_000
MAX_TEST_CHARS = 30_000
"""Of the existing tests that are shown: about 10,000 tokens."""


async def ask_for_tests(
    fix_input: FixInput,
    services: Services,
    model: Model,
    diff: str,
    existing_tests: str,
    last: LastAnswer | None = None,
    earlier: str = "",
) -> TestChanges:
    """Ask the main model for tests of the change `diff`, in the manner of the existing ones.

    `earlier` is the diff of the version that a person or a check has objected to, with its tests.
    """
    chain = model.structured_output(TestChanges, "main", MAX_TOKENS)
    sections = (
        format_ticket(fix_input, services)
        | format_plan(fix_input)
        | {
            "cause": fix_input.root_cause or "",
            "the change": diff,
            "existing tests": existing_tests,
            "earlier version": earlier,
        }
        | format_feedback(fix_input)
        | format_last_answer(last)
    )
    return await chain.ainvoke(build_messages("fix_tests", sections))
