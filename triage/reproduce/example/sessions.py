"""Takes what was typed at a prompt and what was printed apart, and finds code that stands without a fence."""

import ast
import re
import textwrap
from collections.abc import Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from triage.base.text import count_open
from triage.read.traces.traces import find_traces
from triage.reproduce.example import python_code

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
NODE_STARTS = re.compile(r"^(?:Welcome to Node|.{0,200}[$#%>] node$)", re.M)
"""A shell that starts Node."""
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


def read_session(text: str, language: str) -> Session | None:
    """Return the statements of a session, or of what a shell gives to Python, and their outputs; None without any."""
    lines = text.split("\n")
    for first, more in _PROMPTS[language]:
        started = [number for number, line in enumerate(lines) if first is _NODE and NODE_STARTS.search(line)]
        top = max(started, default=-1)
        starts = [number for number, line in enumerate(lines) if number > top and first.match(line)]
        # A line of JavaScript may go on with `> x`.
        if starts and (first is not _NODE or all(map(_NODE_GREETING.match, lines[top + 1 : starts[0]]))):
            return _separate(lines, starts, first, more)
    if language == "python" and (command := _COMMAND.search(text)):
        return Session([command["code"].replace('\\"', '"')], [text[command.end() :].strip()], "")
    return None


def _separate(lines: Sequence[str], starts: Sequence[int], first: re.Pattern[str], more: re.Pattern[str]) -> Session:
    """Return what stands behind the prompts of these lines (`starts`), and what is printed below each."""
    session = Session([], [], "\n".join(lines[: starts[0]]).strip())
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        code, number = [first.sub(r"\g<code>", lines[start])], start + 1
        # Jupyter shows the lines that go on without a prompt, below the code.
        blank = " " * len(lines[start][: -len(code[0])]) if first is _IPYTHON and code[0] else ""
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


_PART = re.compile(r"^(`+)(?P<span>[^`]+)\1$|^(?P<words>(?!!\[)[^\n`]+(?:\n(?!`|!\[)[^\n]+)*)", re.M)
"""A span of code that has its lines for itself, or a paragraph up to a picture."""
_SCRIPT_LINE = re.compile(r".*[;{}()\[,]|[ \t].*|[}\])].*|//.*")
"""A line of JavaScript."""
_SCRIPT = re.compile(r"\s*(?:[\w$.{},: \t]+= *)?require\(|(?:const|let|var) [\w${},: ]+ = |//")
_CODE_LINE = re.compile(r"[\w.$]+(?:\(| = )|import \w|from [\w.]+ import |(?:const|let|var) .*=|[)}\]]+;?$")
"""A line of code that may stand between the words of a paragraph."""
_CALL_IN_WORDS = re.compile(r"`((?:new )?[\w$.]+\((?! *\))[^`\n]+\));?`")
"""With arguments: without any it is the function's name."""
_MAX_PARTS = 100


def fence_code(body: str, prose: str) -> str:
    """Return a body with fences around code that has none, as far as people see it in the prose as it was written.

    Markdown takes it for words, or for one line.
    """
    text, shown = ("\n".join(map(str.rstrip, one.splitlines())) for one in (body, prose))
    seen = " ".join(shown.split())
    parts = islice(_PART.finditer(text), _MAX_PARTS)
    for part in reversed(list(parts)):
        lines = (part["span"] or part["words"]).strip("\n").removesuffix(",").split("\n")
        calls = [number for number, line in enumerate(lines) if _CODE_LINE.match(line)] or [0]
        starts = [0] if part["span"] else [int(lines[0].endswith(":")), 0]  # "I call this:"
        for start, end in [*((start, len(lines)) for start in starts), (calls[0], calls[-1] + 1)]:
            above, code, below = ("\n".join(one) for one in (lines[:start], lines[start:end], lines[end:]))
            if (("\n" in code and part["span"]) or _is_code(code)) and " ".join(code.split()) in seen:
                text = f"{text[: part.start()]}{above}\n```\n{code}\n```\n{below}{text[part.end() :]}"
                break
    # Of several calls in sentences it is not clear which one is wrong.
    stated = {*_CALL_IN_WORDS.findall(prose)} if "\n```\n" not in text else set()
    return f"{text}\n\n```\n{stated.pop()}\n```\n" if len(stated) == 1 else text


def _is_code(text: str) -> bool:
    lines = text.strip("\n").split("\n")
    if any(line.endswith(";") or _SCRIPT.match(line) for line in lines) and all(map(_SCRIPT_LINE.fullmatch, lines)):
        return True
    if read_session(text, "python"):
        return True
    tree = python_code.parse(text)
    return tree is not None and any(isinstance(node, ast.Call | ast.Import | ast.ImportFrom) for node in ast.walk(tree))
