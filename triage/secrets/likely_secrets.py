"""Replaces likely secrets, before a text is cut, indexed, embedded, shown, sent or published."""

from collections.abc import Iterable, Iterator

from triage.secrets.detection_rules import ByteRange, find_secrets
from triage.secrets.private_keys import find_private_keys

LIKELY_SECRET_PLACEHOLDER = "[masked secret]"  # noqa: S105
_PLACEHOLDER = LIKELY_SECRET_PLACEHOLDER.encode()


def redact_likely_secrets(text: str, path: str = "") -> str:
    """The text with a placeholder in each line of a likely secret; everything else stays.

    Args:
        text: The text.
        path: The path of its file; empty for other text, which is searched by the rules for certain files too.
    """
    data = text.encode("utf-8", "surrogatepass")
    found = sorted([*find_secrets(data, path), *find_private_keys(data)])
    return b"".join(_redact_ranges(data, _merge_overlapping(found))).decode("utf-8", "surrogatepass") if found else text


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


def _redact_ranges(data: bytes, found: Iterable[ByteRange]) -> Iterator[bytes]:
    done = 0
    for start, end in found:
        yield data[done:start]
        yield b"\n".join(map(_redact_line, data[start:end].split(b"\n")))
        done = end
    yield data[done:]


def _redact_line(line: bytes) -> bytes:
    secret = line.rstrip(b"\r")
    return (_PLACEHOLDER if secret.strip() else secret) + line[len(secret) :]
