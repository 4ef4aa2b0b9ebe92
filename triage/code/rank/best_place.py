"""Decides whether an issue leads to one place by more than words that it shares with the code.

A trace may end there, the issue may name it, or its text may be that of a message which the issue shows, with the
placeholders filled in.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from triage.code.rank.query_scores import QueryScores, find_highest
from triage.code.rank.ranking import Ranking
from triage.code.rank.snippets import choose_chunks, skip_docstring
from triage.code.words.corpus import DefinitionLocation, File
from triage.code.words.tokens import find_words, split_into_terms
from triage.domain.code import BestPlace, MatchSource, Span
from triage.domain.issue import ParsedIssue
from triage.domain.project_config import Thresholds

_MAX_MESSAGES = 30
_MAX_MESSAGE_CHARS = 600
_MAX_CHUNKS = 40
"""Best chunks by a message's words, whose files are read."""
_MAX_PARTS = 12
"""Between placeholders."""
_MAX_VALUE_CHARS = 300
"""That a placeholder stands for."""
_MIN_WORDS, _MIN_CHARS = 3, 20
"""A text with so many words, or with two words and so many characters, tells one place from another."""
_MIN_SHARE = 0.3
"""Of the message's characters, that the text has to cover."""
_BETWEEN_JOINED = re.compile(r"""(["'])(?:\s{0,200}+\+)?\s{0,200}+\\?\s{0,200}+[rbfuRBFU]{0,2}\1(?!\1)""")
"""Between two literals that the language joins. Possessive, or a gap costs the square of its blanks."""
_LITERAL = re.compile(
    r"""(?<!\\)"((?:[^"\\\n]|\\.){6,400}+)"|(?<!\\)'((?:[^'\\\n]|\\.){6,400}+)'|`([^`\n]{6,400}+)`|>([^<>\n]{6,400}+)</"""
)
"""A string of most languages, or the text of an XML element, as resource files have it.

None begins at an escaped quote: a long string has thousands of them.
"""
_PLACEHOLDER = re.compile(
    r"%\(\w{1,50}\)[#0\- +]{0,5}\d{0,5}(?:\.\d{1,3})?[a-zA-Z]"
    r"|%(?:\d\$)?[#0\- +]{0,5}\d{0,5}(?:\.\d{1,3})?(?:ll|l|z|h)?[@dioxXeEfFgGcrsavqTpwu]"
    r"|[#$]?\{[^{}\n]{0,100}\}|\$[A-Za-z_]\w{0,50}|\\[nrt]"
)
_ESCAPED = re.compile(r"\\(?![nrt])(.)")
_LINE_END = "\x01"
"""Stands for a line end between two joined literals."""
_RESOURCE = re.compile(r"\.(?:json|ya?ml|xml|resx|xliff?|strings|toml)$")
MIN_MENTION = 0.5
"""Score of a name or path: no more than two files have it."""
LINES_AROUND = 3
"""Shown above and below the line of a trace or message."""
MAX_DEFINITION_LINES = 10
_MIN_LINE_CHARS = 10
"""A shorter line of code may stand in an issue by chance."""
_MAX_MOVED_LINES = 60
"""How far a line of a trace is looked for: the reporter's version may be another."""
_MAX_QUOTES = 20


@dataclass(frozen=True, slots=True)
class MessagePlace:
    file: int
    line: int
    text: str
    """As the source has it."""
    chars: int
    """Without placeholders."""


def find_message_places(query_scores: QueryScores, messages: Iterable[str]) -> list[MessagePlace]:
    """Return, for each message that product code holds, the places with the longest text of it.

    A message that several files hold has a place in each of them.
    """
    shown = [" ".join(message.split())[:_MAX_MESSAGE_CHARS] for message in messages]
    shown = list(dict.fromkeys(shown))[:_MAX_MESSAGES]
    files = dict.fromkeys(file for message in shown for file in _find_files(query_scores, message))
    everything = "\n".join(shown)
    longest: dict[str, list[MessagePlace]] = {}
    for file in files:
        for line, literal in find_literals("\n".join(query_scores.file_lines(file))):
            parts = split_at_placeholders(literal)
            if not is_distinctive_text(parts) or parts[0] not in everything:
                continue
            place = MessagePlace(file, line, literal, sum(map(len, parts)))
            for message in shown:
                best = longest.get(message, [])
                is_longest = not best or place.chars >= best[0].chars
                if is_longest and place.chars >= _MIN_SHARE * len(message) and contains_parts(message, parts):
                    longest[message] = [*best, place] if best and place.chars == best[0].chars else [place]
    return list(dict.fromkeys(place for places in longest.values() for place in places))


def _find_files(query_scores: QueryScores, message: str) -> list[int]:
    corpus = query_scores.corpus
    terms = {term for word in find_words(message) for term in split_into_terms(word)}
    numbers = (corpus.vocabulary.find_number(term) for term in terms)
    scores = corpus.by_chunk.score_documents({number: 1.0 for number in numbers if number is not None})
    files = dict.fromkeys(int(corpus.chunk_files[chunk]) for chunk in find_highest(scores, _MAX_CHUNKS))
    return [file for file in files if corpus.files[file].role.is_product_code or _is_resource(corpus.files[file])]


def _is_resource(file: File) -> bool:
    return not (file.role.is_test or file.role.is_auxiliary) and bool(_RESOURCE.search(file.path))


def find_literals(text: str) -> Iterator[tuple[int, str]]:
    """Return the string literals of a source with their lines, those joined that stand one after another."""
    joined = _BETWEEN_JOINED.sub(lambda match: _LINE_END * match[0].count("\n"), text)
    line, position = 1, 0
    for match in _LITERAL.finditer(joined):
        line += joined.count("\n", position, match.start()) + joined.count(_LINE_END, position, match.start())
        position = match.start()
        yield line, next(filter(None, match.groups())).replace(_LINE_END, "")


def split_at_placeholders(literal: str) -> list[str]:
    """Return the fixed parts of a format string, with single blanks between words."""
    parts = (" ".join(part.split()) for part in _PLACEHOLDER.split(_ESCAPED.sub(r"\1", literal)))
    return [part for part in parts if part][: _MAX_PARTS + 1]


def is_distinctive_text(parts: Sequence[str]) -> bool:
    """Return whether the fixed parts of a format string are long enough to tell one place from another."""
    words = sum(len(find_words(part)) for part in parts)
    chars = sum(map(len, parts))
    return len(parts) <= _MAX_PARTS and (words >= _MIN_WORDS or (words == _MIN_WORDS - 1 and chars >= _MIN_CHARS))


def contains_parts(message: str, parts: Sequence[str]) -> bool:
    """Return whether the parts stand in the message one after another, with a value between them."""
    position = message.find(parts[0])
    for part, following in pairwise(parts):
        if position < 0:
            return False
        position += len(part)
        position = message.find(following, position, position + _MAX_VALUE_CHARS + len(following))
    return position >= 0


def find_best_place(ranking: Ranking, parsed: ParsedIssue, thresholds: Thresholds) -> BestPlace | None:
    """Return the place in the first file that a trace, a message or a name of the issue leads to; None without one.

    The chance is that of the ranking: that a fix edits the file.
    """
    file = ranking.order[0] if ranking.order else -1
    if file < 0 or not ranking.query_scores.corpus.files[file].role.is_product_code:
        return None
    probability = ranking.probabilities[file]
    if probability < thresholds.least_of_place:  # most issues end here, before any source is read
        return None
    if not ranking.query_scores.file_lines(file):  # an issue may name a file without lines, and a trace may lead there
        return None
    for find in (_find_by_trace, _find_by_message, _find_by_name):
        place = find(ranking.query_scores, file, parsed)
        if place and probability >= thresholds.for_sign(place.sign):
            return place.model_copy(update={"probability": round(probability, 2)})
    return None


def _find_by_trace(query_scores: QueryScores, file: int, parsed: ParsedIssue) -> BestPlace | None:
    mentions = query_scores.mentions
    mentioned = mentions.lines.get(file)
    if file not in mentions.innermost_frame_scores or not mentioned:
        return None
    trace = next(trace for trace in parsed.traces if trace.frames)
    text = ": ".join(part for part in (trace.exception, trace.message) if part)
    line = _find_shown_line(query_scores.file_lines(file), mentioned[0], parsed.body)
    place = _make_place("trace", query_scores, file, line, text)
    frame = mentions.frames.get(file)
    return place.model_copy(update={"calls_before_error": frame.calls_before_error if frame else 0})


def _find_shown_line(lines: Sequence[str], line: int, body: str) -> int:
    """Return the nearest line that the trace shows; the given one if it shows none."""
    first, last = max(1, line - _MAX_MOVED_LINES), min(len(lines), line + _MAX_MOVED_LINES)
    for number in sorted(range(first, last + 1), key=lambda one: abs(one - line)):
        text = lines[number - 1].strip()
        if len(text) >= _MIN_LINE_CHARS and text in body:
            return number
    return min(line, len(lines))


def _find_by_message(query_scores: QueryScores, file: int, parsed: ParsedIssue) -> BestPlace | None:
    messages = [*(trace.message for trace in parsed.traces if trace.message), *parsed.error_messages]
    quotes = [phrase for phrase in query_scores.query.phrases if " " in phrase][:_MAX_QUOTES]
    places = find_message_places(query_scores, [*messages, *quotes])
    if {place.file for place in places} != {file}:
        return None
    longest = max(places, key=lambda place: place.chars)
    return _make_place("message", query_scores, file, longest.line, longest.text)


def _find_by_name(query_scores: QueryScores, file: int, parsed: ParsedIssue) -> BestPlace | None:  # noqa: ARG001
    mentions, corpus = query_scores.mentions, query_scores.corpus
    scores = (mentions.path_scores, mentions.module_scores, mentions.title_stem_scores, mentions.definition_scores)
    if max(score.get(file, 0.0) for score in scores) < MIN_MENTION:
        return None
    named = _choose_definition(query_scores, file)
    if named:
        start, end, symbol, text = named.start, named.end, named.name, _name_as_mentioned(query_scores, named)
    else:
        chunk = choose_chunks(query_scores, file)[0]
        start, end = int(corpus.chunk_starts[chunk]), int(corpus.chunk_ends[chunk])
        symbol, text = corpus.chunk_symbols[chunk] or "", ""
    start = skip_docstring(query_scores.file_lines(file), start, end)
    span = Span(path=corpus.files[file].path, start=start, end=min(end, start + MAX_DEFINITION_LINES - 1))
    return BestPlace(sign="name", span=span, symbol=symbol or None, text=text)


def _choose_definition(query_scores: QueryScores, file: int) -> DefinitionLocation | None:
    """Return the mentioned definition of a file, rather one whose name no other definition there has."""
    mentioned = [one for one in query_scores.mentions.definitions.get(file, ()) if one[0] >= MIN_MENTION]
    names = Counter(location.name.rpartition(".")[2] for _, location in mentioned)

    def rate(one: tuple[float, DefinitionLocation]) -> tuple[bool, float, int]:
        score, location = one
        owner, _, name = location.name.rpartition(".")
        is_clear = names[name] == 1 or _is_mentioned(query_scores, owner)
        return is_clear, score, location.start

    return max(mentioned, key=rate, default=(0.0, None))[1]


def _name_as_mentioned(query_scores: QueryScores, location: DefinitionLocation) -> str:
    owner, _, name = location.name.rpartition(".")
    return location.name if _is_mentioned(query_scores, owner) else name


def _is_mentioned(query_scores: QueryScores, owner: str) -> bool:
    return owner.rpartition(".")[2] in query_scores.query.all_words


def _make_place(sign: MatchSource, query_scores: QueryScores, file: int, line: int, text: str) -> BestPlace:
    lines = query_scores.file_lines(file)
    around = query_scores.corpus.find_enclosing(file, line)
    start, end = max(1, line - LINES_AROUND), max(line, min(len(lines), line + LINES_AROUND))
    return BestPlace(
        sign=sign,
        span=Span(path=query_scores.corpus.files[file].path, start=start, end=end),
        line=line,
        symbol=around.name if around else None,
        quote=(lines[line - 1].strip() if line <= len(lines) else "") or None,
        text=" ".join(text.split()),
    )
