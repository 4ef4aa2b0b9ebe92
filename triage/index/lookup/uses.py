"""Finds where a function, a class or a constant is called, imported or mentioned."""

import re
from collections import Counter
from collections.abc import Sequence

from triage.domain.code import LineMatches
from triage.index.corpus.corpus import Corpus
from triage.index.lookup.assignments import Form, classify_line
from triage.index.lookup.line_scan import (
    Found,
    LineScan,
    clip_line,
    count_unlisted,
    find_definition_lines,
    make_match,
    match_word,
    split_name,
)
from triage.index.lookup.text_search import rank_role, spread
from triage.index.rank.snippets import number_code_lines

KINDS = ("call", "subclass", "other use", "import")
_CALL, _SUBCLASS, _OTHER, _IMPORT = range(4)
_MAX_FOUND = 20_000
_MAX_SEARCHED_CHARS = 2_000
"""Of a line."""
_CALLED = re.compile(r"[!?]?(?:::)?(?:<[^<>()]{0,80}>|\[[^\[\]()]{0,80}\])?[!?.]?\s*\(|\s*!\s*[\[{(]|\s*`")
_CONSTRUCTED = re.compile(r"(?:\bnew|<|@)\s*$")
_DEFINED = re.compile(
    r"\b(?:def|class|fn|func|function|struct|enum|trait|type|interface|sub|fun|macro_rules!|record|protocol|module)\s+$"
)
_IMPORTED = re.compile(
    r"(?:import|from|use|using|require\w*|include\w*|#\s*include|export\s+(?:\{|\*)|pub use)\b|.*\brequire\("
)
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
                rank = (role, not has_owner, kind)
                ranked.append((rank, (file, number, clip_line(lines[number - 1], last))))
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
    defined = find_definition_lines(corpus, name, file, numbers)
    path = corpus.files[file].path
    for number in numbers:
        line = lines[number - 1]
        if not line[:1].isspace() and classify_line(line, word, path) is Form.VALUE:
            defined.add(number)
    code = {number for number, _ in number_code_lines(lines)}
    kinds = [
        (number, classify_use(lines[number - 1], word, is_definition=number in defined))
        for number in numbers
        if number in code
    ]
    return [(number, kind) for number, kind in kinds if kind is not None]


def classify_use(line: str, word: re.Pattern[str], *, is_definition: bool = False) -> int | None:
    """Return the number of a kind in `KINDS`; None for a line that only defines the name or comments on it.

    A definition may use the name too: `def save(self): return other.save()`.
    """
    text = line[:_MAX_SEARCHED_CHARS]
    best: int | None = None
    for number, match in enumerate(word.finditer(text)):
        if number == 0 and (is_definition or _DEFINED.search(text[max(0, match.start() - 40) : match.start()])):
            continue
        kind = _classify_place(text, match)
        best = kind if best is None else min(best, kind)
    return best


def _classify_place(text: str, match: re.Match[str]) -> int:
    before = text[: match.start()]
    if _IMPORTED.match(text.lstrip()):
        return _IMPORT
    if _INHERITS.match(before):
        return _SUBCLASS
    if _CALLED.match(text, match.end()) or _CONSTRUCTED.search(before[-10:]):
        return _CALL
    return _OTHER
