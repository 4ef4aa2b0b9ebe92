"""Leads: places that a fact of the report leads to, each found by a rule of its own.

How sure a lead is comes from measuring (`python -m bench.leads`). A file that the reporter points at is surer than the
ranking. Any other lead is as sure as the ranking is of its file, and only in the first file: of twelve traces, messages
and quoted lines in other files two were right.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from triage.code.leads.frame import find_executed_lead, find_frame_leads
from triage.code.leads.lead import Lead, Rule
from triage.code.leads.message import find_message_leads, find_quoted_code
from triage.code.leads.reported_place import find_name_lead, find_reported_places
from triage.code.rank.query_scores import QueryScores
from triage.code.rank.ranking import Ranking
from triage.code.rank.reasons import is_distinctive
from triage.code.rank.snippets import COMMENT, choose_chunks, skip_docstring
from triage.code.words.corpus import Corpus
from triage.code.words.tokens import find_words
from triage.domain.code import BestPlace, Caller, LikelyFiles, MatchSource, Span
from triage.domain.issue import ParsedIssue

REPORTED_CHANCE = 0.8
"""Of a file to which the reporter links, or names with a line: right in 15 of 17 reports."""
MAX_LIKELY = 3
"""Files that are named together. For 138 of 174 Python issues with history one to three are sure enough, and in 129 of
these the fix edits one of them; without a second and third file 80 had a place, and 70 of these were right."""
MIN_SHARED = 3
"""Distinctive words that a report has to share with the likeliest file."""
SURE = 0.9
"""Files that are so likely together need no further one."""
MIN_LIKELY_CHANCE, MIN_OTHER_CHANCE = 0.04, 0.1
"""A file that is less likely is not worth a look."""
MIN_CHANCE = 0.1
"""Of a file in which leads are looked for at all."""
LEAST_CHANCES: dict[MatchSource, float] = {"trace": 0.3, "message": 0.3, "quote": 0.3, "place": 0.5, "name": 0.7}
"""Of a file to be named, by what leads there. `python -m bench.leads` prints how often each is right."""
LEAST_TOGETHER = 0.6
"""Of at most three files, if none is sure enough alone."""
_POINTED: frozenset[Rule] = frozenset({"link", "place"})
"""Rules by which the reporter points at a file."""
_SIGNS: dict[Rule, MatchSource] = {
    "link": "place",
    "place": "place",
    "executed": "trace",
    "frame": "trace",
    "message": "message",
    "log line": "message",
    "quoted code": "quote",
    "path": "place",
    "name": "name",
}
"""What each rule is called in a report."""
MAX_SHOWN_LINES = 20
"""A function that is not longer is shown whole."""
LINES_AROUND = 3
"""Shown above and below the line of a trace or message, in a longer function."""
_WINDOW = 12
_JAVADOC = re.compile(r"/\*\*|\*|@\w")


def put_reported_first(ranking: Ranking, parsed: ParsedIssue, repository: str) -> Ranking:
    """Return the ranking with the files first that the reporter points at. No other file is likelier than they are.

    `repository` is `owner/name`, or the folder's name: links into others lead nowhere.
    """
    pointed = _list_pointed(ranking.query_scores, parsed, repository)
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


def _list_pointed(query_scores: QueryScores, parsed: ParsedIssue, repository: str) -> list[int]:
    reported = find_reported_places(query_scores, parsed, repository)
    files = query_scores.corpus.files
    # Of a test, a trace counts only if the title names it: then the report is about the test.
    failing = (lead.file for lead in find_frame_leads(query_scores, parsed) if files[lead.file].role.is_test)
    return list(dict.fromkeys([*(lead.file for lead in reported if lead.rule in _POINTED), *failing]))


def find_place(ranking: Ranking, parsed: ParsedIssue, repository: str) -> BestPlace | None:
    """Return the place of the first file's surest lead; None if no lead is there, or the file is not sure enough.

    `ranking` has the files first that the reporter points at.
    """
    file = next(iter(ranking.order), None)
    # An issue may name a file without lines, and a trace may lead there.
    if file is None or not ranking.query_scores.file_lines(file):
        return None
    chance = ranking.probabilities[file]
    if chance < MIN_CHANCE:
        return None  # before any source is read
    lead = next((lead for lead in _find_leads(ranking, parsed, repository, file) if lead.file == file), None)
    if lead is None:
        return None
    place = _make_place(lead, ranking, chance)
    return place if place.is_fact or chance >= LEAST_CHANCES[place.sign] else None


def choose_likely_files(ranking: Ranking, best: BestPlace | None) -> LikelyFiles | None:
    """Return the first file, and the next ones until they are sure together.

    None if they are less likely than `LEAST_TOGETHER`, unless the `best` place is likely alone.
    """
    least = 0.0 if best and best.is_likely_alone else LEAST_TOGETHER
    # Where the reporter points at a file, another one needs more than a few shared words.
    min_chance = MIN_OTHER_CHANCE if best and best.sign == "place" else MIN_LIKELY_CHANCE
    corpus = ranking.query_scores.corpus
    files = [corpus.file_numbers[best.span.path]] if best else []
    product = (file for file in ranking.order if corpus.files[file].role.is_product_code and file not in files)
    for file in islice(product, MAX_LIKELY - len(files)):
        sure = sum(ranking.probabilities[one] for one in files) >= SURE
        if sure or ranking.probabilities[file] < min_chance:
            break
        files.append(file)
    probability = sum(ranking.probabilities[file] for file in files)
    has_evidence = best is not None or (files and _has_evidence(ranking.query_scores, files[0]))
    if not has_evidence or probability < least:
        return None
    paths = [corpus.files[file].path for file in files]
    return LikelyFiles(paths=paths, probability=round(probability, 2))


def _has_evidence(query_scores: QueryScores, file: int) -> bool:
    """Return whether a report names a file, or shares enough words with it: of few words any file can have most."""
    if find_name_lead(query_scores, file):
        return True
    by_file = query_scores.corpus.by_file.explain_score(file, query_scores.term_weights)
    shared = (query_scores.terms[term] for term in by_file)
    return sum(is_distinctive(query_scores.corpus, term) for term in shared) >= MIN_SHARED


def _find_leads(ranking: Ranking, parsed: ParsedIssue, repository: str, file: int) -> Iterator[Lead]:
    """Yield leads, the surest rule first."""
    query_scores = ranking.query_scores
    reported = list(find_reported_places(query_scores, parsed, repository))
    yield from (lead for lead in reported if lead.rule in _POINTED)
    yield from chain(
        find_executed_lead(query_scores),
        find_frame_leads(query_scores, parsed),
        find_message_leads(query_scores, parsed),
        find_quoted_code(query_scores, parsed),
    )
    yield from (lead for lead in reported if lead.rule not in _POINTED)
    if named := find_name_lead(query_scores, file):
        yield named


def _make_place(lead: Lead, ranking: Ranking, chance: float) -> BestPlace:
    query_scores = ranking.query_scores
    corpus, lines = query_scores.corpus, query_scores.file_lines(lead.file)
    path = corpus.files[lead.file].path
    if lead.line is None:
        lead = lead if lead.span else _find_likely_lines(lead, ranking)
        start, end = choose_definition_lines(query_scores, lead.file, *(lead.span or (1, len(lines))))
        span = Span(path=path, start=start, end=end)
        return BestPlace(
            sign=_SIGNS[lead.rule], span=span, symbol=lead.symbol, text=lead.text, probability=round(chance, 2)
        )
    around = corpus.find_enclosing(lead.file, lead.line)
    start, end = choose_lines_around(lines, lead.line, (around.start, around.end) if around else None)
    return BestPlace(
        sign=_SIGNS[lead.rule],
        span=Span(path=path, start=start, end=end),
        line=lead.line,
        symbol=around.name if around else None,
        quote=lines[lead.line - 1].strip() or None,
        text=" ".join(lead.text.split()),
        calls_before_error=lead.calls_before_error,
        is_of_run=lead.rule == "executed",
        is_test=corpus.files[lead.file].role.is_test,
        caller=_make_caller(lead.caller, corpus) if lead.caller else None,
        probability=round(chance, 2),
    )


def _make_caller(caller: Lead, corpus: Corpus) -> Caller | None:
    if caller.line is None:
        return None
    around = corpus.find_enclosing(caller.file, caller.line)
    span = Span(path=corpus.files[caller.file].path, start=caller.line, end=caller.line)
    return Caller(span=span, symbol=around.name if around else None)


def _find_likely_lines(lead: Lead, ranking: Ranking) -> Lead:
    corpus = ranking.query_scores.corpus
    chunk = choose_chunks(ranking.query_scores, lead.file)[0]
    return replace(
        lead,
        span=(int(corpus.chunk_starts[chunk]), int(corpus.chunk_ends[chunk])),
        symbol=corpus.chunk_symbols[chunk] or None,
    )


def choose_lines_around(lines: Sequence[str], line: int, function: tuple[int, int] | None) -> tuple[int, int]:
    """Return the first and the last line to show of one that fails or is named: its function if that is short."""
    if function and function[1] - function[0] < MAX_SHOWN_LINES and function[0] <= line <= function[1]:
        return _skip_comment(lines, *function), min(function[1], len(lines))
    return max(1, line - LINES_AROUND), max(line, min(len(lines), line + LINES_AROUND))


def choose_definition_lines(query_scores: QueryScores, file: int, start: int, end: int) -> tuple[int, int]:
    """Return the lines to show of a definition: all of a short one, else those with most words of the report."""
    lines = query_scores.file_lines(file)
    end = min(end, len(lines))
    body = skip_docstring(lines, _skip_comment(lines, start, end), end)
    if end - body < MAX_SHOWN_LINES:
        return body, end
    wanted = {word.lower() for word in query_scores.query.code_words | query_scores.query.title_words}
    wanted -= {word.lower() for word in find_words(lines[body - 1])}  # the definition's own name
    hits = [len(wanted.intersection(word.lower() for word in find_words(lines[at - 1]))) for at in range(body, end + 1)]
    sums = [sum(hits[at : at + _WINDOW]) for at in range(len(hits) - _WINDOW + 1)]
    first = body + sums.index(max(sums))
    return first, first + _WINDOW - 1


def _skip_comment(lines: Sequence[str], start: int, end: int) -> int:
    """Return the first line of a definition behind the comment above it."""
    for number in range(start, end + 1):
        text = lines[number - 1].strip()
        if text and not COMMENT.match(text) and not _JAVADOC.match(text):
            return number
    return start
