"""Likely secrets are masked before a text is cut, indexed, embedded, shown, sent or published."""

from collections.abc import Iterable, Iterator

from triage.secrets.detection_rules import ByteRange, find_secrets
from triage.secrets.private_keys import find_private_keys

LIKELY_SECRET_PLACEHOLDER = "[masked secret]"  # noqa: S105 - what stands in its place
_MASK = LIKELY_SECRET_PLACEHOLDER.encode()


def redact_likely_secrets(text: str, path: str = "") -> str:
    """The text with likely secrets masked; the number of lines stays, and so does all that stands around a secret.

    Args:
        text: Anybody's.
        path: Of the file that it is; empty when it is none: then rules for certain files hold too.
    """
    data = text.encode("utf-8", "surrogatepass")
    found = sorted([*find_secrets(data, path), *find_private_keys(data)])
    return b"".join(_pieces(data, _joined(found))).decode("utf-8", "surrogatepass") if found else text


def _joined(found: Iterable[ByteRange]) -> Iterator[ByteRange]:
    """Those that overlap as one."""
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


def _pieces(data: bytes, found: Iterable[ByteRange]) -> Iterator[bytes]:
    done = 0
    for start, end in found:
        yield data[done:start]
        yield b"\n".join(map(_masked_line, data[start:end].split(b"\n")))
        done = end
    yield data[done:]


def _masked_line(line: bytes) -> bytes:
    """Each line of a secret on its own."""
    secret = line.rstrip(b"\r")
    return (_MASK if secret.strip() else secret) + line[len(secret) :]
