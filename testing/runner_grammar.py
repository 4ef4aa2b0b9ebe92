"""Parses logs and output files as GitHub's runner does. Written from the runner's rules, not from our code.

Source: actions/runner 2.336, ActionCommand.cs and ActionCommandManager.cs for the log, which includes standard error;
FileCommandManager.cs for files. Where a comparison in .NET may skip invisible characters, they are skipped here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

COMMANDS = frozenset(
    [
        "add-mask",
        "add-matcher",
        "add-path",
        "debug",
        "echo",
        "endgroup",
        "error",
        "group",
        "internal-set-repo-path",
        "notice",
        "remove-matcher",
        "save-state",
        "set-env",
        "set-output",
        "stop-commands",
        "warning",
    ]
)
_SKIPPED = re.compile("[\x00-\x08\x0e-\x1f\x7f\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
"""`StartsWith` of .NET compares by culture, which ignores these characters."""
_NEW_FORM = re.compile(r"\s*::(?P<name>[^ ]*?)(?: (?P<properties>.*?))?::(?P<data>.*)", re.S)
_OLD_FORM = re.compile(r"##\[(?P<name>[^ \]]*)(?: (?P<properties>[^\]]*))?\](?P<data>.*)", re.S)
_Escapes = tuple[tuple[str, str], ...]
_DATA: _Escapes = (("%0D", "\r"), ("%0A", "\n"), ("%25", "%"))
_PROPERTY: _Escapes = (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%"))
_OLD_VALUE: _Escapes = (("%3B", ";"), ("%0D", "\r"), ("%0A", "\n"), ("%5D", "]"), ("%25", "%"))


@dataclass(frozen=True)
class RunnerCommand:
    """A command that the runner carries out."""

    name: str
    data: str
    properties: Mapping[str, str] = field(default_factory=dict)


class StepFailsError(ValueError):
    """The file would fail the step."""


def log_lines(log: str) -> list[str]:
    """Returns the lines as .NET reads them: LF, CR LF and CR alone end a line."""
    lines = re.split("\r\n|\r|\n", log)
    return lines[:-1] if lines[-1] == "" else lines


def parse_commands(log: str) -> list[RunnerCommand]:
    """Returns every command in order. Ignores `stop-commands`, so that nothing hides behind it."""
    parsed = (_parse_line(line) or _parse_line(_SKIPPED.sub("", line)) for line in log_lines(log))
    return [command for command in parsed if command]


def _parse_line(line: str) -> RunnerCommand | None:
    new = _NEW_FORM.match(line)
    if new and new["name"].lower() in COMMANDS:
        properties = _parse_properties(new["properties"], ",", _PROPERTY)
        return RunnerCommand(new["name"].lower(), _unescape(new["data"], _DATA), properties)
    old = _OLD_FORM.search(line)
    if old and old["name"].lower() in COMMANDS:
        properties = _parse_properties(old["properties"], ";", _OLD_VALUE)
        return RunnerCommand(old["name"].lower(), _unescape(old["data"], _OLD_VALUE), properties)
    return None


def _parse_properties(text: str | None, separator: str, escapes: _Escapes) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in (text or "").strip().split(separator)]
    return {key: _unescape(value, escapes) for key, _, value in pairs if key and value}


def _unescape(text: str, escapes: _Escapes) -> str:
    for escape, character in escapes:
        text = text.replace(escape, character)
    return text


def parse_pairs(content: bytes) -> list[tuple[str, str]]:
    """Returns names and values of a file of outputs, state or variables, in order, with repetitions.

    Raises:
        StepFailsError: A line is neither `NAME=VALUE` nor `NAME<<END`, or the end is missing.
    """
    rest = content.decode("utf-8", "replace").removeprefix("\ufeff")
    pairs: list[tuple[str, str]] = []
    while rest:
        line, _, rest = rest.partition("\n")
        equals, heredoc = line.find("="), line.find("<<")
        if not line:
            continue
        if equals >= 0 and (heredoc < 0 or equals < heredoc):
            pairs.append((line[:equals], line[equals + 1 :]))
            continue
        name, end = line[: max(heredoc, 0)], line[heredoc + 2 :]
        if not name or not end:
            raise StepFailsError(line[:80])
        value, rest = _read_until(end, rest)
        pairs.append((name, value))
    return pairs


def _read_until(end: str, rest: str) -> tuple[str, str]:
    value: list[str] = []
    while True:
        line, newline, rest = rest.partition("\n")
        if line == end:
            return "\n".join(value), rest
        if not newline:
            raise StepFailsError(f"no line {end[:40]}")
        value.append(line)


def parse_outputs(content: bytes) -> dict[str, str]:
    """Returns the outputs that later steps get. Raises StepFailsError like `parse_pairs`."""
    return dict(parse_pairs(content))
