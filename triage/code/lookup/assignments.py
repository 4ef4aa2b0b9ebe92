"""Finds where a constant, an attribute, a field or a key gets its value, by the form of the line.

The ranking does not know these: its definitions are functions and types.
"""

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum

from triage.code.files.languages import detect_language
from triage.code.lookup.line_scan import MAX_LINE_CHARS, LineScan, match_word, split_name
from triage.code.lookup.text_search import rank_role
from triage.code.rank.snippets import COMMENT
from triage.code.words.corpus import Corpus
from triage.domain.code import Passage, Span

MAX_ASSIGNMENTS = 20
MAX_VALUE_LINES = 40
_MAX_CANDIDATES = 2_000
_TEST_ROLE = 2
_MAX_SEARCHED_CHARS = 500
"""Of a line. Data and minified code assign nothing that has a meaning."""
_MAX_HEADER_LINES = 30

_PROSE = re.compile(r"\.(?:mdx?|rst|txt|adoc|html?|po)$")
_DEFINE = re.compile(r"#\s*define$|\b(?:define|attr_(?:accessor|reader|writer))\b.*[(:]['\"]?$")
_STATEMENT = re.compile(
    r"(?:return|if|elif|else|while|for|foreach|switch|throw|raise|assert|del|delete|goto|yield|await|import|from|package"
    r"|using|use|require|include|print|echo|new|not|and|or|in|is|case)\b"
)
_DECLARED = re.compile(r"(?:^|\s)(?:const|let|var|val|static|final|readonly|constexpr|extern|global|mut|define|set)\b")
_MODIFIERS = re.compile(
    r"(?:(?:pub\([\w: ]{1,60}\)|[\w.:<>*&\[\],$@!?-]+)\s+)*(?:\*+|&+|\$|@{1,2}|[\w$.]+(?:\.|->|::))?"
)
"""What stands before the name where a value is declared: modifiers, types, the object that has the attribute."""
_ASSIGNED = re.compile(
    r"(?P<dims>(?:\[[^\]]{0,80}\]\s*)*)(?:[?!]?\s*:(?!:|=)\s*(?P<type>[^=;]{1,120}?)|\s+[\w*\[][\w.*\[\]<>]{0,80})?"
    r"(?P<blank>\s*)(?::=|\?=|\|\|=|=)(?![=>~])"
)
_TUPLE = re.compile(r"(?:\s*,\s*[\w.]{1,80}){1,20}\s+=(?!=)")
_TYPED = re.compile(r"[?!]?\s*:(?![:=])\s*\S|\s*;|(?:\[[^\]]{0,80}\]\s*)+;")
_GO_FIELD = re.compile(r"\s+[\w.*\[\]]{1,80}(?:\s+`[^`]*`)?\s*(?://.*)?$")
_MEMBER = re.compile(r"\s*(?:[,({=;]|$|//|/\*)")
_KEY = re.compile(r"\s*(?::(?!:)|=>|=(?!=))")
_TYPE_HEADER = re.compile(
    r"(?:pub\([\w: ]{1,60}\)|[^(])*?\b"
    r"(?:(?:class|struct|enum|interface|trait|object|module|namespace|record|type|union|protocol|extension|mod)\s|impl\b)"
)
_C_FUNCTION = re.compile(r"[^(]*\b(?:struct|union|enum)\s+\w+[\s*]+\w+\s*\(")
"""A function that returns a struct."""
_ENUM_HEADER = re.compile(r"\benum\b|\bEnum\b")
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.){0,400}\"|'(?:[^'\\\n]|\\.){0,400}'|`[^`\n]{0,400}`")
_OPENING, _CLOSING = re.compile(r"[(\[{]"), re.compile(r"[)\]}]")


class Form(IntEnum):
    """How a line gives a name its value; the most telling form first."""

    VALUE = 0
    """A constant, a variable of a module, an attribute of a class, a member of an enum."""
    FIELD = 1
    """A type without a value."""
    OF_OBJECT = 2
    """`self.name = value`."""
    KEY = 3
    """`"name": value`."""
    LOCAL = 4


def find_assignments(corpus: Corpus, name: str) -> list[Passage]:
    """Return where a name gets its value, with enough lines to show it: at most 20, likely ones first.

    With an owner, as in `settings.DEBUG`, only what the owner has, if it has anything. Variables of a function, tests
    and documents count only if nothing else has the name.
    """
    *owner, last = split_name(name)
    if not last:
        return []
    word = match_word(last)
    found: list[tuple[int, int, int, int, str]] = []
    scan = LineScan(corpus)
    for file, lines, numbers in scan.find_lines(last, word.search):
        if _PROSE.search(corpus.files[file].path):
            continue
        role = rank_role(corpus.files[file].role)
        for number in numbers[: _MAX_CANDIDATES - len(found)]:
            form, symbol = _classify(corpus, file, lines, number, word)
            if form is not None:
                found.append((form, role, file, number, symbol))
    found = [one for one in found if _belongs(corpus, one, owner)] or found
    found = [one for one in found if one[0] != Form.LOCAL] or found
    found = [one for one in found if one[1] < _TEST_ROLE] or found
    return [
        _make_passage(corpus, file, number, f"{symbol}.{last}" if symbol else last)
        for _, _, file, number, symbol in sorted(found)[:MAX_ASSIGNMENTS]
    ]


def _belongs(corpus: Corpus, found: tuple[int, int, int, int, str], owner: Sequence[str]) -> bool:
    *_, file, _, symbol = found
    module = corpus.files[file].path.rpartition(".")[0].replace("/", ".")
    return not owner or f".{module}.{symbol}".rstrip(".").endswith("." + ".".join(owner))


def _classify(
    corpus: Corpus, file: int, lines: Sequence[str], number: int, word: re.Pattern[str]
) -> tuple[Form | None, str]:
    """Return the form, or none if the line gives no value, and the definition around it."""
    path = corpus.files[file].path
    form = classify_line(lines[number - 1], word, path)
    around = corpus.find_enclosing(file, number)
    if around is None:
        return form, ""
    header = "\n".join(_read_header(lines, around.start, number))
    if form is None and _ENUM_HEADER.search(header) and _is_member(lines[number - 1], word):
        form = Form.VALUE
    is_type = _TYPE_HEADER.match(header) is not None and _C_FUNCTION.match(header) is None
    is_local = not is_type and around.start != number
    if is_local and form in (Form.VALUE, Form.FIELD):
        form = Form.LOCAL
    return form, around.name


def _read_header(lines: Sequence[str], start: int, number: int) -> Iterator[str]:
    """Yield the line that begins a definition, without comments and decorators above it."""
    for line in lines[start - 1 : min(number - 1, start + _MAX_HEADER_LINES)]:
        text = line.strip()
        if text and not text.startswith(("#", "//", "/*", "*", "@", "--", '"""')):
            yield text[:_MAX_SEARCHED_CHARS]
            return


def classify_line(line: str, word: re.Pattern[str], path: str) -> "Form | None":
    """Return how a line gives a value to the first word that it has; None if it gives none."""
    match = word.search(line[:_MAX_SEARCHED_CHARS])
    if match is None:
        return None
    before, after = line[: match.start()].lstrip(), line[match.end() : _MAX_SEARCHED_CHARS]
    language = detect_language(path)
    name = language.name if language else ""
    if _DEFINE.search(before.rstrip()):
        return Form.VALUE
    if COMMENT.match(line.lstrip()):
        return None
    if before[-1:] in ("'", '"', "`") and before[-1:] == after[:1]:
        is_first = before[:-1].rstrip()[-1:] in ("", "{", ",", "[", "(", "-")
        return Form.KEY if is_first and _KEY.match(after, 1) else None
    if _STATEMENT.match(before) or not _is_declaration_start(before):
        return None
    assigned = _ASSIGNED.match(after)
    is_argument = assigned is not None and name == "Python" and not before and not assigned["blank"]
    if (assigned and not is_argument) or (name == "Python" and _TUPLE.match(after)):
        return Form.OF_OBJECT if before.endswith((".", "->")) else Form.VALUE
    if before.endswith((".", "->", "::")):
        return None
    return _classify_declaration(before, after, name, line)


def _classify_declaration(before: str, after: str, language: str, line: str) -> "Form | None":
    if not language:
        return Form.KEY if not before.strip("- ") and _KEY.match(after) else None
    if _TYPED.match(after):
        if language == "Python" and line.rstrip().endswith((",", "(", "{", "[")):
            return None
        is_statement_end = after.lstrip().startswith((";", "["))
        return Form.FIELD if not is_statement_end or before else None
    if language == "Go" and not before and _GO_FIELD.match(after):
        return Form.FIELD
    return Form.FIELD if _DECLARED.search(before) and _MEMBER.match(after) else None


def _is_declaration_start(before: str) -> bool:
    return len(before) <= 200 and _MODIFIERS.fullmatch(before) is not None


def _is_member(line: str, word: re.Pattern[str]) -> bool:
    match = word.search(line[:_MAX_SEARCHED_CHARS])
    return (
        match is not None
        and line[: match.start()].strip() in ("", "case", "|", "#[default]")
        and _MEMBER.match(line, match.end()) is not None
    )


def _make_passage(corpus: Corpus, file: int, number: int, symbol: str) -> Passage:
    lines = corpus.files[file].read_lines()
    end = find_value_end(lines, number)
    text = "\n".join(line[: 2 * MAX_LINE_CHARS] for line in lines[number - 1 : end])
    return Passage(span=Span(path=corpus.files[file].path, start=number, end=end), text=text, symbol=symbol)


def find_value_end(lines: Sequence[str], start: int) -> int:
    """Return the last line of the value that begins on a line: where its brackets are closed, at most 40 lines on."""
    depth = 0
    for number in range(start, min(len(lines), start + MAX_VALUE_LINES - 1) + 1):
        code = _STRING.sub('""', lines[number - 1][: 4 * _MAX_SEARCHED_CHARS])
        depth += len(_OPENING.findall(code)) - len(_CLOSING.findall(code))
        if depth <= 0 and not code.rstrip().endswith(("\\", "=")):
            return number
    return min(len(lines), start + MAX_VALUE_LINES - 1)
