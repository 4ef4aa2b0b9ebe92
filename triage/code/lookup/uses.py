"""Finds where a function, a class or a constant is called, imported or mentioned."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from triage.code.lookup.assignments import Form, classify_line
from triage.code.lookup.line_scan import (
    Found,
    LineScan,
    clip_line,
    count_unlisted,
    find_definition_lines,
    make_match,
    match_word,
    split_name,
)
from triage.code.lookup.text_search import rank_role, spread
from triage.code.rank.snippets import COMMENT, DOCSTRING
from triage.code.words.corpus import Corpus
from triage.domain.code import LineMatches

KINDS = ("call", "subclass", "other use", "import")
_CALL, _SUBCLASS, _OTHER, _IMPORT = range(4)
_MAX_FOUND = 20_000
_MAX_SEARCHED_CHARS, _MAX_MATCHES = 2_000, 8
"""Of a line."""
_CALLED = re.compile(r"[!?]?(?:::)?(?:<[^<>()]{0,80}>|\[[^\[\]()]{0,80}\])?[!?.]?\s*\(|\s*!\s*[\[{(]|\s*`")
_CONSTRUCTED = re.compile(r"(?:\bnew|<|@)\s*$")
_DEFINED = re.compile(
    r"\b(?:def|class|fn|func|function|struct|enum|trait|type|interface|sub|fun|macro_rules!|record|protocol|module)\s+$"
)
_C_EXTENSIONS = (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".m", ".mm")
_PROTOTYPE = r"(?!(?:return|else|new|case|throw|goto)\b)[A-Za-z_][\w:<>,]*(?:[ \t*&]+[\w:<>,]+){0,8}[ \t*&]+"
"""A function's type, at the start of a line of C."""
_IMPORTED = re.compile(
    r"(?:pub )?(?:import|from|use|using|require(?:_once|_relative)?|#?\s*include(?:_once)?|export)\b"
    r"\s*[\w'\"<{*.@:/\\]|.*\brequire\("
)
_TRIPLE_QUOTES = ('"""', "'''")
_PYTHON_TOKEN = re.compile(r"#|\"\"\"|'''|\"(?:[^\"\\]|\\.){0,500}\"|'(?:[^'\\]|\\.){0,500}'")
_INHERITS = re.compile(
    r"(?:.{0,200}\b(?:extends|implements|with)\b"
    r"|\s*(?:@\w+\s+)*(?:(?:pub|public|abstract|final|export|default)\s+)*(?:class|struct|interface)\s[^:(<]{1,100}[:(<]"
    r"|\s*impl\b).*$"
)


def find_uses(corpus: Corpus, name: str, limit: int) -> LineMatches:
    """Return lines of code that use what has this name, those of product code and calls first.

    Of `Store.save` all uses of `save` count, since types are not known here; those in files that mention `Store` come
    first.
    """
    *owner, last = split_name(name)
    if not last:
        return LineMatches()
    scan, word = LineScan(corpus), match_word(last)
    owner_word = match_word(owner[-1]) if owner else None
    qualified = re.compile(rf"{re.escape(owner[-1])}\b.{{0,3}}{re.escape(last)}\b") if owner else word
    kinds = Counter[str]()
    by_file = Counter[int]()
    ranked: list[tuple[tuple[int, ...], Found]] = []
    for file, lines, numbers in scan.find_lines(last, word.search):
        if not corpus.files[file].role.is_code:
            continue
        uses = _find_in_file(corpus, last, file, lines, numbers, word)
        has_owner = owner_word is None or any(owner_word.search(line[:_MAX_SEARCHED_CHARS]) for line in lines)
        role = rank_role(corpus.files[file].role)
        for number, kind in uses:
            by_file[file] += 1
            kinds[KINDS[kind]] += 1
            if len(ranked) < _MAX_FOUND:
                line = clip_line(lines[number - 1], last)
                ranked.append(((role, qualified.search(line) is None, not has_owner, kind), (file, number, line)))
    listed = spread(ranked, limit)
    return LineMatches(
        lines=[make_match(corpus, one, last) for one in listed],
        total=kinds.total(),
        files=len(by_file),
        kinds={kind: kinds[kind] for kind in KINDS if kinds[kind]},
        not_listed=count_unlisted(corpus, by_file, listed),
        complete=scan.is_complete,
    )


def _find_in_file(
    corpus: Corpus, name: str, file: int, lines: Sequence[str], numbers: Sequence[int], word: re.Pattern[str]
) -> list[tuple[int, int]]:
    path = corpus.files[file].path
    code = find_code_lines(lines, is_python=path.endswith((".py", ".pyi", ".pyx")))
    numbers = [number for number in numbers if number in code]
    defined = find_definition_lines(corpus, name, file, numbers)
    prototype = re.compile(_PROTOTYPE + re.escape(name) + r"\s*\(") if path.endswith(_C_EXTENSIONS) else None
    for number in numbers:
        line = lines[number - 1][:_MAX_SEARCHED_CHARS]
        is_value = not line[:1].isspace() and classify_line(line, word, path) is Form.VALUE
        if is_value or (prototype is not None and prototype.match(line)):
            defined.add(number)
    kinds = [(number, classify_use(lines[number - 1], word, is_definition=number in defined)) for number in numbers]
    return [(number, kind) for number, kind in kinds if kind is not None]


def find_code_lines(lines: Sequence[str], *, is_python: bool) -> set[int]:
    """Return the numbers of the lines that do not begin inside a comment or a string of several lines."""
    found = set[int]()
    closing = ""
    for number, line in enumerate(lines, 1):
        text = line[:_MAX_SEARCHED_CHARS]
        start = 0
        if closing:
            end = text.find(closing)
            if end < 0:
                continue
            start, closing = end + len(closing), ""
        elif COMMENT.match(text.strip()) is None and not (is_python and DOCSTRING.match(text.strip())):
            found.add(number)
        closing = _find_open_string(text, start) if is_python else _find_open_comment(text, start)
    return found


def _find_open_string(text: str, start: int) -> str:
    """Return the quotes that close a string which begins in a line of Python and goes on below; empty without one."""
    while match := _PYTHON_TOKEN.search(text, start):
        if match[0] == "#":
            return ""
        start = match.end()
        if match[0] in _TRIPLE_QUOTES:
            end = text.find(match[0], start)
            if end < 0:
                return match[0]
            start = end + len(match[0])
    return ""


def _find_open_comment(text: str, start: int) -> str:
    opening = text.rfind("/*", start)
    is_open = opening >= 0 and "*/" not in text[opening + 2 :] and not text[:opening].rstrip().endswith(("'", '"', "`"))
    # Other than at the start of a line, it may be part of a string, such as a glob.
    return "*/" if is_open and not text[start:opening].strip() else ""


def classify_use(line: str, word: re.Pattern[str], *, is_definition: bool = False) -> int | None:
    """Return the number of a kind in `KINDS`; None for a line that only defines the name or comments on it.

    A definition may use the name too: `def save(self): return other.save()`.
    """
    text = line[:_MAX_SEARCHED_CHARS]
    is_import = _IMPORTED.match(text.lstrip()) is not None
    best: int | None = None
    for number, match in enumerate(islice(word.finditer(text), _MAX_MATCHES)):
        if number == 0 and (is_definition or _DEFINED.search(text[max(0, match.start() - 40) : match.start()])):
            continue
        kind = _IMPORT if is_import else _classify_place(text, match)
        best = kind if best is None else min(best, kind)
    return best


def _classify_place(text: str, match: re.Match[str]) -> int:
    if _INHERITS.match(text[: match.start()]):
        return _SUBCLASS
    if _CALLED.match(text, match.end()) or _CONSTRUCTED.search(text[max(0, match.start() - 10) : match.start()]):
        return _CALL
    return _OTHER
