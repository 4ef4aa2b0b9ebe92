"""The runner's workflow commands, `::name::data` (actions/runner 2.336, ActionCommand.cs)."""

from collections.abc import Iterable

from triage.runner.lines import one_line

SHORTEST_MASK_CHARS = 8
"""A shorter mask would blot out ordinary words of the log."""


def command(name: str, data: str = "") -> str:
    """One command as one line: the data is made inert, then escaped."""
    escaped = one_line(data).replace("%", "%25")
    return f"::{name}::{escaped}"


def masks(secrets: Iterable[str]) -> list[str]:
    """One `add-mask` command for each line of each secret that is long enough, each once.

    A secret of several lines is never sent whole: the runner would then mask its short lines too.
    """
    lines = dict.fromkeys(line.strip() for secret in secrets for line in secret.splitlines())
    return [f"::add-mask::{line.replace('%', '%25')}" for line in lines if len(line) >= SHORTEST_MASK_CHARS]
