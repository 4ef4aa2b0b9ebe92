"""The disguises in which one of our own secrets may leave: as it is, turned around, encoded, and any piece of it.

Everything is compared squeezed: lower case, letters and digits of ASCII only. So spaces, dashes, line breaks, invisible
characters, accents and letters of other shapes between or instead of the secret's own make no difference.
"""

import base64
import codecs
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

SHORTEST_CHARS = 8
"""Of a secret, and of a piece of one; the runner's own masks begin there too (`runner.commands`)."""
LONG_ENOUGH_CHARS = 20
"""From here on a secret that looks random is looked for in pieces; others count as a whole."""
SHORTEST_TRACE_CHARS = 7
"""Squeezed: of eight characters one may be a sign."""
SURE_CHARS = 12
"""Of a whole secret that is no more than words: below it, words that stand side by side by chance are none."""
_LEAST_DISTINCT = 8
_LEAST_CHANGES = 0.2
_LEAST_CLUSTERED = 0.2

_PREFIX = re.compile(r"(?:(?:[a-z]{2,8}|v[0-9]|api[0-9]{2})[-_]){1,3}")
"""A vendor's: `ghs_`, `github_pat_`, `sk-proj-`, `sk-ant-api03-`, `sk-or-v1-`, `tvly-dev-`."""
_JWT = re.compile(r"eyJ[\w-]+\.[\w-]+\.([\w-]{20,})\Z")
"""Its first two parts are names and dates in base64; what makes it a secret is the third."""
_OVERLAP_CHARS = 2
"""Of the prefix, in the first pieces."""
_INNER_WORD = re.compile(r"(?<=[a-z])[A-Z](?=[a-z]{2})")
_CLUSTER = re.compile(r"[b-df-hj-np-tv-xz]{4,}", re.I)


_OTHERS = bytes(set(range(256)) - set(b"0123456789abcdefghijklmnopqrstuvwxyz"))


def squeezed(text: str) -> str:
    """Its letters and digits as ASCII in lower case."""
    if not text.isascii():
        text = _FOREIGN.sub(_as_ascii, text)
    return text.lower().encode("ascii").translate(None, _OTHERS).decode("ascii")


_FOREIGN = re.compile(r"[^\0-\x7f]+")


def _as_ascii(foreign: re.Match[str]) -> str:
    # Character by character: for the whole, marks in odd order would cost quadratic time.
    return "".join(map(_letters, foreign[0]))


@lru_cache(maxsize=4096)
def _letters(character: str) -> str:
    """Full-width, bold and accented letters are the letters that they look like."""
    return unicodedata.normalize("NFKD", character).casefold().encode("ascii", "ignore").decode("ascii")


def looks_random(text: str) -> bool:
    """Whether nobody would say so: letters and digits mixed, or letters that make no syllables."""
    if len(set(text)) < _LEAST_DISTINCT:
        return False
    words = _INNER_WORD.sub(lambda capital: capital[0].lower(), text)
    kinds = ["a" if one.islower() else "A" if one.isupper() else "1" if one.isdigit() else "" for one in words]
    changes = sum(a != b and "" not in (a, b) and (a, b) != ("A", "a") for a, b in pairwise(kinds))
    clustered = sum(map(len, _CLUSTER.findall(text)))
    return changes >= _LEAST_CHANGES * len(text) or clustered >= _LEAST_CLUSTERED * len(text)


def traces(secret: str) -> dict[str, str]:
    """Everything that gives the secret away, squeezed, at least `SHORTEST_TRACE_CHARS` of it.

    Beside it, where that alone is not sure enough, how it must stand there: so, up to case, or letter by letter.
    Nothing for a secret that is too short to be told from a word.
    """
    if len(secret) < SHORTEST_CHARS:
        return {}
    found = {"".join(form) for form, _ in _forms(secret)}
    tail, pieces = _in_pieces(secret)
    if pieces:
        found.update(piece for form, width in _forms(tail) for piece in _pieces(form, width))
    sure = dict.fromkeys((trace for trace in found if len(trace) >= SHORTEST_CHARS), "")
    plain = {squeezed(piece): piece.lower() for piece in (secret, *pieces)}
    enough = SURE_CHARS if not pieces else SHORTEST_CHARS
    return sure | {
        flat: "" if len(flat) >= enough else told for flat, told in plain.items() if len(flat) >= SHORTEST_TRACE_CHARS
    }


def literals(secret: str) -> set[str]:
    """What has too few letters and digits for a trace, and is looked for as it stands, in lower case."""
    if len(secret) < SHORTEST_CHARS:
        return set()
    return {one.lower() for one in (secret, *_in_pieces(secret)[1]) if len(squeezed(one)) < SHORTEST_TRACE_CHARS}


def _in_pieces(secret: str) -> tuple[str, list[str]]:
    """The secret's own part, and its pieces as they stand; no pieces where it counts as a whole."""
    tail = _tail(secret)
    if len(secret) < LONG_ENOUGH_CHARS or not looks_random(tail):
        return tail, []
    return tail, list(_pieces(secret[max(secret.rindex(tail) - _OVERLAP_CHARS, 0) :], SHORTEST_CHARS))


def _tail(secret: str) -> str:
    """What is the secret's own, without what every key of its kind begins with."""
    token = _JWT.search(secret)
    if token:
        return token[1]
    prefix = _PREFIX.match(secret)
    return secret[prefix.end() :] if prefix else secret


Form = tuple[Sequence[str], int]
"""An encoded text, squeezed, in its smallest parts; and how many of them eight characters of the secret make."""


def _pieces(form: Sequence[str], width: int) -> Iterator[str]:
    return ("".join(form[at : at + width]) for at in range(len(form) - width + 1))


def _forms(text: str) -> Iterator[Form]:
    """The text in every encoding, and from its end."""
    turned = codecs.encode(text, "rot13")
    for told in (text[::-1], turned, turned[::-1]):
        yield _parts(told), SHORTEST_CHARS
    data = text.encode("utf-8", "surrogatepass")
    for code in ("02x", "d", "03d", "o", "03o", "08b"):
        yield [format(byte, code) for byte in data], SHORTEST_CHARS
    yield [f"0x{byte:02x}" for byte in data], SHORTEST_CHARS
    yield [f"{byte:02x}" for byte in reversed(data)], SHORTEST_CHARS
    # Base64 of other forms is found by unpacking, as long as it stands in one piece (`leaks`).
    for form, width in _shifted(data, base64.b64encode, 6, 3):
        yield form, width
        yield form[::-1], width
    yield from _shifted(data, base64.b32encode, 5, 5)


def _shifted(data: bytes, encode: Callable[[bytes], bytes], bits: int, group: int) -> Iterator[Form]:
    """Wherever in a longer text the data begins; what depends on its neighbours there is left out."""
    for shift in range(group):
        code = encode(bytes(shift) + data).decode("ascii")
        certain = code[-(-8 * shift // bits) : 8 * (shift + len(data)) // bits]
        yield _parts(certain), 8 * SHORTEST_CHARS // bits - 1


_ASCII = {chr(code): squeezed(chr(code)) for code in range(128)}


def _parts(text: str) -> list[str]:
    return [_ASCII[one] if one in _ASCII else squeezed(one) for one in text]
