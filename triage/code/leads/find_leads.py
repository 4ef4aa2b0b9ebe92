"""Leads: places that a fact of the report leads to, each found by a rule of its own, whatever the ranking says.

How sure a lead is comes from measuring (`python -m bench.leads`). A file that the reporter points at is surer than the
ranking. Any other lead is as sure as the ranking is of its file, and only in the first file: of twelve traces, messages
and quoted lines in other files two were right.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from triage.code.leads.frame import find_frame_leads
from triage.code.leads.lead import Lead, Rule
from triage.code.leads.message import find_message_leads
from triage.code.leads.name import find_name_leads
from triage.code.leads.quoted_code import find_quoted_code
from triage.code.leads.reported_place import find_reported_places
from triage.code.leads.shown_lines import choose_definition_lines, choose_lines_around
from triage.code.rank.ranking import Ranking
from triage.code.rank.snippets import choose_chunks
from triage.domain.code import BestPlace, MatchSource, Span
from triage.domain.issue import ParsedIssue
from triage.domain.project_config import Thresholds

REPORTED_CHANCE = 0.8
"""Of a file to which the reporter links, or names with a line: right in 15 of 17 reports."""
POINTED: frozenset[Rule] = frozenset({"link", "place"})
"""Rules by which the reporter points at a file."""
SIGNS: dict[Rule, MatchSource] = {
    "link": "place",
    "place": "place",
    "frame": "trace",
    "message": "message",
    "log line": "message",
    "quoted code": "quote",
    "path": "place",
    "name": "name",
}
"""What each rule is called in a report, the surest rule first."""


@dataclass(frozen=True)
class RatedLead:
    chance: float
    """That a fix edits the file, from 0 to 1."""
    may_be_named: bool
    """Whether it may be named: the file is the likeliest, or the reporter points at it."""
    lead: Lead
    """The surest of those that lead to the file."""


def rate_leads(ranking: Ranking, parsed: ParsedIssue, repository: str) -> list[RatedLead]:
    """Return one lead for each file that has one, those that may be named first, then likeliest first.

    `repository` is `owner/name`, or the folder's name: links into others lead nowhere.
    """
    query_scores = ranking.query_scores
    found = chain(
        find_reported_places(query_scores, parsed, repository),
        find_frame_leads(query_scores, parsed),
        find_message_leads(query_scores, parsed),
        find_quoted_code(query_scores, parsed),
        find_name_leads(ranking),
    )
    # An issue may name a file without lines, and a trace may lead there.
    with_text = [lead for lead in found if query_scores.file_lines(lead.file)]
    with_text.sort(key=lambda lead: (lead.file, list(SIGNS).index(lead.rule)))
    rated = [_rate(next(leads), ranking) for _, leads in groupby(with_text, key=lambda lead: lead.file)]
    return sorted(rated, key=lambda one: (not one.may_be_named, -one.chance))


def _rate(lead: Lead, ranking: Ranking) -> RatedLead:
    probability = ranking.probabilities.get(lead.file, 0.0)
    if lead.rule in POINTED:
        return RatedLead(max(probability, REPORTED_CHANCE), True, lead)
    return RatedLead(probability, ranking.order[:1] == [lead.file], lead)


def choose_place(ranking: Ranking, leads: Sequence[RatedLead], thresholds: Thresholds) -> BestPlace | None:
    """Return the place of the likeliest lead; None if it is not sure enough."""
    sure = (one for one in leads if one.may_be_named and one.chance >= thresholds.for_sign(SIGNS[one.lead.rule]))
    best = next(sure, None)
    return _make_place(best.lead, ranking, best.chance) if best else None


def put_reported_first(ranking: Ranking, parsed: ParsedIssue, repository: str) -> Ranking:
    """Return the ranking with the files first that the reporter points at. No other file is likelier than they are."""
    leads = find_reported_places(ranking.query_scores, parsed, repository)
    chances = {lead.file: _rate(lead, ranking).chance for lead in leads if lead.rule in POINTED}
    if not chances:
        return ranking
    rest = [file for file in ranking.order if file not in chances]
    least = min(chances.values())
    return replace(
        ranking,
        order=[*chances, *rest],
        scores={**ranking.scores, **dict.fromkeys(chances, 1.0)},
        probabilities={**{file: min(least, ranking.probabilities[file]) for file in rest}, **chances},
    )


def _make_place(lead: Lead, ranking: Ranking, chance: float) -> BestPlace:
    query_scores = ranking.query_scores
    corpus, lines = query_scores.corpus, query_scores.file_lines(lead.file)
    path = corpus.files[lead.file].path
    if lead.line is None:
        lead = lead if lead.span else _find_likely_lines(lead, ranking)
        start, end = choose_definition_lines(query_scores, lead.file, *(lead.span or (1, len(lines))))
        span = Span(path=path, start=start, end=end)
        return BestPlace(
            sign=SIGNS[lead.rule], span=span, symbol=lead.symbol, text=lead.text, probability=round(chance, 2)
        )
    around = corpus.find_enclosing(lead.file, lead.line)
    start, end = choose_lines_around(lines, lead.line, (around.start, around.end) if around else None)
    return BestPlace(
        sign=SIGNS[lead.rule],
        span=Span(path=path, start=start, end=end),
        line=lead.line,
        symbol=around.name if around else None,
        quote=lines[lead.line - 1].strip() or None,
        text=" ".join(lead.text.split()),
        calls_before_error=lead.calls_before_error,
        probability=round(chance, 2),
    )


def _find_likely_lines(lead: Lead, ranking: Ranking) -> Lead:
    corpus = ranking.query_scores.corpus
    chunk = choose_chunks(ranking.query_scores, lead.file)[0]
    return replace(
        lead,
        span=(int(corpus.chunk_starts[chunk]), int(corpus.chunk_ends[chunk])),
        symbol=corpus.chunk_symbols[chunk] or None,
    )
