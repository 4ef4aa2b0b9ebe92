"""Leads: places that a fact of the report leads to, each found by a rule of its own.

The list is made once, whatever the ranking says. The ranking takes from it the files that the reporter points at.
How often each rule leads to the fix is measured (`python -m bench.leads`).
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import get_args

from triage.domain.code import MAX_PLACES, LeadRule, Place, PlaceSign, Span
from triage.domain.issue import ParsedIssue
from triage.find.leads.declared_name import find_declared_names
from triage.find.leads.frame import find_executed_lead, find_frame_leads
from triage.find.leads.lead import Lead
from triage.find.leads.message import find_message_leads, find_quoted_code
from triage.find.leads.reported_place import find_reported_places
from triage.find.leads.used_text import find_used_text
from triage.find.rank.ranking import Ranking
from triage.find.rank.search import Search
from triage.find.rank.snippets import COMMENT, choose_chunks, skip_docstring

REPORTED_CHANCE = 0.8
"""Of a file to which the reporter links, or names with a line: right in 15 of 17 reports."""
SURE = 0.9
"""Several such files share what one would have, up to this."""
_RULES: Sequence[LeadRule] = get_args(LeadRule)
_SIGNS: dict[LeadRule, PlaceSign] = {
    "executed": "trace",
    "frame": "trace",
    "message": "message",
    "log line": "message",
    "quoted code": "quote",
    "used": "use",
    "place": "place",
    "link": "place",
    "path": "place",
}
"""The kind of fact, a `sign`, that each rule goes by; for the others, `name`."""
MAX_SHOWN_LINES = 20
"""A function that is not longer is shown whole."""
LINES_AROUND = 3
"""Shown above and below the line of a trace or message, in a longer function."""
_JAVADOC = re.compile(r"/\*\*|\*|@\w")


def find_leads(search: Search, parsed: ParsedIssue, repository: str) -> list[Lead]:
    """Return all leads, the surest rule first.

    `repository` is `owner/name`, or the folder's name: links into others lead nowhere.
    """
    found = [
        *find_executed_lead(search),
        *find_frame_leads(search, parsed),
        *find_message_leads(search, parsed),
        *find_quoted_code(search, parsed),
        *find_reported_places(search, parsed, repository),
        *find_declared_names(search, parsed, repository),
    ]
    if not any(lead.rule in ("executed", "frame", "message") for lead in found):
        found += find_used_text(search, parsed)
    return sorted(found, key=lambda lead: _RULES.index(lead.rule))


def put_reported_first(ranking: Ranking, leads: Sequence[Lead]) -> Ranking:
    """Return the ranking with the files first that the reporter points at. No other file is likelier than they are."""
    pointed = list(dict.fromkeys(lead.file for lead in leads if _is_pointed_at(ranking.search, lead)))
    if not pointed:
        return ranking
    least = REPORTED_CHANCE / len(pointed)
    chances = {file: max(ranking.probabilities.get(file, 0.0), least) for file in pointed}
    # Several files share what one would have, and are named together.
    scale = min(1.0, SURE / sum(chances.values())) if len(chances) > 1 else 1.0
    chances = {file: chance * scale for file, chance in sorted(chances.items(), key=lambda one: -one[1])}
    rest = [file for file in ranking.order if file not in chances]
    least = min(chances.values())
    others = sum(ranking.probabilities[file] for file in rest)
    shrink = min(1.0, (1.0 - sum(chances.values())) / others) if others else 1.0
    return replace(
        ranking,
        order=[*chances, *rest],
        scores={**ranking.scores, **dict.fromkeys(chances, 1.0)},
        probabilities={**{file: min(least, shrink * ranking.probabilities[file]) for file in rest}, **chances},
    )


def _is_pointed_at(search: Search, lead: Lead) -> bool:
    """Return whether the reporter points at product code, or at a test of the title: then the report is about it."""
    file = search.corpus.files[lead.file]
    if file.role.is_test:
        return lead.rule == "frame" and file.stem in {word.lower() for word in search.query.title_words}
    return lead.rule in ("link", "place") and file.role.is_product_code


def choose_places(ranking: Ranking, leads: Sequence[Lead]) -> list[Place]:
    """Return the places of the surest leads, one of each file; within a rule by the ranking, logs in order."""
    ranks = {file: rank for rank, file in enumerate(ranking.order)}

    def rate(lead: Lead) -> tuple[int, int]:
        return _RULES.index(lead.rule), 0 if lead.rule == "log line" else ranks.get(lead.file, len(ranks))

    pointed = {lead.file: lead.line for lead in leads if lead.rule == "place" and lead.line}
    first: dict[int, Lead] = {}
    for lead in sorted(leads, key=rate):
        # Of a file beyond the limits of the index only the path is known.
        if ranking.search.file_lines(lead.file):
            first.setdefault(lead.file, lead)
    return [_make_place(lead, ranking, pointed.get(file)) for file, lead in islice(first.items(), MAX_PLACES)]


def _make_place(lead: Lead, ranking: Ranking, pointed_line: int | None) -> Place:
    """Return the place of a lead, as it is shown; `pointed_line` is one of its file to which the reporter points."""
    search = ranking.search
    corpus, lines = search.corpus, search.file_lines(lead.file)
    symbol, quote = lead.symbol, None
    if not lead.is_here:
        start = end = 1
    elif lead.line:
        around = corpus.find_enclosing(lead.file, lead.line)
        start, end = choose_lines_around(lines, lead.line, (around.start, around.end) if around else None)
        symbol, quote = around.name if around else None, lines[lead.line - 1].strip() or None
    else:
        span = lead.span
        if span is None:
            chunk = choose_chunks(search, lead.file)[0]
            span = int(corpus.chunk_starts[chunk]), int(corpus.chunk_ends[chunk])
        start, end = choose_definition_lines(lines, *span)
    return Place(
        sign=_SIGNS.get(lead.rule, "name"),
        rule=lead.rule,
        span=Span(path=corpus.files[lead.file].path, start=start, end=end),
        line=lead.line,
        symbol=symbol,
        quote=quote,
        text=" ".join(lead.text.split()),
        function=lead.function,
        is_here=lead.is_here,
        is_linked=bool(pointed_line and lead.line and abs(lead.line - pointed_line) <= LINES_AROUND),
        calls_before_error=lead.calls_before_error,
        is_of_run=lead.rule == "executed",
        error_maker=lead.error_maker,
        copies=lead.copies,
        probability=round(ranking.probabilities.get(lead.file, 0.0), 2),
    )


def choose_lines_around(lines: Sequence[str], line: int, function: tuple[int, int] | None) -> tuple[int, int]:
    """Return the first and the last line to show of one that fails or is named: its function if that is short."""
    if function and function[1] - function[0] < MAX_SHOWN_LINES and function[0] <= line <= function[1]:
        return _skip_comment(lines, *function), min(function[1], len(lines))
    return max(1, line - LINES_AROUND), max(line, min(len(lines), line + LINES_AROUND))


def choose_definition_lines(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """Return the lines to show of a definition: all of a short one, else its beginning, without its comments."""
    end = min(end, len(lines))
    body = skip_docstring(lines, _skip_comment(lines, start, end), end)
    return body, min(end, body + MAX_SHOWN_LINES - 1)


def _skip_comment(lines: Sequence[str], start: int, end: int) -> int:
    """Return the first line of a definition behind the comment above it."""
    for number in range(start, end + 1):
        text = lines[number - 1].strip()
        if text and not COMMENT.match(text) and not _JAVADOC.match(text):
            return number
    return start
