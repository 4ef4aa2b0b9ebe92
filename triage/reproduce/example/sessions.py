"""Takes what was typed at a prompt and what was printed apart."""

import re
import textwrap
from collections.abc import Sequence
from itertools import accumulate, takewhile
from typing import NamedTuple

from triage.base.text import count_open
from triage.read.traces.traces import find_traces

_PYTHON = re.compile(r"^\s*(?:>>>>?(?!>) ?|>>(?: |$))(?P<code>.*)$")
_PYTHON_MORE = re.compile(r"^\s*\.{3,4}(?!\.) ?(?P<code>.*)$")
"""PyPy has one sign more."""
_IPYTHON = re.compile(r"^\s*In ?\[(?:\d+| |\*)\]: ?(?P<code>.*)$")
_IPYTHON_MORE = re.compile(r"^\s*\.{3,}: ?(?P<code>.*)$")
_OUT = re.compile(
    r"^\s*(?:Out ?\[[\d ]+\]:|# ?(?:outputs?|prints?|returns?|gives):?|(?i:outputs?|returns?|gives):$) ?(?P<text>.*)$"
)
"""IPython's mark, or a comment's, or the reporter's for himself."""
_ARROW = re.compile(r"(?<![ \t])[ \t]+<[-=]{2,}(?:[ \t>].*)?$")
"""With a remark, behind a line."""
_NODE = re.compile(r"^>(?!>) ?(?P<code>.*)$")
_CONSOLE = re.compile(r"^<(?:[·.] ?| )", re.M)
"""A browser's mark of a value."""
_NODE_MORE = re.compile(r"^\.\.\. ?(?P<code>.*)$")
_NODE_GREETING = re.compile(r"\s*$|\$ |Type \"")
_NODE_STARTS = re.compile(r"^(?:Welcome to Node|.{0,200}[$#%>] node$)", re.M)
_SHELL = re.compile(
    r"^\s*(?:(?:\(\S{1,60}\) )?[\w.-]{1,60}@[^$%#\n]{1,120}[$%#]|(?:PS )?[A-Z]:\\[^>\n]{0,120}>|\$) (?P<code>.*)$"
)
_SHELL_MORE = re.compile(r"^\s*> ?(?P<code>.*)$")
_PROMPTS = {
    "python": ((_PYTHON, _PYTHON_MORE), (_IPYTHON, _IPYTHON_MORE)),
    "node": ((_NODE, _NODE_MORE),),
    "shell": ((_SHELL, _SHELL_MORE),),
}
_COMMAND = re.compile(
    r"\bpython[\d.]* -c (?P<quote>['\"])(?P<code>(?:\\.|(?!(?P=quote))[^\\]){1,4000})(?P=quote)", re.S
)


class Session(NamedTuple):
    """Statements, and below each what was printed (empty for nothing)."""

    statements: list[str]
    outputs: list[str]
    above: str
    """What stands above the first prompt."""

    @property
    def code(self) -> str:
        return "\n".join(self.statements)


def starts_node(text: str) -> bool:
    """Return whether a shell that started Node is shown."""
    return _NODE_STARTS.search(text) is not None


def read_session(text: str, language: str) -> Session | None:
    """Return the statements of a session, or of what a shell gives to Python, and their outputs; None without any."""
    lines = text.split("\n")
    for first, more in _PROMPTS[language]:
        started = [number for number, line in enumerate(lines) if first is _NODE and starts_node(line)]
        top = max(started, default=-1)
        starts = [number for number, line in enumerate(lines) if number > top and first.match(line)]
        # A line of JavaScript may go on with `> x`.
        if starts and (first is not _NODE or all(map(_NODE_GREETING.match, lines[top + 1 : starts[0]]))):
            return _separate(lines, starts, first, more)
    if language == "python" and (command := _COMMAND.search(text)):
        return Session([command["code"].replace('\\"', '"')], [text[command.end() :].strip()], "")
    return None


def _separate(lines: Sequence[str], starts: Sequence[int], first: re.Pattern[str], more: re.Pattern[str]) -> Session:
    session = Session([], [], "\n".join(lines[: starts[0]]).strip())
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        code, number = [first.sub(r"\g<code>", lines[start])], start + 1
        # Jupyter shows the lines that go on without a prompt, below the code.
        blank = " " * len(lines[start][: -len(code[0])]) if first is _IPYTHON and code[0] else ""
        if first is _IPYTHON and not code[0].strip():  # pasted from the page: the code stands below its number
            below = takewhile(lambda line: line.strip() and not _OUT.match(line), lines[number:end])
            code = [*below]
            number += len(code)
        while number < end:
            match = more.match(lines[number])
            if not match and not (blank and lines[number].startswith(blank)):
                break
            code.append(match["code"] or "" if match else lines[number][len(blank) :])
            number += 1
        rest = _find_rest(code, lines[number:end]) if first is _PYTHON else []
        code, number = [*code, *rest], number + len(rest)
        statement = textwrap.dedent("\n".join(code)).rstrip()
        output = without_marks("\n".join(lines[number:end]))
        output = _CONSOLE.sub("", output) if first is _NODE else output
        if statement:
            session.statements.append(statement)
            session.outputs.append(textwrap.dedent(output).strip("\n "))
        elif session.outputs and output.strip():
            session.outputs[-1] += "\n" + output
    return session


def _find_rest(code: Sequence[str], below: Sequence[str]) -> Sequence[str]:
    """Return the lines that close the brackets of code: some terminals show them without a prompt."""
    depths = [*accumulate(map(count_open, below), initial=sum(map(count_open, code)))]
    taken = next((number for number, depth in enumerate(depths) if depth <= 0), 0)
    return below[:taken]


def without_marks(text: str) -> str:
    """Return an output without what a prompt writes into it, and without arrows of the reporter."""
    lines = ((_OUT.match(line), _ARROW.sub("", line)) for line in text.split("\n"))
    return "\n".join(_ARROW.sub("", out["text"]) if out else line for out, line in lines)


def without_traces(text: str) -> str:
    """Return the text without its stack traces: each to the end of the error's line."""
    lines = text.split("\n")
    covered = {number for found in find_traces(text) for number in range(found.start, found.end)}
    return "\n".join(line for number, line in enumerate(lines) if number not in covered)
