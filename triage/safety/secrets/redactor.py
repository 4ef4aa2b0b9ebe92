"""Replaces our own secrets in text that is read or written: as they are, escaped, in hexadecimal digits, and in base64.

A model may repeat what it was given, and somebody may have written a key into an issue or a file.
"""

import base64
from collections.abc import Callable, Iterable
from html import escape
from typing import Any, TypeVar

import re2  # type: ignore[import-untyped]
from pydantic import BaseModel

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
    """Return the pattern for a character as it is, and as URLs, JSON and HTML escape it."""
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
    """Return the part of the encoded data that does not depend on the bytes around it."""
    code = base64.b64encode(bytes(alignment) + data).decode("ascii")
    start = -(-8 * alignment // _BITS_PER_BASE64_CHAR)
    end = 8 * (alignment + len(data)) // _BITS_PER_BASE64_CHAR
    return code[start:end].replace("+", "[+-]").replace("/", "[/_]")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


OWN_SECRET_PLACEHOLDER = "(masked secret)"  # noqa: S105
"""Has no meaning in Markdown or JSON."""
MIN_SECRET_CHARS = 8
"""A shorter value is not looked for: ordinary words may contain it."""
_MAX_SECRET_CHARS = 8_192
"""Of a longer value, only this much is looked for. Servers refuse longer headers, so it cannot be a key."""
_OPTIONS = re2.Options()
_OPTIONS.encoding = re2.Options.Encoding.LATIN1
_OPTIONS.max_mem = 256 << 20
"""An upper limit; the pattern of a few usual keys takes less than a megabyte."""

M = TypeVar("M", bound=BaseModel)
Redact = Callable[[Any], Any]
"""Takes text, or lists and dicts with text in them; returns the same with every secret replaced."""


class SecretRedactor:
    """Replaces secrets by a placeholder and remembers where it found any. The time is linear in the text."""

    def __init__(self, secrets: Iterable[str]) -> None:
        values = dict.fromkeys(line.strip()[:_MAX_SECRET_CHARS] for secret in secrets for line in secret.splitlines())
        patterns = [secret_pattern(value) for value in values if len(value) >= MIN_SECRET_CHARS]
        self._pattern = re2.compile("|".join(patterns).encode("ascii"), _OPTIONS) if patterns else None
        self._locations: dict[str, None] = {}

    @property
    def warning(self) -> str:
        """Where secrets were found, without any of their text; empty when none were found."""
        if not self._locations:
            return ""
        return (
            "A secret of this job was found in text that was read or about to be written "
            f"({', '.join(self._locations)}) and was masked. "
            "Somebody has written it where others can read it: replace that secret."
        )

    def has_match(self, text: str) -> bool:
        """Return whether a secret is in the text. The warning does not mention it."""
        return self._pattern is not None and self._pattern.search(text.encode("utf-8", "surrogatepass")) is not None

    def redactor_for(self, location: str) -> Redact:
        """Return a function that redacts; `location` names the place in the warning, such as `log`."""

        def redact(tree: Any) -> Any:
            redacted = self._redact_tree(tree)
            if redacted != tree:
                self._locations[location] = None
            return redacted

        return redact

    def redact_value(self, location: str, value: M) -> M:
        tree = value.model_dump(mode="json")
        redacted = self.redactor_for(location)(tree)
        return value if redacted == tree else type(value).model_validate(redacted)

    def _redact_tree(self, tree: Any) -> Any:
        """Return strings, and what is in dictionaries and lists, with a placeholder for each secret."""
        if self._pattern is None:
            return tree
        if isinstance(tree, str):
            redacted: bytes = self._pattern.sub(OWN_SECRET_PLACEHOLDER.encode(), tree.encode("utf-8", "surrogatepass"))
            return redacted.decode("utf-8", "surrogatepass")
        if isinstance(tree, dict):
            return {self._redact_tree(key): self._redact_tree(value) for key, value in tree.items()}
        if isinstance(tree, list | tuple):
            return type(tree)(self._redact_tree(value) for value in tree)
        return tree
