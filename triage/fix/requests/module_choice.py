"""Which modules may change. Code enforces the answer afterwards."""

from collections.abc import Sequence

from triage.agents.prompts import build_messages, format_bullets
from triage.domain.proposal import AffectedModule, ModuleFacts
from triage.fix.fix import FixInput
from triage.fix.fix_answers import ChosenModule, ModuleChoice
from triage.fix.patch.modules import find_module
from triage.fix.requests.fix_sections import format_ticket, format_triage
from triage.ports import Model, Services

MAX_TOKENS = 1_000
MAX_FILES = 6
RULES_MODULES = 2
"""Modules of the first suspects that rules choose."""


async def choose_with_model(
    fix_input: FixInput, services: Services, model: Model, modules: Sequence[ModuleFacts]
) -> ModuleChoice:
    chain = model.structured_output(ModuleChoice, "fast", MAX_TOKENS)
    sections = format_ticket(fix_input, services) | format_triage(fix_input)
    sections["kind of change"] = f"{fix_input.ticket_type}: {fix_input.technical_summary}"
    sections["modules"] = format_bullets(list(map(describe_module, modules)))
    return await chain.ainvoke(build_messages("fix_modules", sections))


def choose_by_rules(fix_input: FixInput, modules: Sequence[ModuleFacts]) -> ModuleChoice:
    """Return the modules of the triage's first suspects."""
    suspects = fix_input.report.suspects if fix_input.report else []
    reasons = {found.name: suspect.reason for suspect in suspects if (found := find_module(suspect.path, modules))}
    return ModuleChoice(
        affected_modules=[
            ChosenModule(name=name, reason=reason) for name, reason in list(reasons.items())[:RULES_MODULES]
        ],
        files_likely_to_change=[suspect.path for suspect in suspects][:MAX_FILES],
        error=None,
    )


def check_choice(choice: ModuleChoice, modules: Sequence[ModuleFacts]) -> str | None:
    """Return why a choice cannot be used; None when it can."""
    names = {module.name for module in modules}
    return None if any(module.name in names for module in choice.affected_modules) else "none of the modules exists"


def select_modules(choice: ModuleChoice, modules: Sequence[ModuleFacts]) -> list[AffectedModule]:
    """Return the named modules that exist."""
    names = {module.name for module in modules}
    chosen = {module.name: module.reason for module in choice.affected_modules if module.name in names}
    return [AffectedModule(name=name, reason=reason) for name, reason in chosen.items()]


def describe_module(module: ModuleFacts) -> str:
    """Return a module as the prompt lists it."""
    count = module.source_files
    facts = [f"{count} source file{'s' * (count != 1)}" if count else "no product code", *module.languages[:2]]
    return f"{module.name} ({', '.join(facts)})" + (f": {module.description}" if module.description else "")
