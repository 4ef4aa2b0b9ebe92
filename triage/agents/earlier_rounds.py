"""What a further round of the codebase search is given: what is known, instead of the passages of the first round."""

from collections.abc import Sequence

from triage.agents.cited_code import render_cited_code
from triage.agents.code_answers import render_definitions
from triage.agents.prompts import format_bullets, shorten
from triage.domain.agent_input import AgentInput
from triage.domain.code import LookedUp
from triage.domain.findings import CritiqueFinding, RelevantFile
from triage.ports import Codebase

MAX_SUSPECTS_CHARS, MAX_LOOKED_UP_CHARS, MAX_DEFINITIONS_CHARS = 6_000, 6_000, 6_000
"""A third of what a first round shows, each."""
MAX_NAMES = 6
MIN_NAME_CHARS = 3


def build_followup_sections(agent_input: AgentInput, codebase: Codebase) -> dict[str, str]:
    """Return the earlier suspects with their code, the critic's words, and the definitions that these name."""
    suspects = agent_input.suspects
    return {
        "earlier suspects": format_bullets([_format_suspect(suspect) for suspect in suspects]),
        "code of the earlier suspects": render_cited_code(suspects, codebase.read_lines, MAX_SUSPECTS_CHARS),
        "looked up earlier": shorten(format_looked_up(agent_input.looked_up), MAX_LOOKED_UP_CHARS),
        "what the critic says": _format_critique(agent_input.critique) if agent_input.critique else "",
        "definitions of what the critic names": _render_named(agent_input.search_terms, codebase),
    }


def format_looked_up(looked_up: Sequence[LookedUp]) -> str:
    return "\n\n".join(f"# {one.call}\n{one.answer}" for one in looked_up)


def _format_suspect(file: RelevantFile) -> str:
    lines = f":{file.start_line}-{file.end_line}" if file.start_line else ""
    symbol = f" ({file.symbol})" if file.symbol else ""
    return f"{file.path}{lines}{symbol}: {file.relevance_reason}"


def _format_critique(critique: CritiqueFinding) -> str:
    gaps = f"\nNot settled yet:\n{format_bullets(critique.gaps)}" if critique.gaps else ""
    return f"{critique.verdict}: {critique.summary}\n{critique.reasoning}{gaps}"


def _render_named(terms: Sequence[str], codebase: Codebase) -> str:
    found: list[str] = []
    for term in [term for term in terms if len(term) >= MIN_NAME_CHARS and " " not in term][:MAX_NAMES]:
        is_defined = codebase.find_definitions(term) or codebase.find_assignments(term)
        rendered = render_definitions(codebase, term) if is_defined else ""
        if rendered and sum(map(len, found)) + len(rendered) <= MAX_DEFINITIONS_CHARS:
            found.append(rendered)
    return "\n\n".join(found)
