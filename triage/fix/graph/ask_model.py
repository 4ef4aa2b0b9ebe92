"""What the fix flow asks a model, and what it may answer: the kind of change, the modules, the change, its test.

Rules answer the first two without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeVar

from triage.agents.prompts import (
    MAX_JUDGED_BODY_CHARS,
    build_messages,
    format_bullets,
    format_instructions,
    format_issue,
    shorten,
)
from triage.agents.services import Services
from triage.domain.agent_input import AgentInput
from triage.domain.findings import (
    Answer,
    ErrorText,
    Exact,
    IfMissing,
    NullableText,
    OptionalText,
    Texts,
)
from triage.fix.graph.fix_state import FixState
from triage.fix.patch.apply_edits import AT_MOST_50, FileAnswer
from triage.fix.patch.modules import Module, find_modules

if TYPE_CHECKING:
    from triage.outside.model.chat_model import ChatModel


class TicketClass(Answer):
    """What kind of change an issue asks for."""

    at_least_one_of = ("confirmed_type", "technical_summary")
    prompt_name: ClassVar[str] = "fix_classification"
    confirmed_type: Annotated[Literal["Bug", "Story"], IfMissing("Bug")]
    technical_summary: OptionalText
    """One sentence."""
    acceptance_criteria: Texts
    error: ErrorText


class ModuleChoice(Answer):
    """Which modules may change."""

    at_least_one_of = ("affected_modules",)
    prompt_name: ClassVar[str] = "fix_modules"
    affected_modules: Texts
    files_likely_to_change: Texts
    error: ErrorText


class CodeChanges(Answer):
    """The smallest change that fixes a bug, or that meets all criteria of a story."""

    at_least_one_of = ("changes", "needs_to_see")
    prompt_name: ClassVar[str] = "fix_changes"
    max_tokens: ClassVar[int] = 8_000
    root_cause: NullableText
    summary: OptionalText
    """One line, such as the subject of a commit."""
    changes: Annotated[list[FileAnswer], Exact(), AT_MOST_50]
    needs_to_see: Texts
    """Paths or names of definitions that the model must see before it can answer."""
    unverified: Texts
    """What nobody has checked about the change."""
    error: ErrorText

    @property
    def files(self) -> list[FileAnswer]:
        return self.changes


class TestChanges(Answer):
    """Tests that fail without the change and pass with it."""

    __test__ = False
    at_least_one_of = ("tests", "no_test_reason", "needs_to_see")
    prompt_name: ClassVar[str] = "fix_tests"
    max_tokens: ClassVar[int] = 6_000
    tests: Annotated[list[FileAnswer], Exact(), AT_MOST_50]
    no_test_reason: NullableText
    """Why there is none."""
    needs_to_see: Texts
    """As of `CodeChanges`."""
    error: ErrorText

    @property
    def files(self) -> list[FileAnswer]:
        return self.tests


MAX_TRIAGE_CHARS = 8_000
MAX_FEEDBACK_CHARS = 4_000
MAX_OUTPUT_CHARS = 6_000
MAX_EXAMPLE_CHARS = 8_000
MAX_ANSWER_CHARS = 16_000


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
    named = {"Why": report.why, "Idea for a fix": report.fix_idea, "To check it": report.check}
    critique = report.critique
    points = [*critique.gaps, *critique.questions_for_reporter] if critique else []
    lists = {"Suspects": suspects, "Open": points}
    parts = [report.summary, verdict, *(f"{name}: {text}" for name, text in named.items() if text)]
    parts += [f"{name}:\n{format_bullets(items)}" for name, items in lists.items() if items]
    return {"triage": shorten("\n".join(filter(None, parts)), MAX_TRIAGE_CHARS)}


def describe_answer(answer: CodeChanges | TestChanges, problems: list[str]) -> dict[str, str]:
    """Return an answer that could not be used, and why."""
    return {
        "your last answer": shorten("\n\n".join(map(_format_file, answer.files)), MAX_ANSWER_CHARS),
        "why it cannot be used": shorten(format_bullets(problems), MAX_ANSWER_CHARS),
    }


def _format_file(file: FileAnswer) -> str:
    edits = [f"search:\n{edit.search}\nreplace:\n{edit.replace}" for edit in file.edits]
    content = [f"new_content:\n{file.new_content}"] if file.new_content else []
    return "\n".join([f"# {file.file_path}: {file.description}", *edits, *content])


MAX_CRITERIA = 6


def classify_by_rules(state: FixState) -> TicketClass:
    """Return what the triage says already."""
    report = state.report
    is_story = report is not None and report.kind == "feature_request"
    return TicketClass(
        confirmed_type="Story" if is_story else "Bug",
        technical_summary=(report.summary if report else "") or state.parsed.title,
        acceptance_criteria=[],
        error=None,
    )


MAX_LIKELY_FILES = 6
RULES_MODULES = 2
"""Modules of the first suspects that rules choose."""


def choose_by_rules(state: FixState, modules: Sequence[Module]) -> ModuleChoice:
    """Return the modules of the triage's first suspects."""
    suspects = state.report.suspects if state.report else []
    names = dict.fromkeys(found.name for suspect in suspects for found in find_modules(suspect.path, modules))
    return ModuleChoice(
        affected_modules=list(names)[:RULES_MODULES],
        files_likely_to_change=[suspect.path for suspect in suspects][:MAX_LIKELY_FILES],
        error=None,
    )


def select_modules(choice: ModuleChoice, modules: Sequence[Module]) -> list[str]:
    """Return the named modules that exist; the only one if none does."""
    names = [module.name for module in modules]
    chosen = [name for name in dict.fromkeys(choice.affected_modules) if name in names]
    return chosen or (names if len(names) == 1 else [])


def describe_module(module: Module) -> str:
    """Return a module as the prompt lists it."""
    count = module.source_files
    counted = f"{count} source file{'s' * (count != 1)}" if count else "no product code"
    return f"{module.name} ({counted})" + (f": {module.description}" if module.description else "")


ChoiceT = TypeVar("ChoiceT", TicketClass, ModuleChoice)
FilesT = TypeVar("FilesT", CodeChanges, TestChanges)
CHOICE_TOKENS = 1_000
MAX_TEST_CHARS = 30_000
"""Of the existing tests that are shown: about 10,000 tokens."""


async def ask_for_choice(
    answer_type: type[ChoiceT], state: FixState, services: Services, model: ChatModel, shown: Mapping[str, str]
) -> ChoiceT:
    """Ask the fast model for the kind of change, or for its modules."""
    sections = format_ticket(state, services) | format_triage(state)
    chain = model.structured_output(answer_type, "fast", CHOICE_TOKENS)
    return await chain.ainvoke(build_messages(answer_type.prompt_name, {**sections, **shown}))


async def ask_for_files(
    answer_type: type[FilesT],
    state: FixState,
    services: Services,
    model: ChatModel,
    shown: Mapping[str, str],
    refused: Mapping[str, str],
) -> FilesT:
    """Ask the main model for the change, or for tests of it in the manner of the existing ones.

    `shown` is what this step shows besides the issue, its example, what is asked for, where, and what people and the
    project's check said before. `refused` is the last answer, if it could not be used, as `describe_answer` gives it.
    """
    sections = {
        **format_ticket(state, services),
        "the report's example": shorten(state.example, MAX_EXAMPLE_CHARS),
        "kind of change": f"{state.ticket_type}: {state.technical_summary}",
        "acceptance criteria": format_bullets(state.acceptance_criteria),
        "modules that may change": format_bullets(state.affected_modules),
        **shown,
        "earlier version": state.diff,
        "what a maintainer says of the version above": shorten(
            format_bullets(state.human_feedback), MAX_FEEDBACK_CHARS
        ),
        "what the project's check printed with the version above": shorten(state.check_output, MAX_OUTPUT_CHARS),
        **refused,
    }
    chain = model.structured_output(answer_type, "main", answer_type.max_tokens)
    return await chain.ainvoke(build_messages(answer_type.prompt_name, sections))
