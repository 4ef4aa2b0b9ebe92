"""Message and quoted code: where the sources have a text that an error, a log line or the report itself shows."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from triage.code.leads.lead import Lead, Rule
from triage.code.rank.query_scores import QueryScores, find_highest
from triage.code.words.corpus import File
from triage.code.words.tokens import find_words, split_into_terms
from triage.domain.issue import ParsedIssue

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
_OF_INTERPRETERS = re.compile(
    r"(?i)object has no attribute|most recent call last|above exception was the direct|of the above exception"
    r"|positional arguments?|unexpected keyword argument|index out of range|no module named|is not defined"
    r"|is not (?:callable|iterable|subscriptable|a function)|cannot (?:import name|read propert)|undefined method"
    r"|null pointer|unsupported operand"
)
"""Messages that languages give themselves: sources that repeat them are rarely where they come from."""
_LINE_END = "\x01"
"""Stands for a line end between two joined literals."""
_RESOURCE = re.compile(r"\.(?:json|ya?ml|xml|resx|xliff?|strings|toml)$")
_MAX_QUOTES = 20
_MIN_LOG_WORDS = 4
_MIN_LOG_SHARE = 0.5
"""Of a line of a log or the title, which nobody said to be a message."""
_MAX_LINES = 60
_MAX_LINE_CHUNKS = 15
"""Best chunks by a line's words, whose files are read."""
_COMMON = re.compile(
    r"^(?:(?:import|from|#include|using|package|export|return|def __init__)\b|@|#|//|\*|const \w+ = require|>>>|\W*$)"
)
_MARK = re.compile(r"^(?:[-+]\s|\d+\s*[:|]?\s+|>\s)")
"""Before a line of a diff, a numbered or a cited line."""
_INLINE = re.compile(r"`([^`\n]{15,200})`")


@dataclass(frozen=True, slots=True)
class MessagePlace:
    file: int
    line: int
    text: str
    """As the source has it."""
    chars: int
    """Without placeholders."""


def find_message_leads(query_scores: QueryScores, parsed: ParsedIssue) -> Iterator[Lead]:
    """Yield the place of a text that one file has, of a message and of other lines: at most one each."""
    messages = [*(trace.message for trace in parsed.traces if trace.message), *parsed.error_messages]
    quotes = [phrase for phrase in query_scores.query.phrases if " " in phrase][:_MAX_QUOTES]
    yield from _lead_to("message", find_message_places(query_scores, [*messages, *quotes]))
    lines = [line.strip() for block in parsed.code for line in block.text.splitlines()]
    logged = [line for line in lines if len(find_words(line)) >= _MIN_LOG_WORDS][:_MAX_MESSAGES]
    yield from _lead_to("log line", find_message_places(query_scores, [*logged, parsed.title], _MIN_LOG_SHARE))


def _lead_to(rule: Rule, places: Sequence[MessagePlace]) -> Iterator[Lead]:
    longest: dict[int, MessagePlace] = {}
    for place in sorted(places, key=lambda one: -one.chars):
        longest.setdefault(place.file, place)
    if len(longest) == 1:
        (place,) = longest.values()
        yield Lead(rule, place.file, place.line, " ".join(place.text.split()))


def find_message_places(
    query_scores: QueryScores, messages: Iterable[str], min_share: float = _MIN_SHARE
) -> list[MessagePlace]:
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
                if is_longest and place.chars >= min_share * len(message) and contains_parts(message, parts):
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
    if any(_OF_INTERPRETERS.search(part) for part in parts):
        return False
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
    files = dict.fromkeys(int(corpus.chunk_files[chunk]) for chunk in find_highest(scores, _MAX_LINE_CHUNKS))
    wanted = "".join(text.split())
    return [
        (file, number)
        for file in files
        if corpus.files[file].role.is_product_code
        for number, line in enumerate(query_scores.file_lines(file), 1)
        if len(line) < 1_000 and "".join(line.split()) == wanted
    ]
