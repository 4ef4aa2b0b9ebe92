"""Reduces a web search query to plain words that reveal nothing private."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from unicodedata import normalize

from triage.base.text import word_set
from triage.safety.clean_text import clean_text
from triage.safety.secrets.likely_secrets import LIKELY_SECRET_PLACEHOLDER, redact_likely_secrets

MAX_QUERY_CHARS = 200
_MAX_INPUT_CHARS = 2_000
_WORD = re.compile(
    r"(?:[^\W_](?:[\w.+#'-]*[\w+#])?|_{1,3}[^\W_][\w.]*):?$|[^\W_](?:[\w.+#'-]*[\w+#])?|_{1,3}[^\W_][\w.]*"
)
_ADDRESS = re.compile(r"[/\\@]|:\d|^\d{1,3}(?:\.\d{1,3}){3}$|^[\[(]?[0-9a-f]{0,4}:[0-9a-f:.]*:|%[0-9a-f]{2}", re.I)
"""A path, a URL, an e-mail address, a host with its port, an IP address, or one of them escaped."""
_QUOTES = "()[]{}<>'\"`,;.!?*“”‘’«»"
_SEPARATOR = re.compile(r"^[^\w\s]*$|^\w{1,12}/\w{1,12}$")
"""No paths: `/` alone, `and/or`, `read/write`."""
_OPERATOR = re.compile(
    r"^-?(?:site|inurl|intitle|intext|inanchor|allin\w+|filetype|ext|cache|related|link|info|source|before|after|url"
    r"|domain):(?!:)",
    re.I,
)
_PRODUCTS = word_set("socket.io asp.net vb.net ado.net ml.net paper.io node.js next.js vue.js")
_VERSION = re.compile(r"v?\d")
_CODE_NAME = re.compile(r"\D*[A-Z][a-z]\D*")
_CREDENTIAL = word_set("user username login account password passwd pwd passphrase token secret host hostname server")
"""Words before a name that is nobody's business."""
_HEX = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|^0x[0-9a-f]{5}|\b[0-9a-f]{12,}\b", re.I)
_LONG_NUMBER = re.compile(r"\d{5,}|^\d{4,}$")
_SWITCH = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])", re.I)
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PIECE = re.compile(r"[^\W_]+")
_NAME_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
"""`Store`, `save` and `All` of `Store.saveAll`."""
_ORDINARY = word_set(
    "a about access after an and any api app application argument as async at attribute backend be before"
    " behavior behaviour broken browser bug build but by cache call can cannot cause changelog class cli client"
    " code command compatibility compile config configuration connection crash crate database deadlock debug default"
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
"""Words that anybody adds to an error message when they search for it."""


def sanitize_query(query: str) -> str:
    """Return the query without addresses, paths, secrets, random-looking words and search operators.

    One line of at most 200 characters, cut between words; empty when nothing is left.
    """
    return _join_words(_split_words(query[:_MAX_INPUT_CHARS]))


def restrict_query(query: str, visible_texts: Iterable[str]) -> str:
    """Return a model's query, reduced to words that are in the visible texts or that everybody uses.

    Visible are the issue and the names of packages that the project declares.

    A model under somebody else's control could otherwise send anything it has seen.
    """
    words = [word for text in visible_texts for word in _split_words(text)]
    known = {_stem(part) for word in words for part in (word, *_NAME_PARTS.findall(word))} | _ORDINARY_STEMS
    allowed = (word for word in _split_words(query[:_MAX_INPUT_CHARS]) if _is_known(word, known))
    return sanitize_query(_join_words(allowed))


def _is_known(word: str, known: set[str]) -> bool:
    """Return whether a word, or each part of a name, is one of the known stems."""
    parts = _NAME_PARTS.findall(word)
    if _stem(word) in known:
        return True
    # Single letters could spell anything.
    return len(parts) > 1 and all(len(part) > 2 and _stem(part) in known for part in parts)


def _split_words(text: str) -> Iterator[str]:
    """Yield the words of a text without credentials and what names them."""
    previous = ""
    for word, following in pairwise([*_find_words(text), ""]):
        # The credential's word goes with the name: else it would stand before the next word, which would go then.
        if not (_is_credential(previous, word) or _is_credential(word, following)):
            yield word
        previous = word


def _is_credential(credential: str, word: str) -> bool:
    names, lower = credential.lower().rstrip(":") in _CREDENTIAL, word.lower().rstrip(":")
    return bool(names and word and (lower in _CREDENTIAL or _stem(lower) not in _ORDINARY_STEMS))


def _find_words(text: str) -> Iterator[str]:
    """Yield the words of a text without secrets, addresses, hosts and ids."""
    redacted = redact_likely_secrets(normalize("NFKC", clean_text(text))).replace(LIKELY_SECRET_PLACEHOLDER, " ")
    for token in (quoted.strip(_QUOTES) for quoted in redacted.split()):
        if not _is_address(token):
            words = _WORD.findall(token)
            yield from (word for word in words if not _is_identifier(word) and not _is_host(word.rstrip(":")))


def _is_address(token: str) -> bool:
    has_address = _ADDRESS.search(token) is not None and _SEPARATOR.search(token) is None
    return has_address or _OPERATOR.search(token) is not None


def _is_host(word: str) -> bool:
    """Return whether it is a dotted name, but no version and no name in code: `System.IO` has capitals.

    `asyncio.run` may as well be a host.
    """
    is_public = _VERSION.match(word) or _CODE_NAME.fullmatch(word) or word.lower() in _PRODUCTS
    return word.lower() == "localhost" or ("." in word and not is_public)


def _is_identifier(word: str) -> bool:
    """Whether nobody would write it as a word: a hash, a key, encoded text. Versions and names in code are none."""
    if len(word) > 60 or _HEX.search(word) or _LONG_NUMBER.search(word):
        return True
    return any(_is_random(piece) for piece in _PIECE.findall(word))


def _is_random(piece: str) -> bool:
    """Return whether a piece of a word is too long, or changes too often between letters and digits."""
    switches, capitals = len(_SWITCH.findall(piece)), len(_CAPITAL.findall(piece))
    return (
        len(piece) > 40
        or (switches >= 3 and len(piece) >= 8)
        or (switches >= 1 and len(piece) >= 20)
        or (len(piece) >= 12 and 3 * (capitals + switches) > len(piece))
    )


def _stem(word: str) -> str:
    lower = word.lower().strip("._'-+#:")
    endings = (ending for ending in ("ing", "ed", "es", "s") if lower.endswith(ending) and len(lower) > len(ending) + 2)
    return lower.removesuffix(next(endings, ""))


_ORDINARY_STEMS = frozenset(map(_stem, _ORDINARY))


def _join_words(words: Iterable[str]) -> str:
    line = ""
    for word in words:
        longer = f"{line} {word}".lstrip()
        if len(longer) > MAX_QUERY_CHARS:
            break
        line = longer
    return line
