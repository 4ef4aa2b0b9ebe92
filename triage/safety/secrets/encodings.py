"""The forms in which a secret is looked for: as it is, escaped, in hexadecimal digits, and in base64."""

import base64
from html import escape

_BITS_PER_BASE64_CHAR = 6
_BASE64_ALIGNMENTS = 3
"""Base64 packs three bytes at a time, so data that begins inside a longer text is encoded in one of three ways."""


def secret_pattern(secret: str) -> str:
    """An RE2 pattern, for text in UTF-8 read as Latin-1, that matches the secret in each form that is looked for.

    As it is, or with any of its characters escaped for a URL, for JSON or for HTML; in hexadecimal digits; in base64,
    with the standard and with the URL-safe alphabet, alone or inside a longer encoded text.
    """
    data = _encode(secret)
    forms = ["".join(map(_character_pattern, secret)), f"(?i:{data.hex()})"]
    forms += [_base64_pattern(data, alignment) for alignment in range(_BASE64_ALIGNMENTS)]
    return "|".join(forms)


def _character_pattern(character: str) -> str:
    data, units, code = _encode(character), character.encode("utf-16-be", "surrogatepass"), ord(character)
    # In a JSON text inside a JSON text, a backslash is itself escaped. Punctuation is escaped in Markdown too.
    as_it_is = ("" if character.isalnum() else r"\\*") + "".join(rf"\x{byte:02x}" for byte in data)
    url = "".join(f"%{byte:02x}" for byte in data)
    json = "".join(rf"\\+u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
    html = rf"&#0*{code};|&#x0*{code:x};"
    if character in "<>&\"'":
        html += f"|{escape(character)}"
    return f"(?:{as_it_is}|(?i:{url}|{json}|{html}))"


def _base64_pattern(data: bytes, alignment: int) -> str:
    """The part of the encoded data that does not depend on the bytes around it."""
    code = base64.b64encode(bytes(alignment) + data).decode("ascii")
    start = -(-8 * alignment // _BITS_PER_BASE64_CHAR)
    end = 8 * (alignment + len(data)) // _BITS_PER_BASE64_CHAR
    return code[start:end].replace("+", "[+-]").replace("/", "[/_]")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
