"""What a further round of the codebase search is given: what is known, instead of the passages of the first round."""

from collections.abc import Sequence

from triage.agents.cited_code import render_cited_code
from triage.agents.code_answers import render_definitions
from triage.agents.code_lookup import cut_lines
from triage.agents.prompts import format_bullets
from triage.domain.agent_input import AgentInput
from triage.domain.code import LookedUp, Passage
from triage.domain.findings import CritiqueFinding, RelevantFile
from triage.ports import Codebase

MAX_SUSPECTS_CHARS, MAX_LOOKED_UP_CHARS, MAX_DEFINITIONS_CHARS = 6_000, 6_000, 6_000
"""A third of what a first round shows, each."""
MAX_NAMES = 6
MIN_NAME_CHARS = 3


def build_followup_sections(agent_input: AgentInput, codebase: Codebase) -> dict[str, str]:
    """Return the earlier suspects with their code, the critic's words, and the definitions that these name."""
    suspects = agent_input.suspects
    code = render_cited_code(suspects, codebase.read_lines, MAX_SUSPECTS_CHARS)
    return {
        "earlier suspects": format_bullets([_format_suspect(suspect) for suspect in suspects]),
        "code of the earlier suspects": code,
        "looked up earlier": format_looked_up(agent_input.looked_up),
        "what the critic says": _format_critique(agent_input.critique) if agent_input.critique else "",
        "definitions of what the critic names": _render_named(agent_input.search_terms, code, codebase),
    }


def format_looked_up(looked_up: Sequence[LookedUp]) -> str:
    return "\n\n".join(_fit([f"# {one.call}\n{one.answer}" for one in looked_up], MAX_LOOKED_UP_CHARS))


def _fit(texts: Sequence[str], max_chars: int) -> list[str]:
    """Cut the longest texts after a line, so that none of them takes the room of the others."""
    room, fitted = max_chars, dict.fromkeys(range(len(texts)), "")
    for waiting, index in zip(
        range(len(texts), 0, -1), sorted(fitted, key=lambda index: len(texts[index])), strict=True
    ):
        fitted[index] = cut_lines(texts[index], max(0, room) // waiting)
        room -= len(fitted[index])
    return list(fitted.values())


def _format_suspect(file: RelevantFile) -> str:
    lines = f":{file.start_line}-{file.end_line}" if file.start_line else ""
    symbol = f" ({file.symbol})" if file.symbol else ""
    return f"{file.path}{lines}{symbol}: {file.relevance_reason}"


def _format_critique(critique: CritiqueFinding) -> str:
    gaps = f"\nNot settled yet:\n{format_bullets(critique.gaps)}" if critique.gaps else ""
    return f"{critique.verdict}: {critique.summary}\n{critique.reasoning}{gaps}"


def _render_named(terms: Sequence[str], known: str, codebase: Codebase) -> str:
    names = [term for term in terms if len(term) >= MIN_NAME_CHARS and " " not in term]
    rendered = [
        render_definitions(codebase, name)
        for name in names[:MAX_NAMES]
        if any(not _is_shown(passage, known) for passage in codebase.find_definitions(name))
    ]
    return "\n\n".join(_fit(rendered, MAX_DEFINITIONS_CHARS))


def _is_shown(passage: Passage, code: str) -> bool:
    lines = enumerate(passage.text.rstrip("\n").split("\n"), passage.span.start)
    return all(f"{number}| {line}" in code for number, line in lines)
