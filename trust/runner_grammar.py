"""What GitHub's runner makes of a log and of a file of outputs: its two grammars, written anew from their rules.

Rules of actions/runner (2026-08): ActionCommand.cs and ActionCommandManager.cs for the log, FileCommandManager.cs for
files. Where .NET's comparison may skip invisible characters, the reading that obeys more is taken.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from trust.word_set import word_set

COMMANDS = word_set(
    "add-mask add-matcher add-path debug echo endgroup error group internal-set-repo-path notice "
    "remove-matcher save-state set-env set-output stop-commands warning"
)
_SKIPPED = re.compile("[\x00-\x08\x0e-\x1f\x7f\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
"""A comparison by culture, which `StartsWith` of .NET is, takes these for nothing."""
_NEW = re.compile(r"\s*::(?P<name>[^ ]*?)(?: (?P<properties>.*?))?::(?P<data>.*)", re.S)
_OLD = re.compile(r"##\[(?P<name>[^ \]]*)(?: (?P<properties>[^\]]*))?\](?P<data>.*)", re.S)
_DATA = (("%0D", "\r"), ("%0A", "\n"), ("%25", "%"))
_PROPERTY = (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%"))
_OLD_VALUE = (("%3B", ";"), ("%0D", "\r"), ("%0A", "\n"), ("%5D", "]"), ("%25", "%"))


@dataclass(frozen=True)
class Command:
    """A command that the runner carries out."""

    name: str
    data: str
    properties: dict[str, str] = field(default_factory=dict)


class StepFails(ValueError):
    """The file would fail the step."""


def split_lines(log: str) -> list[str]:
    """Lines as .NET reads a process's output: LF, CR LF and CR alone end one."""
    return re.split("\r\n|\r|\n", log)


def parse_commands(log: str) -> Iterator[Command]:
    """Every command in a log, in order; `stop-commands` is not minded, so that nothing hides behind it."""
    for line in split_lines(log):
        found = _of_line(line) or _of_line(_SKIPPED.sub("", line))
        if found is not None:
            yield found


def _of_line(line: str) -> Command | None:
    new = _NEW.match(line)
    if new and new["name"].lower() in COMMANDS:
        return Command(
            new["name"].lower(), _unescaped(new["data"], _DATA), _properties(new["properties"], ",", _PROPERTY)
        )
    old = _OLD.search(line)
    if old and old["name"].lower() in COMMANDS:
        values = _properties(old["properties"], ";", _OLD_VALUE)
        return Command(old["name"].lower(), _unescaped(old["data"], _OLD_VALUE), values)
    return None


def _properties(told: str | None, separator: str, escapes: tuple[tuple[str, str], ...]) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in (told or "").strip().split(separator)]
    return {key: _unescaped(value, escapes) for key, _, value in pairs if key and value}


def _unescaped(text: str, escapes: tuple[tuple[str, str], ...]) -> str:
    for written, meant in escapes:
        text = text.replace(written, meant)
    return text


def parse_pairs(content: bytes) -> list[tuple[str, str]]:
    """Names and values of a file of outputs, of state or of variables, in order, repeats too.

    Raises:
        StepFails: A line is neither `NAME=VALUE` nor `NAME<<END`, or the end does not come.
    """
    rest = content.decode("utf-8", "replace").removeprefix("\ufeff")
    found: list[tuple[str, str]] = []
    while rest:
        line, _, rest = rest.partition("\n")
        equals, heredoc = line.find("="), line.find("<<")
        if not line:
            continue
        if equals >= 0 and (heredoc < 0 or equals < heredoc):
            found.append((line[:equals], line[equals + 1 :]))
            continue
        name, end = line[: max(heredoc, 0)], line[heredoc + 2 :]
        if not name or not end:
            raise StepFails(line[:80])
        value, rest = _until(end, rest)
        found.append((name, value))
    return found


def _until(end: str, rest: str) -> tuple[str, str]:
    """The value before the line that ends it, and what follows that line."""
    value: list[str] = []
    while True:
        line, newline, rest = rest.partition("\n")
        if line == end:
            return "\n".join(value), rest
        if not newline:
            raise StepFails(f"no line {end[:40]}")
        value.append(line)
