"""What GitHub's runner makes of a log and of the file commands, by its own grammar.

Ported from the rules of actions/runner 2.336 (ActionCommand.cs, FileCommandManager.cs, OutputManager.cs): commands
are taken from standard output and standard error alike.
"""

import re
from dataclasses import dataclass

COMMAND_NAMES = frozenset(
    {
        *("error", "warning", "notice", "debug", "group", "endgroup", "echo", "stop-commands"),
        *("add-mask", "add-matcher", "remove-matcher", "set-env", "add-path", "set-output", "save-state"),
    }
)


@dataclass(frozen=True)
class RunnerCommand:
    """A command that the runner carried out."""

    name: str
    data: str
    properties: tuple[tuple[str, str], ...] = ()


def log_lines(text: str) -> list[str]:
    """Lines as .NET's reader cuts them: at LF, CR LF, and CR alone."""
    lines = re.split("\r\n|\r|\n", text)
    return lines[:-1] if lines[-1] == "" else lines


def parse_commands(text: str) -> list[RunnerCommand]:
    """Every command in a log, in order."""
    return [command for line in log_lines(text) if (command := _new_form(line) or _old_form(line))]


def _new_form(line: str) -> RunnerCommand | None:
    """`::name key=value::data`, at a line's start, blanks not counted."""
    stripped = line.lstrip()
    end = stripped.find("::", 2)
    if not stripped.startswith("::") or end < 0:
        return None
    name, _, told = stripped[2:end].partition(" ")
    pairs = [pair.strip().partition("=") for pair in told.split(",") if "=" in pair]
    properties = tuple((key, _unescaped(value.replace("%3A", ":").replace("%2C", ","))) for key, _, value in pairs)
    data = _unescaped(stripped[end + 2 :])
    return RunnerCommand(name.lower(), data, properties) if name.lower() in COMMAND_NAMES else None


def _unescaped(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def _old_form(line: str) -> RunnerCommand | None:
    """`##[name key=value;]data`, anywhere in a line."""
    start = line.find("##[")
    end = line.find("]", start)
    if start < 0 or end < 0:
        return None
    name = line[start + 3 : end].partition(" ")[0].lower()
    return RunnerCommand(name, line[end + 1 :]) if name in COMMAND_NAMES else None


def parse_outputs(content: bytes) -> dict[str, str]:
    """Names and values of a GITHUB_OUTPUT file; lines end at LF only.

    Raises:
        ValueError: The step would fail.
    """
    text = content.decode("utf-8")
    found: dict[str, str] = {}
    while text:
        line, _, text = text.partition("\n")
        equals, heredoc = line.find("="), line.find("<<")
        if not line:
            continue
        if equals >= 0 and (heredoc < 0 or equals < heredoc):
            found[line[:equals]] = line[equals + 1 :]
            continue
        name, mark = line[:heredoc], line[heredoc + 2 :]
        if heredoc <= 0 or not mark:
            raise ValueError(line)
        value: list[str] = []
        while True:
            if "\n" not in text:
                raise ValueError("Matching delimiter not found")
            line, _, text = text.partition("\n")
            if line == mark:
                break
            value.append(line)
        found[name] = "\n".join(value)
    return found
