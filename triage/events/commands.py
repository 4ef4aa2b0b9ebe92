"""Slash commands. A command stands on the first non-blank line of a comment, and nowhere else."""

import re
from enum import StrEnum

from triage.domain.value import Value

# Four spaces or a tab would make the line a code block.
_COMMAND = re.compile(r" {0,3}/triage(?:[ \t]+(?P<words>.*))?")
_WORD = re.compile(r"[a-z][a-z-]{0,19}")


class CommandName(StrEnum):
    """The commands that exist."""

    TRIAGE = "triage"
    QUIET = "quiet"
    UNKNOWN = "unknown"


class Command(Value):
    """What a comment orders."""

    name: CommandName
    word: str = ""
    """The unknown command's name; empty when it is not a plain word that may be shown."""


def parse_command(body: str) -> Command | None:
    """The command on the first non-blank line; none when that line is anything else."""
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = next((line for line in lines if line.strip()), "")
    match = _COMMAND.fullmatch(first.rstrip())
    if not match:
        return None
    words = match["words"] or ""
    if not words:
        return Command(name=CommandName.TRIAGE)
    if words == "quiet":
        return Command(name=CommandName.QUIET)
    word = words.split(maxsplit=1)[0]
    return Command(name=CommandName.UNKNOWN, word=word if _WORD.fullmatch(word) else "")
