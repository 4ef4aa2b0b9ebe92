"""What the fix flow asks a model: the kind of change, the modules, the change, its test. Rules answer the first two."""

from collections.abc import Sequence

from triage.agents.prompts import (
    MAX_JUDGED_BODY_CHARS,
    build_messages,
    format_bullets,
    format_instructions,
    format_issue,
    shorten,
)
from triage.domain.agent_input import AgentInput
from triage.domain.findings import CritiqueFinding
from triage.domain.proposal import AffectedModule, ModuleSummary
from triage.domain.value import Value
from triage.fix.fix_answers import ChosenModule, CodeChanges, FileAnswer, ModuleChoice, TestChanges, TicketClass
from triage.fix.graph.fix_state import FixState
from triage.fix.patch.modules import find_module
from triage.ports import Model, Services

MAX_TRIAGE_CHARS = 8_000
MAX_FEEDBACK_CHARS = 4_000
MAX_OUTPUT_CHARS = 6_000
MAX_EXAMPLE_CHARS = 8_000


def format_ticket(state: FixState, services: Services) -> dict[str, str]:
    """Return the issue, the maintainers' instructions, and what a person wants changed."""
    agent_input = AgentInput(issue=state.issue, repository=state.repository, parsed=state.parsed)
    return (
        format_issue(agent_input, MAX_JUDGED_BODY_CHARS)
        | format_instructions(services)
        | {"what a maintainer asks for": shorten(state.change_request, MAX_FEEDBACK_CHARS)}
    )


def format_triage(state: FixState) -> dict[str, str]:
    """Return what the triage found."""
    report = state.report
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


def format_plan(state: FixState) -> dict[str, str]:
    """Return what the earlier steps of the flow decided."""
    modules = format_bullets([f"{module.name}: {module.reason}" for module in state.affected_modules])
    return {
        "kind of change": f"{state.ticket_type}: {state.technical_summary}",
        "acceptance criteria": format_bullets(state.acceptance_criteria),
        "modules that may change": modules,
    }


def format_example(state: FixState) -> dict[str, str]:
    return {"the report's example": shorten(state.example, MAX_EXAMPLE_CHARS)}


def format_feedback(state: FixState) -> dict[str, str]:
    """Return what a person said of earlier versions, and what the project's check printed."""
    return {
        "what a maintainer says of the version above": shorten(
            format_bullets(state.human_feedback), MAX_FEEDBACK_CHARS
        ),
        "what the project's check printed with the version above": shorten(state.check_output, MAX_OUTPUT_CHARS),
    }


MAX_ANSWER_CHARS = 16_000


class LastAnswer(Value):
    text: str
    problems: list[str]


def describe_answer(answer: CodeChanges | TestChanges, problems: list[str]) -> LastAnswer:
    files = answer.changes if isinstance(answer, CodeChanges) else answer.tests
    return LastAnswer(text="\n\n".join(map(_format_file, files)), problems=problems)


def format_last_answer(last: LastAnswer | None) -> dict[str, str]:
    """Return the answer and what is wrong with it; nothing without one."""
    if last is None:
        return {}
    problems = format_bullets(last.problems)
    return {
        "your last answer": shorten(last.text, MAX_ANSWER_CHARS),
        "why it cannot be used": shorten(problems, MAX_ANSWER_CHARS),
    }


def _format_file(file: FileAnswer) -> str:
    edits = [f"search:\n{edit.search}\nreplace:\n{edit.replace}" for edit in file.edits]
    content = [f"new_content:\n{file.new_content}"] if file.new_content else []
    return "\n".join([f"# {file.file_path}: {file.description}", *edits, *content])


CHOICE_TOKENS = 1_000
MAX_CRITERIA = 6


async def classify_with_model(state: FixState, services: Services, model: Model) -> TicketClass:
    chain = model.structured_output(TicketClass, "fast", CHOICE_TOKENS)
    sections = format_ticket(state, services) | format_triage(state)
    return await chain.ainvoke(build_messages("fix_classification", sections))


def classify_by_rules(state: FixState) -> TicketClass:
    """Return what the triage says already."""
    report = state.report
    is_story = report is not None and report.kind == "feature_request"
    return TicketClass(
        confirmed_type="Story" if is_story else "Bug",
        technical_summary=(report.summary if report else "") or state.ticket_summary,
        acceptance_criteria=[],
        error=None,
    )


MAX_FILES = 6
RULES_MODULES = 2
"""Modules of the first suspects that rules choose."""


async def choose_with_model(
    state: FixState, services: Services, model: Model, modules: Sequence[ModuleSummary]
) -> ModuleChoice:
    chain = model.structured_output(ModuleChoice, "fast", CHOICE_TOKENS)
    sections = format_ticket(state, services) | format_triage(state)
    sections["kind of change"] = f"{state.ticket_type}: {state.technical_summary}"
    sections["modules"] = format_bullets(list(map(describe_module, modules)))
    return await chain.ainvoke(build_messages("fix_modules", sections))


def choose_by_rules(state: FixState, modules: Sequence[ModuleSummary]) -> ModuleChoice:
    """Return the modules of the triage's first suspects."""
    suspects = state.report.suspects if state.report else []
    reasons = {found.name: suspect.reason for suspect in suspects if (found := find_module(suspect.path, modules))}
    return ModuleChoice(
        affected_modules=[
            ChosenModule(name=name, reason=reason) for name, reason in list(reasons.items())[:RULES_MODULES]
        ],
        files_likely_to_change=[suspect.path for suspect in suspects][:MAX_FILES],
        error=None,
    )


def check_choice(choice: ModuleChoice, modules: Sequence[ModuleSummary]) -> str | None:
    """Return why a choice cannot be used; None when it can."""
    if choice.error:
        return choice.error
    names = {module.name for module in modules}
    return None if any(module.name in names for module in choice.affected_modules) else "none of the modules exists"


def select_modules(choice: ModuleChoice, modules: Sequence[ModuleSummary]) -> list[AffectedModule]:
    """Return the named modules that exist."""
    names = {module.name for module in modules}
    chosen = {module.name: module.reason for module in choice.affected_modules if module.name in names}
    return [AffectedModule(name=name, reason=reason) for name, reason in chosen.items()]


def describe_module(module: ModuleSummary) -> str:
    """Return a module as the prompt lists it."""
    count = module.source_files
    facts = [f"{count} source file{'s' * (count != 1)}" if count else "no product code", *module.languages[:2]]
    return f"{module.name} ({', '.join(facts)})" + (f": {module.description}" if module.description else "")


CHANGE_TOKENS = 8_000


async def ask_for_changes(
    state: FixState,
    services: Services,
    model: Model,
    code: str,
    diff: str = "",
    last: LastAnswer | None = None,
) -> CodeChanges:
    """Ask the main model for the change.

    Args:
        state: What is known.
        services: Of the run.
        model: With the run's budget.
        code: The code to edit.
        diff: The version that a person or a check has objected to.
        last: An answer that could not be used.
    """
    chain = model.structured_output(CodeChanges, "main", CHANGE_TOKENS)
    sections = (
        format_ticket(state, services)
        | format_example(state)
        | format_triage(state)
        | format_plan(state)
        | {"code": code, "earlier version": diff}
        | format_feedback(state)
        | format_last_answer(last)
    )
    return await chain.ainvoke(build_messages("fix_changes", sections))


TEST_TOKENS = 6_000
MAX_TEST_CHARS = 30_000
"""Of the existing tests that are shown: about 10,000 tokens."""


async def ask_for_tests(
    state: FixState,
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
    chain = model.structured_output(TestChanges, "main", TEST_TOKENS)
    sections = (
        format_ticket(state, services)
        | format_example(state)
        | format_plan(state)
        | {
            "cause": state.root_cause or "",
            "the change": diff,
            "existing tests": existing_tests,
            "earlier version": earlier,
        }
        | format_feedback(state)
        | format_last_answer(last)
    )
    return await chain.ainvoke(build_messages("fix_tests", sections))
