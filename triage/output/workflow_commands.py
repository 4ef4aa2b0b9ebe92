"""Formats workflow commands of the runner, `::name::data` (actions/runner 2.336, ActionCommand.cs)."""

import base64
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from triage.output.inert_lines import to_inert_line

MIN_MASK_CHARS = 8
"""A shorter mask would hide ordinary words of the log."""


def format_command(name: str, data: str = "", properties: Mapping[str, str] | None = None) -> str:
    """Returns a command as one line. Data and properties are made inert, then escaped."""
    pairs = ",".join(f"{key}={_escape_property(value)}" for key, value in (properties or {}).items())
    return f"::{name}{' ' if pairs else ''}{pairs}::{_escape(data)}"


def _escape(data: str) -> str:
    return to_inert_line(data).replace("%", "%25")


def _escape_property(value: str) -> str:
    # A property ends at a comma or a colon.
    return _escape(value).replace(":", "%3A").replace(",", "%2C")


def mask_commands(secrets: Iterable[str]) -> list[str]:
    """Returns `add-mask` commands for each long line of each secret, then for its usual encodings, each once.

    A secret of several lines is never sent whole: the runner would mask its short lines too.
    """
    lines = dict.fromkeys(line.strip() for secret in secrets for line in secret.splitlines())
    plain = [line for line in lines if len(line) >= MIN_MASK_CHARS]
    forms = dict.fromkeys(form for line in plain for form in _encodings(line))
    fresh = [form for form in forms if not any(line in form for line in plain)]
    return [f"::add-mask::{line.replace('%', '%25')}" for line in [*plain, *fresh]]


def _encodings(secret: str) -> list[str]:
    # In a URL, in base64, and in the header of git over HTTPS.
    packed = [base64.b64encode(f"{login}{secret}".encode("utf-8", "replace")) for login in ("", "x-access-token:")]
    return [quote(secret, safe="", errors="replace"), *(code.decode("ascii") for code in packed)]
