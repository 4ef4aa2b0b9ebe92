"""Slash commands. A command is on the first non-blank line of a comment, and nowhere else."""

import re
from enum import StrEnum

from triage.domain.value import Value

# Four spaces or a tab would make the line a code block.
_COMMAND = re.compile(r" {0,3}/triage(?:[ \t]+(?P<arguments>.*))?")
_WORD = re.compile(r"[a-z][a-z-]{0,19}")


class CommandName(StrEnum):
    TRIAGE = "triage"
    QUIET = "quiet"
    UNKNOWN = "unknown"


class Command(Value):
    name: CommandName
    word: str = ""
    """The name of an unknown command, if it is a plain word; else empty, because it is not shown."""


def parse_command(body: str) -> Command | None:
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = next((line for line in lines if line.strip()), "")
    match = _COMMAND.fullmatch(first.rstrip())
    if not match:
        return None
    arguments = match["arguments"] or ""
    if not arguments:
        return Command(name=CommandName.TRIAGE)
    if arguments == "quiet":
        return Command(name=CommandName.QUIET)
    word = arguments.split(maxsplit=1)[0]
    return Command(name=CommandName.UNKNOWN, word=word if _WORD.fullmatch(word) else "")
