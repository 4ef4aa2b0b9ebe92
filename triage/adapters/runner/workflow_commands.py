"""The runner's workflow commands, `::name::data` (actions/runner 2.336, ActionCommand.cs)."""

import base64
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from triage.adapters.runner.inert_lines import one_line

SHORTEST_MASK_CHARS = 8
"""A shorter mask would blot out ordinary words of the log."""


def command(name: str, data: str = "", properties: Mapping[str, str] | None = None) -> str:
    """One command as one line: data and properties are made inert, then escaped."""
    told = ",".join(f"{key}={_property(value)}" for key, value in (properties or {}).items())
    return f"::{name}{' ' if told else ''}{told}::{_escaped(data)}"


def _escaped(data: str) -> str:
    return one_line(data).replace("%", "%25")


def _property(value: str) -> str:
    """A property ends at a comma or a colon (ActionCommand.cs)."""
    return _escaped(value).replace(":", "%3A").replace(",", "%2C")


def masks(secrets: Iterable[str]) -> list[str]:
    """One `add-mask` command for each line of each secret that is long enough, then for its usual forms, each once.

    A secret of several lines is never sent whole: the runner would then mask its short lines too.
    """
    lines = dict.fromkeys(line.strip() for secret in secrets for line in secret.splitlines())
    plain = [line for line in lines if len(line) >= SHORTEST_MASK_CHARS]
    forms = dict.fromkeys(form for line in plain for form in _forms(line))
    fresh = [form for form in forms if not any(line in form for line in plain)]
    return [f"::add-mask::{line.replace('%', '%25')}" for line in [*plain, *fresh]]


def _forms(secret: str) -> list[str]:
    """As it stands in a URL, in base64, and in the header by which git sends a token."""
    packed = [base64.b64encode(f"{login}{secret}".encode("utf-8", "replace")) for login in ("", "x-access-token:")]
    return [quote(secret, safe="", errors="replace"), *(code.decode("ascii") for code in packed)]
