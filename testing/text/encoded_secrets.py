"""Each form in which a secret may be written down, and a judge that finds it in any of them.

The judge shares nothing with the program: it decodes a text in every way and looks for the whole secret.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from html import escape, unescape
from urllib.parse import quote, unquote

GITHUB = "ghs_q7RkZ2mVx9TbLw4NcP8sYd3HfJ6gAe1UoK5i"
MODEL = "sk-proj-Vb3xT9_qLm7ZrW2-kYp5NcHd8JfGs4QaE6uR"
SEARCH = "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"
COLLECTOR = "hcaik01m4Xz7Qv9Lk2Rt8Wn5Pb3Yd6Js"
PROXY = "Tz8kW4xPq2Rv7Nm5Lb9Y"
KEYS = {name: name for name in (GITHUB, MODEL, SEARCH, COLLECTOR, PROXY)}

ENCODINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "URL": lambda text: quote(text, safe=""),
    "URL, every character": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON, every character": lambda text: "".join(f"\\u{ord(character):04x}" for character in text),
    "HTML": escape,
    "HTML, every character": lambda text: "".join(f"&#{ord(character)};" for character in text),
    "hexadecimal": lambda text: text.encode().hex(),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 after one byte": lambda text: base64.b64encode(b"x" + text.encode()).decode(),
    "base64 after a user name": lambda text: base64.b64encode(b"x-access-token:" + text.encode()).decode(),
    "URL-safe base64": lambda text: base64.urlsafe_b64encode(b"ab" + text.encode()).decode().rstrip("="),
}

_ENCODED_RUN = re.compile(r"[A-Za-z0-9+/_-]{11,}")
_HEX_RUN = re.compile(r"[0-9A-Fa-f]{16,}")
_JSON_ESCAPE = re.compile(r"\\+u([0-9A-Fa-f]{4})")


def encode_all(secret: str) -> list[str]:
    """The secret in every form."""
    return [encode(secret) for encode in ENCODINGS.values()]


def find_secrets(text: str, secrets: Mapping[str, str] = KEYS) -> list[str]:
    """Names of the secrets that are in the text, in any form."""
    decoded = list(decode_text(text))
    return [name for name, secret in secrets.items() if any(secret in one for one in decoded)]


def decode_text(text: str) -> Iterator[str]:
    """The text, the same without escapes, and everything in it that base64 or hexadecimal digits encode."""
    yield text
    plain = _JSON_ESCAPE.sub(lambda escaped: chr(int(escaped[1], 16)), unescape(unquote(text)))
    plain = re.sub(r'\\+([\\"/])', r"\1", plain)
    yield plain
    for run in _ENCODED_RUN.findall(plain):
        for start in range(4):
            yield _decode_base64(run[start:])
    for run in _HEX_RUN.findall(plain):
        for start in range(2):
            yield bytes.fromhex(run[start : start + (len(run) - start) // 2 * 2]).decode("latin-1")


def _decode_base64(run: str) -> str:
    standard = run.replace("-", "+").replace("_", "/")
    whole = standard[:-1] if len(standard) % 4 == 1 else standard
    return base64.b64decode(whole + "=" * (-len(whole) % 4)).decode("latin-1")
