"""Used text: what the output of a failure names that is not ours, and the place of the repository that uses it.

An error tells of a function that was removed, a value that is missing or a file that is not there. Where our code or a
template has that name is what has to change, and stands in no trace.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from triage.domain.issue import ParsedIssue
from triage.find.leads.lead import Lead
from triage.find.leads.message import may_say, says_failure
from triage.find.rank.reasons import is_project_name
from triage.find.rank.search import Search
from triage.find.rank.snippets import blank_comments
from triage.find.words.tokens import find_terms
from triage.read.text_signs import CODE_LINE

_MAX_ERRORS, _MAX_LINES, _MAX_LINE_CHARS = 30, 2_000, 1_000
_MAX_NAMES = 4
"""Of a line; one with more is data."""
_MAX_FILES = 2
"""With a name that leads to them."""
_MAX_CHUNKS = 60
"""With the words of a name; it may be written in few of them."""
_NAME = re.compile(
    r"[`'\"‘“<]([.@$\w][\w.$:/@-]{1,80}?)(?:\(\))?[`'\"’”>]|(?<![\w.$:/-])((?:[A-Za-z_]\w*(?:\.|::)){0,4}[A-Za-z_]\w{2,60})\(\)"
    r"|\b(?i:(?:find|undefined|unknown|no such) (?:function|method|symbol|variable)|is void|void-\w+):? "
    r"([A-Za-z_][\w/-]{2,80})"
)
"""Between quotation marks or brackets, with the brackets of a call, or behind what is missing."""
_SHAPED = re.compile(r"^\.\.?/\w|^\.?\w+(?:\.\w+){2}|[A-Za-z]_|_[A-Za-z]|[a-z][A-Z]|^[A-Z]{5,}$")
"""A name that is no word of a language: `filter_`, `pullSecrets`, `./lib/cart`, `.Values.image.tag`, `CONNECTING`."""
_FILE = re.compile(r"^[\w-]{2,60}\.[A-Za-z]\w{0,5}$")
_MISSING_FILE = re.compile(
    r"(?i)\bexist|\bno such file\b|\bnot found\b|\b(?:cannot|can['’]t|could not) (?:find|open|load|locate)\b"
)
_VOID = re.compile(r"(?i)\bis void\b|\bvoid-")
"""Of Lisp, whose names have hyphens."""
_MISSING_PACKAGE = re.compile(r"(?i)no module named|cannot find (?:module|package)|can['’]t resolve|could not resolve")
"""What is not installed is imported where it is needed."""
_ALSO_FAILURE = re.compile(r"(?i)\bdeprecat|\bremoved in\b|\bno longer\b|\bnil pointer\b")
_INLINE = re.compile(r"`([^`\n]{1,300})`")
_GUESS = re.compile(r"(?i)\b(?:did you mean|perhaps you meant|maybe you meant)\b")
"""What follows is the interpreter's guess."""
_OF_FILE = re.compile(r"\S+[:(]\d+\b")
"""A compiler's place: what it names is in that file."""
_MIN_WORDS = 4


def find_used_text(search: Search, parsed: ParsedIssue) -> Iterator[Lead]:
    """Yield the places that use what an error names, but for names in the reporter's own code."""
    code = [line.strip()[:_MAX_LINE_CHARS] for block in parsed.code for line in block.text.splitlines()][-_MAX_LINES:]
    stated, inline = parsed.stated_errors, _INLINE.findall(parsed.prose)[:_MAX_LINES]
    errors = dict.fromkeys([*stated, *filter(_tells_failure, [*inline, *code])])
    lines = [*inline, *code]
    reporter_code = "\n".join(
        line for line in lines if line not in errors and not any(error in line for error in stated)
    )
    of_file = [line for line in code if _OF_FILE.match(line)]
    for error in list(errors)[:_MAX_ERRORS]:
        said = _GUESS.split(error)[0]
        names = list(dict.fromkeys(next(filter(None, match.groups())) for match in _NAME.finditer(said)))
        for name in names if len(names) <= _MAX_NAMES and not any(error in line for line in of_file) else ():
            if name not in reporter_code and _is_telling(search, error, name):
                yield from _find_uses(search, name, names)


def _tells_failure(line: str) -> bool:
    is_told = says_failure(line) or _ALSO_FAILURE.search(line)
    return bool(is_told) and len(line.split()) >= _MIN_WORDS and not CODE_LINE.search(line) and line[-1] not in "{;("


def _is_telling(search: Search, error: str, name: str) -> bool:
    """Return whether a name of an error is no word, and neither a missing package nor defined here."""
    is_file = _FILE.match(name) and _MISSING_FILE.search(error)
    is_shaped = is_file or _SHAPED.search(name) or ("-" in name and _VOID.search(error))
    if not (name.startswith(".") if _MISSING_PACKAGE.search(error) else is_shaped):
        return False
    corpus, own = search.corpus, name if is_file else re.split(r"[.:/]", name)[-1]
    return own not in corpus.definitions and not is_project_name(corpus, own.lower())


def _find_uses(search: Search, name: str, names_of_error: Sequence[str]) -> Iterator[Lead]:
    """Yield the one or two files that have a name, with the lines that have most of those beside it in the error."""
    alone = [re.compile(rf"(?<![\w$.]){re.escape(one)}(?![\w$])") for one in names_of_error]
    member = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    uses = [
        (sum(pattern.search(line) is not None for pattern in alone), file, number)
        for file in _find_files(search, name)
        if may_say(search.corpus.files[file])
        for number, line in enumerate(blank_comments(search.file_lines(file)), 1)
        if member.search(line)
    ]
    most = max(uses, default=(0,))[0]
    best = [(file, number) for shared, file, number in uses if shared == most]
    if len({file for file, _ in best}) > _MAX_FILES:  # of many, that which the title names
        stems = {word.lower() for word in search.query.title_words}
        best = [one for one in best if search.corpus.files[one[0]].stem in stems]
    everywhere, first = Counter(file for _, file, _ in uses), dict(reversed(best))
    for file, lines in Counter(file for file, _ in best).items() if len(first) <= _MAX_FILES else ():
        yield Lead("used", file, first[file], name, copies=everywhere[file] if lines > 1 else 1)


def _find_files(search: Search, name: str) -> list[int]:
    """Return the files of the few chunks with all words of a name."""
    corpus = search.corpus
    numbers = map(corpus.vocabulary.find_number, find_terms(name))
    having = [{*corpus.by_chunk.find_documents(number).tolist()} for number in numbers]
    chunks = set.intersection(*having) if having else set[int]()
    return sorted({int(corpus.chunk_files[chunk]) for chunk in chunks}) if len(chunks) <= _MAX_CHUNKS else []
