"""The runner's workflow commands, `::name::data` (actions/runner 2.336, ActionCommand.cs)."""

from collections.abc import Iterable, Mapping

from triage.runner.lines import one_line

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
    """One `add-mask` command for each line of each secret that is long enough, each once.

    A secret of several lines is never sent whole: the runner would then mask its short lines too.
    """
    lines = dict.fromkeys(line.strip() for secret in secrets for line in secret.splitlines())
    return [f"::add-mask::{line.replace('%', '%25')}" for line in lines if len(line) >= SHORTEST_MASK_CHARS]
