"""Message and quoted code: where the sources have a text that an error, a log line or the report itself shows."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from triage.domain.code import LeadRule
from triage.domain.issue import ParsedIssue
from triage.find.leads.lead import Lead
from triage.find.rank.search import Search, find_highest
from triage.find.rank.snippets import blank_comments
from triage.find.words.corpus import File
from triage.find.words.tokens import find_terms, find_words
from triage.read.text_signs import SAYS_FAILURE

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
    r"""(?<!\\)"((?:[^"\\\n]|\\.|\\\n){6,400}+)"|(?<!\\)'((?:[^'\\\n]|\\.){6,400}+)'|`([^`\n]{6,400}+)`|>([^<>\n]{6,400}+)</"""
    r"""|(?i:assert)\w{0,20} ?\(([^"'`;\n]{6,400}?)\);"""
)
"""A string of most languages, the text of an XML element, as resource files have it, or what C prints of an assertion.

None begins at an escaped quote: a long string has thousands of them.
"""
_BEFORE_COMPARED = re.compile(
    r"(?:[!=]==?|(?<!\w)(?:case|when|in)|(?i:equals?|eql|starts?_?with|ends?_?with|has_?prefix|has_?suffix|contains|includes"
    r"|index_?of|str\w{0,4}cmp|str\w{0,4}str)\w{0,20}(?:\([^()\n;]{0,60})?)[\s(\[{&]{0,4}$"
)
_AFTER_COMPARED = re.compile(r"[\s)]{0,3}(?:[!=]==?|(?:not )?in\b)")
"""Around a literal that the program only compares with what somebody else says."""
_BEFORE_CHARS = 80
_INTERPOLATED = r"\([A-Za-z_$][^()\n\\]{0,100}(?:\([^()\n\\]{0,50}\)[^()\n\\]{0,50}){0,5}\)"
"""Behind a backslash, in Swift. A pattern such as `\\(total\\)` has one before the end too."""
_PLACEHOLDER = re.compile(
    r"%\(\w{1,50}\)[#0\- +]{0,5}\d{0,5}(?:\.\d{1,3})?[a-zA-Z]"
    r"|%(?:\d\$)?[#0\- +]{0,5}\d{0,5}(?:\.\d{1,3})?(?:ll|l|z|h)?[@dioxXeEfFgGcrsSavqTpwu]"
    r"|[#$]?\{[^{}\n]{0,100}\}|\$[A-Za-z_]\w{0,50}|\\[nrt]"
    rf"|\\{_INTERPOLATED}"
)
_VALUE_FIRST = re.compile(rf"\s*(?:{_PLACEHOLDER.pattern})")
_VALUE_LAST = re.compile(rf"(?:{_PLACEHOLDER.pattern})\W*$")
_MAX_OUTER_CHARS = 80
"""Of a value before a text, which any message ends in."""
_FAILED = re.compile(r"(?i)\b(?:warn(?:ing)?|error|err|fatal|critical|severe|panic)\b")
_PREFIX = re.compile(r"^(?:\[[^\]]{1,40}\]:?\s*|\w[\w ]{0,20}:\s+|Exception has occurred\.\s+)+")
"""Of a title, before what it says."""
_ESCAPED = re.compile(rf"\\(?![nrt]|{_INTERPOLATED})(.)")
_OF_EVERYBODY = re.compile(
    r"(?i)has no attribute|most recent call last|above exception was the direct|of the above exception"
    r"|positional arguments?|unexpected keyword argument|index out of range|no module named|is not defined"
    r"|is not (?:callable|iterable|subscriptable|a function)|cannot (?:import name|read propert)|undefined method"
    r"|null pointer|unsupported operand|no such file or directory|does not exist|already exists|not found"
    r"|(?:permission|access) (?:is |was )?denied|is not allowed(?: to do this)?|out of memory|no space left on device"
    r"|connection (?:\w+ ){0,4}(?:refused|reset|closed|timed out)|address already in use|internal server error"
)
"""What languages and systems say of themselves: sources that repeat it are rarely where a message comes from."""
_LAST_ADDRESS = re.compile(r" ?https?://\S*$")
_LINE_END = "\x01"
"""Stands for a line end between two joined literals."""
_RESOURCE = re.compile(r"\.(?:json|ya?ml|xml|resx|xliff?|strings|toml)$")
_MAX_QUOTES = 20
_MIN_LOG_WORDS = 4
_MIN_LOG_SHARE = 0.5
"""Of a line of a log or the title, which nobody said to be a message."""
_WHOLE = 0.95
"""Of a title that is a message: a full stop may be its own."""
_MAX_LINES = 60
_MAX_LINE_CHUNKS = 15
"""Best chunks by a line's words, whose files are read."""
_COMMON = re.compile(
    r"^(?:(?:import|from|#include|using|package|export|return|def __init__)\b|@|#|//|\*|const \w+ = require|>>>|\W*$)"
)
_MARK = re.compile(r"^(?:[-+]\s|\d+\s*[:|]?\s+|>\s)")
"""Before a line of a diff, a numbered or a cited line."""
_INLINE = re.compile(r"`([^`\n]{15,200})`")
_CODE_SIGN = re.compile(r"[={}\[\];]|\w\(")
_PROSE_WORD = re.compile(r"(?<!\S)(?:the|an?|of|to|was|has|be|been|that|this|you|your|we)(?=[,.!?]?(?:\s|$))", re.I)
"""Two of them, outside strings, in a line without such signs are prose, as of a banner that the program prints."""


@dataclass(frozen=True, slots=True)
class MessagePlace:
    file: int
    line: int
    text: str
    """As the source has it."""
    chars: int
    """Without placeholders."""


def find_message_leads(search: Search, parsed: ParsedIssue) -> Iterator[Lead]:
    """Yield the place of each text that one file has: of messages, and of lines of logs and the title."""
    quotes = [phrase for phrase in search.query.phrases if " " in phrase][:_MAX_QUOTES]
    messages = [*parsed.stated_errors, *filter(says_failure, quotes)]
    yield from _make_leads("message", find_message_places(search, messages, fragments=quotes), search, parsed.text)
    title = _PREFIX.sub("", parsed.title)
    stated = [parsed.title, title] if says_failure(parsed.title) else []
    titled = find_message_places(search, stated, _WHOLE)
    # Behind a short text the title goes on in the reporter's words.
    titled = [places for places in titled if 2 * places[0].chars >= len(title)]
    yield from _make_leads("message", titled, search, parsed.text)
    # A log tells much that is well, and who quotes a text may want another one.
    lines = (line.strip() for block in parsed.code for line in block.text.splitlines())
    logged = [line for line in lines if says_failure(line) and len(find_words(line)) >= _MIN_LOG_WORDS]
    logged = [*(one for one in quotes if one not in messages), *logged][:_MAX_MESSAGES]
    found = find_message_places(search, [title, *logged], _MIN_LOG_SHARE, [title, *quotes])
    yield from _make_leads("log line", found, search, parsed.text)


def says_failure(text: str) -> bool:
    return _FAILED.search(text) is not None or SAYS_FAILURE.search(text) is not None


def _make_leads(rule: LeadRule, found: Iterable[Sequence[MessagePlace]], search: Search, report: str) -> Iterator[Lead]:
    """Yield a lead for each message whose longest text one file alone has, and not the reporter's code."""
    for places in found:
        longest = max(places, key=lambda one: one.chars)
        # The reporter's code has the text with its placeholders: their program says it, and ours has a copy.
        is_theirs = longest.text in report and _PLACEHOLDER.search(longest.text) is not None
        # A library may assert the same: the file is named beside what failed.
        if re.search(rf"(?i)assert\w* ?\({re.escape(longest.text)}", search.file_lines(longest.file)[longest.line - 1]):
            failed = " ".join(re.findall(r"(?i).*\bassert\w* (?:fail|[`'‘]).*", report))
            is_theirs = search.corpus.files[longest.file].path.split("/")[-1] not in re.findall(r"[\w.-]+", failed)
        if len({place.file for place in places}) == 1 and not is_theirs:
            text = " ".join(longest.text.removesuffix("\\n").split())
            yield Lead(rule, longest.file, longest.line, text, copies=len(places))


def find_message_places(
    search: Search, messages: Iterable[str], min_share: float = _MIN_SHARE, fragments: Sequence[str] = ()
) -> list[list[MessagePlace]]:
    """Return, for each message that product code holds, the places with the longest text of it.

    A message that several files hold has a place in each of them. The last link of a chain counts too.
    Each of `fragments` may be a part of a longer text.
    """
    # A log of JSON doubles each backslash.
    whole = [" ".join(message.replace("\\\\", "\\").split())[:_MAX_MESSAGE_CHARS] for message in messages]
    shown = list(dict.fromkeys(whole))[:_MAX_MESSAGES]
    found = dict.fromkeys(file for message in shown for file in _find_files(search, message, _MAX_CHUNKS))
    files = [file for file in found if may_say(search.corpus.files[file])]
    everything = ".\n".join([*shown, ""])
    longest: dict[str, list[MessagePlace]] = {}
    for file in files:
        for line, literal in find_literals("\n".join(blank_comments(search.file_lines(file)))):
            parts = split_at_placeholders(literal)
            if not is_distinctive_text(parts):
                continue
            place = MessagePlace(file, line, literal, sum(map(len, parts)))
            is_part = parts[0] in everything
            for message in shown:
                links = (message, message.rpartition(": ")[2]) if is_part else ()
                share = max((measure_share(link, literal, parts) for link in links), default=0.0)
                share = max(share, message in fragments and _is_part(message, parts[0]))
                best = longest.get(message, [])
                if share >= min_share and (not best or place.chars >= best[0].chars):
                    longest[message] = [*best, place] if best and place.chars == best[0].chars else [place]
    return list(longest.values())


def _find_files(search: Search, text: str, max_chunks: int) -> list[int]:
    """Return the files of the chunks that fit the words of a text best."""
    corpus = search.corpus
    scores = corpus.by_chunk.score_documents(corpus.vocabulary.number_terms(dict.fromkeys(find_terms(text), 1.0)))
    return list(dict.fromkeys(int(corpus.chunk_files[chunk]) for chunk in find_highest(scores, max_chunks)))


def may_say(file: File) -> bool:
    role = file.role
    return role.is_product_code or not (role.is_test or role.is_auxiliary or not _RESOURCE.search(file.path))


def find_literals(text: str) -> Iterator[tuple[int, str]]:
    """Return the string literals of a source that it may print, with their lines.

    Those are joined that stand one after another.
    """
    joined = _BETWEEN_JOINED.sub(lambda match: _LINE_END * match[0].count("\n"), text)
    line, position = 1, 0
    for match in _LITERAL.finditer(joined):
        line += joined.count("\n", position, match.start()) + joined.count(_LINE_END, position, match.start())
        position = match.start()
        before = joined[max(0, position - _BEFORE_CHARS) : position].rpartition("\n")[2]
        if _BEFORE_COMPARED.search(before) or _AFTER_COMPARED.match(joined, match.end()):
            continue
        yield line, next(filter(None, match.groups())).replace(_LINE_END, "").replace("\\\n", "")


def split_at_placeholders(literal: str) -> list[str]:
    """Return the fixed parts of a format string, with single blanks between words, each without an address at its end.

    Who quotes a message leaves out where to read on.
    """
    # The last link of a chain begins behind a colon, as in `%s: no store`.
    parts = (" ".join(part.split()).lstrip(":;,").lstrip() for part in _PLACEHOLDER.split(_ESCAPED.sub(r"\1", literal)))
    return [part for one in parts if (part := _LAST_ADDRESS.sub("", one))][: _MAX_PARTS + 1]


def is_distinctive_text(parts: Sequence[str]) -> bool:
    """Return whether the fixed parts of a format string are long enough to tell one place from another."""
    if not any(" " in part for part in parts):
        return False
    own = [_OF_EVERYBODY.sub(" ", part) for part in parts]
    words = sum(len(find_words(part)) for part in own)
    chars = sum(map(len, own))
    return len(parts) <= _MAX_PARTS and (words >= _MIN_WORDS or (words == _MIN_WORDS - 1 and chars >= _MIN_CHARS))


def measure_share(message: str, literal: str, parts: Sequence[str]) -> float:
    """Return the share of a message that a format string fills, without what its placeholders stand for.

    0 if the parts do not stand in it one after another, with a value between them.
    """
    whole = f"{message}."  # who quotes a message leaves out its full stop
    start = position = whole.find(parts[0])
    for part, following in pairwise(parts):
        if position < 0:
            return 0.0
        position += len(part)
        position = whole.find(following, position, position + _MAX_VALUE_CHARS + len(following))
    if position < 0:
        return 0.0
    end = min(position + len(parts[-1]), len(message))
    fixed = _ESCAPED.sub(r"\1", literal)
    outside = 0 if _VALUE_FIRST.match(fixed) and start <= _MAX_OUTER_CHARS else start
    outside += 0 if _VALUE_LAST.search(fixed) and len(message) - end <= _MAX_VALUE_CHARS else len(message) - end
    chars = sum(map(len, parts))
    return chars / (chars + outside)


def _is_part(message: str, text: str) -> bool:
    """Return whether a message is a telling part of a text, such as its first sentence."""
    is_long = len(find_words(message)) >= _MIN_LOG_WORDS and len(message) >= _MIN_SHARE * len(text)
    return is_long and message.rstrip(".") in text


def find_quoted_code(search: Search, parsed: ParsedIssue) -> Iterator[Lead]:
    """Yield the file with most lines that the report shows and only one file has."""
    found: dict[int, list[tuple[int, str]]] = {}
    for text in _list_code_lines(parsed):
        places = _find_line(search, text)
        if len(places) == 1:
            ((file, line),) = places
            found.setdefault(file, []).append((line, text))
    if not found:
        return
    file = max(found, key=lambda one: len(found[one]))
    line, text = max(found[file], key=lambda one: len(one[1]))
    yield Lead("quoted code", file, line, text)


def _list_code_lines(parsed: ParsedIssue) -> list[str]:
    """Return the lines of the report that only code would have, but for those of traces."""
    paths = {frame.path for trace in parsed.traces for frame in trace.frames}
    # A trace shows lines of every call, which `frame` reads.
    blocks = "\n".join(block.text for block in parsed.code if not any(path in block.text for path in paths))
    raw = [*blocks.splitlines(), *_INLINE.findall(parsed.prose), *parsed.prose.splitlines()]
    lines = (_MARK.sub("", line.strip()).strip() for line in raw)
    return list(dict.fromkeys(line for line in lines if _is_distinctive_code(line)))[:_MAX_LINES]


def _is_distinctive_code(line: str) -> bool:
    return (
        len(line) >= _MIN_CHARS
        and len(find_words(line)) >= _MIN_WORDS
        and not _COMMON.search(line)
        and (_CODE_SIGN.search(line) or len(_PROSE_WORD.findall(re.sub(r'"[^"]*"', "", line))) < 2)
        and re.search(r"[=(){}\[\];:.]", line) is not None
    )


def _find_line(search: Search, text: str) -> list[tuple[int, int]]:
    """Return file and number of each line of product code that is this text, whatever its blanks."""
    wanted = "".join(text.split())
    return [
        (file, number)
        for file in _find_files(search, text, _MAX_LINE_CHUNKS)
        if search.corpus.files[file].role.is_product_code
        for number, line in enumerate(search.file_lines(file), 1)
        if len(line) < 1_000 and "".join(line.split()) == wanted
    ]
