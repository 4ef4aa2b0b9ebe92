"""Quoted code: lines of the report that stand in one file of the sources."""

import re
from collections.abc import Iterator

from triage.code.leads.lead import Lead
from triage.code.rank.query_scores import QueryScores, find_highest
from triage.code.words.tokens import find_words, split_into_terms
from triage.domain.issue import ParsedIssue

_MAX_LINES = 60
_MAX_CHUNKS = 15
"""Best chunks by a line's words, whose files are read."""
_MIN_WORDS, _MIN_CHARS = 3, 20
_COMMON = re.compile(
    r"^(?:(?:import|from|#include|using|package|export|return|def __init__)\b|@|#|//|\*|const \w+ = require|>>>|\W*$)"
)
_MARK = re.compile(r"^(?:[-+]\s|\d+\s*[:|]?\s+|>\s)")
"""Before a line of a diff, a numbered or a cited line."""
_INLINE = re.compile(r"`([^`\n]{15,200})`")


def find_quoted_code(query_scores: QueryScores, parsed: ParsedIssue) -> Iterator[Lead]:
    """Yield the file with most lines that the report shows and only one file has."""
    found: dict[int, list[tuple[int, str]]] = {}
    for text in _list_lines(parsed):
        places = _find_line(query_scores, text)
        if len(places) == 1:
            ((file, line),) = places
            found.setdefault(file, []).append((line, text))
    if not found:
        return
    file = max(found, key=lambda one: len(found[one]))
    line, text = max(found[file], key=lambda one: len(one[1]))
    yield Lead("quoted code", file, line, text)


def _list_lines(parsed: ParsedIssue) -> list[str]:
    paths = {frame.path for trace in parsed.traces for frame in trace.frames}
    # A trace shows lines of every call, which `frame` reads.
    blocks = "\n".join(block.text for block in parsed.code if not any(path in block.text for path in paths))
    raw = [*blocks.splitlines(), *_INLINE.findall(parsed.prose), *parsed.prose.splitlines()]
    lines = (_MARK.sub("", line.strip()).strip() for line in raw)
    return list(dict.fromkeys(line for line in lines if _is_telling(line)))[:_MAX_LINES]


def _is_telling(line: str) -> bool:
    return (
        len(line) >= _MIN_CHARS
        and len(find_words(line)) >= _MIN_WORDS
        and not _COMMON.search(line)
        and re.search(r"[=(){}\[\];:.]", line) is not None
    )


def _find_line(query_scores: QueryScores, text: str) -> list[tuple[int, int]]:
    corpus = query_scores.corpus
    terms = {term for word in find_words(text) for term in split_into_terms(word)}
    numbers = (corpus.vocabulary.find_number(term) for term in terms)
    scores = corpus.by_chunk.score_documents({number: 1.0 for number in numbers if number is not None})
    files = dict.fromkeys(int(corpus.chunk_files[chunk]) for chunk in find_highest(scores, _MAX_CHUNKS))
    wanted = "".join(text.split())
    return [
        (file, number)
        for file in files
        if corpus.files[file].role.is_product_code
        for number, line in enumerate(query_scores.file_lines(file), 1)
        if len(line) < 1_000 and "".join(line.split()) == wanted
    ]
