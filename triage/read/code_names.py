"""Finds names from code and file paths in running text."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from triage.base.text import word_set
from triage.read.traces.traces import with_forward_slashes

_MAX_NAMES = 60
_MAX_PATHS = 60
_MAX_NAME_CHARS = 80
_MAX_LINE_CHARS = 2_000

EXTENSIONS = word_set(
    "py pyx pyi pxd ipynb js jsx mjs cjs ts tsx mts cts vue svelte java kt kts scala groovy clj go rs rb erb "
    "rake php phtml c h cc cpp cxx hpp hh "
    "hxx cs fs vb swift m mm dart ex exs erl hs lua pl pm r jl sh bash zsh ps1 bat sql html htm xml css scss "
    "sass less json jsonc yaml "
    "yml toml ini cfg conf env md rst txt lock gradle cmake proto graphql tf ml nim zig sol in tpl j2 jinja"
)
_AMBIGUOUS = frozenset({"m", "h", "c", "r", "in", "env"})
"""Extensions that a dotted name in code may end with too: only with a folder is it a path."""
_URL = re.compile(r"\b(?:https?|ftp|git|ssh)://[^\s<>\"'`]{1,2000}|\bwww\.[^\s<>\"'`]{1,2000}")
_BLOB = re.compile(r"/(?:blob|blame|tree|raw|edit)/[^/\s]{1,200}/([^\s#?<>\"'`()]{1,300})")
_BACKTICKED = re.compile(r"(`{1,2}) ?([^`\n]{1,200}?) ?\1(?!`)")
_TOKEN = re.compile(r"[^\s\"'`<>()\[\]{},;|*?=!&%^“”‘’«»]{3,300}")
_MAX_DEPTH = 16
_SEGMENT = re.compile(r"(?=[^A-Za-z_]{0,40}[A-Za-z_])[\w.-]{1,80}")
_POSITION_SUFFIX = re.compile(r"(?::\d{1,7}){1,2}$|[.:]+$")
_CODE_NAME = re.compile(
    r"(?<![\w.\-/@])(?:"
    r"--[a-z][a-z0-9]{1,30}(?:-[a-z0-9]{1,30}){0,6}"
    r"|@?[A-Za-z_$][\w$]{0,60}(?:(?:\.|::|->|#)[A-Za-z_$][\w$]{0,60}){1,8}(?:\(\))?"
    r"|[A-Za-z_$][\w$]{0,60}\(\)"
    r"|[A-Za-z_$][\w$]{1,60}(?![\w$])"
    r")"
)
_SHAPED = re.compile(
    r"^--|[.#:]|->|\(\)$|^__?[A-Za-z]|[A-Za-z0-9]_[A-Za-z0-9_]|[a-z][A-Z]|[A-Z]{2}[a-z]{2}\w*[A-Z]|^\$\w"
    r"|[a-z](?:Error|Exception|Warning)$"
)
_IN_CODE = re.compile(
    r"(?<![\w.])[A-Za-z_]\w{0,60}(?:(?:\.|::)[A-Za-z_]\w{0,60}){0,6}(?=\s?\()|"
    r"(?<![\w.])[A-Za-z_]\w{0,60}(?:(?:\.|::)[A-Za-z_]\w{0,60}){1,6}"
)
_DOMAIN = re.compile(r"(?i)^(?:[\w-]+\.)+(?:com|org|net|io|dev|edu|gov|co|uk|de|me|app)$")
_PLAIN = word_set(
    "github gitlab javascript typescript macos ios ipad iphone stackoverflow pycharm vscode youtube linkedin "
    "postgresql mysql mariadb sqlite "
    "mongodb graphql nodejs node.js next.js vue.js react.js asp.net i.e e.g i.e. e.g. etc latex wifi ebay openai "
    "devops iterm2 fastapi "
    "print print() len len() str() int() list() range() dict() set() super() main() __name__ __main__ "
    "self.assertequal console.log "
    "traceback none null nil true false undefined system.out.println fmt.println println"
)
_KEYWORDS = word_set(
    "if for while switch catch return function def class print assert import from with and or not in is new elif "
    "else except raise range len str int "
    "float list dict set tuple super isinstance type open repr sorted map filter zip enumerate sizeof typeof "
    "await async lambda func fn match "
    "require describe it expect"
)


def find_identifiers(title: str, prose: str, code: Sequence[str]) -> list[str]:
    """Names that look like code, at most 60: from the title, in backticks, in prose, then the most common in code."""
    prose = _URL.sub(" ", prose)
    ranked = [
        *_find_quoted_names(title),
        *_find_shaped_names(title),
        *_find_quoted_names(prose),
        *_find_shaped_names(prose),
        *_list_most_common(code),
    ]
    names = (name.rstrip(".:") for name in ranked)
    return list(dict.fromkeys(name for name in names if _is_name(name)))[:_MAX_NAMES]


def find_paths(texts: Iterable[str]) -> list[str]:
    """Return file paths as written, in order; of a link to a file on a code host, the path inside the repository."""
    found: dict[str, None] = {}
    for text in texts:
        for line in text.split("\n"):
            for path in _find_paths_in_line(line[:_MAX_LINE_CHARS]):
                found.setdefault(path)
        if len(found) > _MAX_PATHS:
            break
    return list(found)[:_MAX_PATHS]


def _find_paths_in_line(line: str) -> Iterable[str]:
    for url in _URL.findall(line):
        blob = _BLOB.search(url)
        if blob is not None:
            yield blob[1].rstrip(".,:/")
    for token in _TOKEN.findall(_URL.sub(" ", line)):
        path = _POSITION_SUFFIX.sub("", token.removeprefix("file://")).rstrip(".,:")
        if _is_path(with_forward_slashes(path)):
            yield path


def _is_path(token: str) -> bool:
    """Return whether a word is a path: it has the ending of a file, or several folders."""
    name = token.rsplit("/", 1)[-1]
    stem, dot, extension = name.rpartition(".")
    known = extension.lower() in (EXTENSIONS if "/" in token else EXTENSIONS - _AMBIGUOUS)
    if dot and stem and known and re.search(r"[A-Za-z_]", stem):
        return not re.search(r"[$@]{2}|\.\.\.|:\w|//", token) and token.lower() not in _PLAIN
    segments = token.lstrip("./").split("/")
    return 3 <= len(segments) <= _MAX_DEPTH and all(_SEGMENT.fullmatch(segment) for segment in segments)


def _find_quoted_names(text: str) -> list[str]:
    """Return the names that stand in backticks, alone or among other code."""
    found = []
    for _, piece in _BACKTICKED.findall(text):
        if re.fullmatch(r"[@$.]?[A-Za-z_][\w.:$>#-]*(?:\(\))?|--?[A-Za-z][\w-]*", piece):
            found.append(piece)
        else:
            found.extend(_find_shaped_names(piece))
            found.extend(_IN_CODE.findall(piece))
    return found


def _find_shaped_names(text: str) -> list[str]:
    return [
        name for line in text.split("\n") for name in _CODE_NAME.findall(line[:_MAX_LINE_CHARS]) if _SHAPED.search(name)
    ]


def _list_most_common(code: Sequence[str]) -> list[str]:
    counts: Counter[str] = Counter()
    for text in code:
        for line in (whole[:_MAX_LINE_CHARS] for whole in text.split("\n")):
            counts.update([*dict.fromkeys([*_IN_CODE.findall(line), *_find_shaped_names(line)])])
    return [name for name, _ in counts.most_common(2 * _MAX_NAMES)]


def _is_name(name: str) -> bool:
    """Return whether a word is a name of code, and neither a plain word nor a number, a file or a host."""
    lower = name.lower()
    bare = lower.strip(".:").removesuffix("()")
    if not 3 <= len(name) <= _MAX_NAME_CHARS or {lower, bare} & _PLAIN or bare in _KEYWORDS or _DOMAIN.match(name):
        return False
    if not re.search(r"[A-Za-z]{2}", name) or re.fullmatch(r"v?\d[\w.]*", lower):
        return False
    return name.rpartition(".")[2].lower() not in EXTENSIONS or name.count(".") > 1 or name.endswith("()")
