"""What may be asked of the web: plain words, none of which says where somebody works or what only they know."""

import re
from collections.abc import Iterable, Iterator
from unicodedata import normalize

from triage.secrets.likely_secrets import LIKELY_SECRET_PLACEHOLDER, redact_likely_secrets
from triage.text.clean_text import clean_text
from triage.text.word_set import word_set

MAX_QUERY_CHARS = 200
_MAX_READ_CHARS = 2_000
"""Of what is asked; a query has 200."""
_WORD = re.compile(
    r"(?:[^\W_](?:[\w.+#'-]*[\w+#])?|_{1,3}[^\W_][\w.]*):?$|[^\W_](?:[\w.+#'-]*[\w+#])?|_{1,3}[^\W_][\w.]*"
)
_ADDRESS = re.compile(r"[/\\@]|:\d|^\d{1,3}(?:\.\d{1,3}){3}$|^[\[(]?[0-9a-f]{0,4}:[0-9a-f:.]*:|%[0-9a-f]{2}", re.I)
"""Of a path, a URL, a mailbox, a host with its port, an IP address, and what is escaped to look like none."""
_QUOTES = "()[]{}<>'\"`,;.!?*“”‘’«»"
_SEPARATOR = re.compile(r"^[^\w\s]*$|^\w{1,12}/\w{1,12}$")
"""Such as `/` alone, and `and/or`, `read/write`, which are no paths."""
_OPERATOR = re.compile(
    r"^-?(?:site|inurl|intitle|intext|inanchor|allin\w+|filetype|ext|cache|related|link|info|source|before|after|url"
    r"|domain):(?!:)",
    re.I,
)
_INNER_ENDS = word_set(
    "internal intern intra intranet local localdomain lan corp home private localhost arpa onion test"
)
_OUTER_ENDS = word_set(
    "com net org io dev app ai cloud edu gov mil int info biz co uk de fr eu ru cn jp in us ca au nl ch se it es br pl"
    " at be kr me tv xyz online site tech page"
)
_PRODUCTS = word_set("socket.io asp.net vb.net ado.net ml.net paper.io")
_HEX = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|^0x[0-9a-f]{5}|\b[0-9a-f]{12,}\b", re.I)
_LONG_NUMBER = re.compile(r"\d{5,}|^\d{4,}$")
_SWITCH = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])", re.I)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PIECE = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ENDINGS = ("ing", "ed", "es", "s")
_ORDINARY = word_set(
    "a about access after an and any api app application argument as async at attribute backend be before"
    " behavior behaviour broken browser bug build but by cache call can cannot cause changelog class cli client"
    " code command compatibility compile config configuration connection crash database deadlock debug default"
    " dependency deprecated deprecation different django docker docs documentation does driver during encoding"
    " error example exception expected fail failure feature fix for framework freeze from function git github go"
    " golang hang has how if ignored import in incompatible incorrect infinite install invalid is issue it its"
    " java javascript json kernel known leak library linux load log loop macos memory message method migration"
    " missing module mysql name network node not npm null object of on only option or output package parse"
    " performance pip plugin postgres problem python query race read recursion regression release removed render"
    " request response result return ruby run runtime rust security segfault server setting shell slow solution"
    " solved sql ssl stack stackoverflow statement string support syntax test that the this thread timeout"
    " timezone tls to trace traceback type typescript undefined unexpected unicode update upgrade use user using"
    " value variable version vs warning web when where while why windows with without work workaround write wrong"
    " xml yaml"
)
"""What anybody adds to a report's own words when they search."""


def sanitize_query(query: str) -> str:
    """The query as it may leave: words without addresses, paths, secrets, random-looking runs and search operators.

    One line, at most 200 characters, cut between words; empty when nothing is left.
    """
    return _line(_words(query[:_MAX_READ_CHARS]))


def restrict_query(asked: str, shown: Iterable[str]) -> str:
    """What a model asked for, in words that the issue shows or that everybody uses: it has nothing else to tell.

    A model that somebody else steers could otherwise spell out whatever it likes.

    Args:
        asked: By anybody.
        shown: Texts of the issue as a person sees them.
    """
    known = {_stem(part) for text in shown for word in _words(text) for part in (word, *_parts(word))} | _ORDINARY_STEMS
    return sanitize_query(_line(word for word in _words(asked[:_MAX_READ_CHARS]) if _is_of(known, word)))


def _is_of(known: frozenset[str] | set[str], word: str) -> bool:
    """Whether a word is known, or made of known ones; of single letters anything could be made."""
    parts = _parts(word)
    return _stem(word) in known or (len(parts) > 1 and all(len(part) > 2 and _stem(part) in known for part in parts))


def _words(text: str) -> Iterator[str]:
    seen = redact_likely_secrets(normalize("NFKC", clean_text(text))).replace(LIKELY_SECRET_PLACEHOLDER, " ")
    for token in (quoted.strip(_QUOTES) for quoted in seen.split()):
        if not _leads_somewhere(token):
            yield from (word for word in _WORD.findall(token) if not _is_blob(word) and not _is_host(word.rstrip(":")))


def _leads_somewhere(token: str) -> bool:
    return _OPERATOR.search(token) is not None or (
        _ADDRESS.search(token) is not None and _SEPARATOR.search(token) is None
    )


def _is_host(word: str) -> bool:
    """A dotted name in lower case with an end that hosts have; `System.IO` and `asyncio.run` are names in code."""
    lower = word.lower()
    end = lower.rpartition(".")[2]
    if lower == "localhost" or ("." in lower and end in _INNER_ENDS):
        return True
    return "." in word and word == lower and end in _OUTER_ENDS and lower not in _PRODUCTS


def _is_blob(word: str) -> bool:
    """What no person would write: identifiers, hashes, keys, encoded text. Versions and names of code stay."""
    if len(word) > 60 or _HEX.search(word) or _LONG_NUMBER.search(word):
        return True
    return any(_is_random(piece) for piece in _PIECE.findall(word))


def _is_random(piece: str) -> bool:
    switches, humps = len(_SWITCH.findall(piece)), len(_HUMP.findall(piece))
    return (
        len(piece) > 40
        or (switches >= 3 and len(piece) >= 8)
        or (switches >= 1 and len(piece) >= 20)
        or (len(piece) >= 12 and 3 * (humps + switches) > len(piece))
    )


def _parts(word: str) -> list[str]:
    """What a name is made of: `store`, `save` and `all` of `Store.saveAll`."""
    return _CAMEL.findall(word)


def _stem(word: str) -> str:
    lower = word.lower().strip("._'-+#:")
    return next(
        (lower.removesuffix(end) for end in _ENDINGS if lower.endswith(end) and len(lower) > len(end) + 2), lower
    )


_ORDINARY_STEMS = frozenset(map(_stem, _ORDINARY))


def _line(words: Iterable[str]) -> str:
    line = ""
    for word in words:
        longer = f"{line} {word}".lstrip()
        if len(longer) > MAX_QUERY_CHARS:
            break
        line = longer
    return line
