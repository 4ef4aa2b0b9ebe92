"""Slash commands. A command is on the first non-blank line of a comment, and nowhere else."""

import re
from enum import StrEnum
from typing import get_args

from pydantic import Field

from triage.domain.task import Subject
from triage.domain.value import Value

# Four spaces or a tab would make the line a code block.
_COMMAND = re.compile(r" {0,3}/triage(?:[ \t]+(?P<arguments>.*))?")
_WORD = re.compile(r"[a-z][a-z-]{0,19}")
_PROPOSAL_ID = re.compile(r"[0-9a-f]{12}")


MAX_WORDS_CHARS = 4_000
MAX_REPRODUCE_CHARS = 24_000
"""An example may stand below the command."""


class CommandName(StrEnum):
    TRIAGE = "triage"
    QUIET = "quiet"
    WRONG = "wrong"
    FIX = "fix"
    REPRODUCE = "reproduce"
    APPROVE = "approve"
    REJECT = "reject"
    REVISE = "revise"
    UNKNOWN = "unknown"


FIX_COMMANDS = frozenset({CommandName.FIX, CommandName.APPROVE, CommandName.REJECT, CommandName.REVISE})
"""Only the fix flow answers them."""
PROPOSAL_COMMANDS = frozenset({CommandName.APPROVE, CommandName.REJECT, CommandName.REVISE})
"""They name a proposal by its id."""


class Command(Value):
    name: CommandName
    word: str = ""
    """The name of an unknown command, if it is a plain word; else empty, because it is not shown."""
    proposal_id: str = ""
    """Of the commands about a proposal; empty if what stands there is no id."""
    words: str = ""
    """What follows `fix`, `reproduce` or a proposal's id, also in the lines below the command."""
    wrong: list[Subject] = Field(default_factory=list)
    """What follows `wrong`, or everything that may."""


def parse_command(body: str) -> Command | None:
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    number = next((number for number, line in enumerate(lines) if line.strip()), 0)
    match = _COMMAND.fullmatch(lines[number].rstrip())
    if not match:
        return None
    arguments = match["arguments"] or ""
    if not arguments:
        return Command(name=CommandName.TRIAGE)
    if arguments == "quiet":
        return Command(name=CommandName.QUIET)
    word, _, rest = arguments.partition(" ")
    below = lines[number + 1 :]
    if word == CommandName.FIX:
        return Command(name=CommandName.FIX, words=_join_words(rest, below))
    if word in PROPOSAL_COMMANDS:
        proposal_id, _, rest = rest.strip().partition(" ")
        proposal_id = proposal_id.strip("`" if word == CommandName.APPROVE else "`:")
        proposal_id = proposal_id if _PROPOSAL_ID.fullmatch(proposal_id) else ""
        return Command(name=CommandName(word), proposal_id=proposal_id, words=_join_words(rest, below))
    if word == CommandName.REPRODUCE:
        words = "\n".join([rest, *below]).rstrip()[:MAX_REPRODUCE_CHARS]
        return Command(name=CommandName.REPRODUCE, words=words)
    if word == CommandName.WRONG:
        first = rest.partition(" ")[0].rstrip(":,.;")
        subjects = [subject for subject in get_args(Subject) if subject == first]
        return Command(name=CommandName.WRONG, wrong=subjects or list(get_args(Subject)))
    word = arguments.split(maxsplit=1)[0]
    return Command(name=CommandName.UNKNOWN, word=word if _WORD.fullmatch(word) else "")


def _join_words(rest: str, below: list[str]) -> str:
    return "\n".join([rest, *below]).strip()[:MAX_WORDS_CHARS]
