"""Decodes bytes in any encoding, without errors."""

import codecs

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SNIFFED_BYTES = 8_192
"""Bytes searched for a NUL, as git and GitHub's linguist do."""


def decode_text(data: bytes) -> str | None:
    """Return the text, or None for binary content. Bytes that are not UTF-8 are decoded as Latin-1."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if b"\0" in data[:_SNIFFED_BYTES]:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def split_lines(text: str) -> list[str]:
    r"""Return the lines without their ends, numbered as on GitHub: only `\n` and `\r\n` end a line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
