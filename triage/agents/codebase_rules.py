"""The codebase search's query, and its rules: the ranked files as suspects, each with its best lines and the reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from triage.agents.agent import CONFIDENT_FROM
from triage.agents.prompts import find_traceback_lines
from triage.agents.services import Services
from triage.agents.shown_code import format_file
from triage.base.threads import in_thread
from triage.domain.agent_input import AgentInput
from triage.domain.code import SIGN_REASONS, Hit, Passage, RankReason, SearchQuery, Span
from triage.domain.findings import CodebaseFinding, RelevantFile
from triage.domain.value import Value

if TYPE_CHECKING:
    from triage.find.codebase import Codebase


_COMMENT_LINE = re.compile(r"#|//|/?\*|--|@|\"\"\"|'''|<!--")
MAX_FILES = 10
MIN_QUOTE_CHARS = 10
"""A shorter line may be in an issue by chance."""
MIN_SUSPECT_CHANCE = 0.04
"""A hit with a lower probability is no suspect."""
MAX_CONFIDENCE = 0.95
MAX_LINES, LINES_BEFORE_QUOTE = 15, 3
NO_REASON = "shares words with the issue"


class CodebaseSearchInput(Value):
    repository: str
    keywords: list[str]
    hypothesis: str
    affected_areas: list[str]
    issue: str
    """Visible text of the issue. Keywords alone find only half of the right files."""


def build_search_input(agent_input: AgentInput) -> CodebaseSearchInput:
    """Return what the search starts with: the same in each round."""
    investigation = agent_input.investigation
    return CodebaseSearchInput(
        repository=agent_input.repository.slug,
        keywords=investigation.keywords_for_search if investigation else [],
        hypothesis=investigation.hypothesis if investigation else "",
        affected_areas=investigation.affected_areas if investigation else [],
        issue=agent_input.parsed.text,
    )


async def answer_with_rules(agent_input: AgentInput, services: Services) -> CodebaseFinding:
    """Return the ranked hits, each with its best passage and the reasons for its rank.

    Ranked by the issue alone: a model's words must not lead rules astray.
    """
    hits = await in_thread(services.codebase.search, SearchQuery(parsed=agent_input.parsed), MAX_FILES)
    confidence = estimate_confidence(hits)
    first = hits[0] if hits else None
    suspects = [hit for rank, hit in enumerate(hits) if rank == 0 or hit.probability >= MIN_SUSPECT_CHANCE]
    files = await in_thread(_list_files, suspects, agent_input, services.codebase)
    return CodebaseFinding(
        agent_name="codebase_search",
        summary=_summarize(first),
        confidence=confidence,
        reasoning="Ranked by words, names, paths and stack frames that the issue and the code share.",
        error=None,
        relevant_files=files,
        likely_files=files,
        root_cause_location=format_file(files[0]) if files and confidence >= CONFIDENT_FROM else None,
    )


def _summarize(first: Hit | None) -> str:
    if first is None:
        return "Nothing in the repository fits the issue's words."
    return f"{first.path} fits best: {first.reasons[0].text if first.reasons else NO_REASON}."


def _list_files(hits: Sequence[Hit], agent_input: AgentInput, codebase: Codebase) -> list[RelevantFile]:
    return [_to_relevant_file(hit, agent_input, codebase) for hit in hits]


def _to_relevant_file(hit: Hit, agent_input: AgentInput, codebase: Codebase) -> RelevantFile:
    """Return the place that facts of the issue lead to, if it is in the file; else the lines that fit best."""
    place = agent_input.best_place
    if place and place.span.path == hit.path and place.line:
        span, symbol, quote, reason = place.span, place.symbol, place.quote, SIGN_REASONS[place.sign]
    elif hit.passages:
        best, reason = _match_reason(hit, codebase)
        quote = _choose_quote(best, agent_input)
        span, symbol = _narrow_span(best, quote), best.symbol
    else:  # of a file beyond the limits of the index only the path is known
        return RelevantFile(path=hit.path, relevance_reason=hit.reasons[0].text if hit.reasons else NO_REASON)
    return RelevantFile(
        path=hit.path, relevance_reason=reason, start_line=span.start, end_line=span.end, symbol=symbol, quote=quote
    )


def _match_reason(hit: Hit, codebase: Codebase) -> tuple[Passage, str]:
    """Return a passage and a reason that are about the same: the best passage, or else what the best reason names."""
    best, first = hit.passages[0], next(iter(hit.reasons), RankReason(text=NO_REASON))
    own = next((reason for reason in hit.reasons if reason.symbol and reason.symbol == best.symbol), None)
    if own:
        return best, own.text
    defined = (passage for passage in codebase.find_definitions(first.symbol) if passage.span.path == hit.path)
    return next(defined, best), first.text


def _narrow_span(passage: Passage, quote: str | None) -> Span:
    """Return the lines around the quote, as many as a reader takes in at a glance."""
    lines = [line.strip() for line in passage.text.splitlines()]
    at = passage.span.start + (lines.index(quote) if quote in lines else 0)
    start = max(passage.span.start, at - LINES_BEFORE_QUOTE)
    return passage.span.model_copy(update={"start": start, "end": min(passage.span.end, start + MAX_LINES - 1)})


def _choose_quote(passage: Passage, agent_input: AgentInput) -> str | None:
    """Return the line of the passage that a trace or the issue shows, or with its name; else the first one, if any.

    A quote finds the place also when the reporter's version has other line numbers.
    """
    lines = [line.strip() for line in passage.text.splitlines() if len(line.strip()) > 3]
    parsed = agent_input.parsed
    issue = find_traceback_lines(agent_input, passage.span.path) if parsed.traces else parsed.body
    quoted = [line for line in lines if len(line) >= MIN_QUOTE_CHARS and line in issue]
    code = [line for line in lines if not _COMMENT_LINE.match(line)]
    named = [line for line in code if (passage.symbol or "").rpartition(".")[2] in line]
    return max(quoted, key=len) if quoted else next(iter([*named, *code, *lines]), None)


def estimate_confidence(hits: Sequence[Hit]) -> float:
    """Return the probability that the first hit is right, rounded down, since a promise is worse than a doubt.

    At most 0.95, because the fault may be outside of the repository.
    """
    probability = min(MAX_CONFIDENCE, hits[0].probability if hits else 0.0)
    return round(probability * 10_000) // 100 / 100
