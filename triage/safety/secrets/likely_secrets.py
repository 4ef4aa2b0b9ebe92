"""Replaces likely secrets, before a text is cut, indexed, embedded, shown, sent or published."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import re2  # type: ignore[import-untyped]

from triage.safety.secrets.detection_rules import find_secrets
from triage.safety.secrets.rule import ByteRange

LIKELY_SECRET_PLACEHOLDER = "[masked secret]"  # noqa: S105
_BEGIN = re2.compile(
    rb"-----BEGIN[ A-Z0-9_]{0,60}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN[ A-Z0-9_]{0,60}PRIVATE KEY ----"
    rb"|-----BEGIN OpenVPN Static key V1-----|Private-Lines: \d{1,4}"
)
"""Of PEM and PGP, of SSH2, of OpenVPN, and of PuTTY."""
_MARKS = (b"PRIVATE KEY", b"Static key", b"Private-Lines")
_END = re2.compile(rb"-----END|---- END|Private-(?:MAC|Hash)")
_WORD = re2.compile(rb"(?:\\[nrt])*([A-Za-z0-9+/]+={0,2}|=[A-Za-z0-9+/]{4})")
"""Base64, after the escaped line ends of a string in a program."""
_HEADER = re2.compile(rb"(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[ \t]*[^\s\\]+")
_MIN_KEY_LINE = 32
"""Bytes. Every line of a key but the last is at least as long, and no word of a program is."""


def redact_likely_secrets(text: str, path: str = "") -> str:
    """The text with a placeholder in each line of a likely secret; everything else stays.

    `path` is that of the text's file. Other text is searched by the rules for certain files too.
    """
    return replace_likely_secrets(text, path, lambda _: LIKELY_SECRET_PLACEHOLDER)


def replace_likely_secrets(
    text: str, path: str, replace: Callable[[str], str], more: Iterable[tuple[int, int]] = ()
) -> str:
    """The text with each line of each likely secret replaced, in the order of the text.

    `more` are places that are replaced as well, in characters of the text.
    """
    data = _encode(text)
    found = sorted([*find_secrets(data, path), *_find_private_keys(data), *_to_byte_ranges(text, more)])
    return _decode(b"".join(_replace_ranges(data, _merge_overlapping(found), replace))) if found else text


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _to_byte_ranges(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[ByteRange]:
    done = at = 0
    for start, end in spans:
        at += len(_encode(text[done:start]))
        size = len(_encode(text[start:end]))
        yield at, at + size
        done, at = end, at + size


def _find_private_keys(data: bytes) -> Iterator[ByteRange]:
    """Byte ranges of the base64 words of private keys, without `BEGIN`, `END` and header lines.

    Text between the two lines counts as a key when most of it looks like base64. A key without its end counts too.
    """
    if not any(mark in data for mark in _MARKS):
        return
    begins = [mark.span() for mark in _BEGIN.finditer(data)]
    for number, (_, start) in enumerate(begins):
        next_begin = begins[number + 1][0] if number + 1 < len(begins) else len(data)
        end = _END.search(data, start, next_begin)
        body = _HEADER.sub(_blank, data[start : end.start() if end else next_begin])
        words = [word.span(1) for word in _WORD.finditer(body)]
        long = [word for word in words if _length(word) >= _MIN_KEY_LINE]
        is_key = end is not None and 2 * sum(map(_length, long)) > sum(map(_length, words))
        yield from ((start + low, start + high) for low, high in (words if is_key else long))


def _blank(header: Any) -> bytes:
    return b" " * len(header[0])


def _length(span: ByteRange) -> int:
    return span[1] - span[0]


def _merge_overlapping(found: Iterable[ByteRange]) -> Iterator[ByteRange]:
    last: ByteRange | None = None
    for start, end in found:
        if last is None or start >= last[1]:
            if last is not None:
                yield last
            last = start, end
        else:
            last = last[0], max(last[1], end)
    if last is not None:
        yield last


def _replace_ranges(data: bytes, found: Iterable[ByteRange], replace: Callable[[str], str]) -> Iterator[bytes]:
    done = 0
    for start, end in found:
        yield data[done:start]
        yield b"\n".join(_replace_line(line, replace) for line in data[start:end].split(b"\n"))
        done = end
    yield data[done:]


def _replace_line(line: bytes, replace: Callable[[str], str]) -> bytes:
    secret = line.rstrip(b"\r")
    return (_encode(replace(_decode(secret))) if secret.strip() else secret) + line[len(secret) :]


def shorten_text(text: str, max_chars: int) -> str:
    """Return one printable line of a stranger's text, with likely secrets masked."""
    # Mask before cutting: half a key would not be recognised.
    printable = "".join(char if char.isprintable() else " " for char in redact_likely_secrets(text))
    line = " ".join(printable.split())
    return line if len(line) <= max_chars else f"{line[:max_chars]}…"
