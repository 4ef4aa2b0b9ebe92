"""Finds the example of a report: the first blocks that use the project and can be run."""

import ast
import builtins
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from triage.base.text import word_set
from triage.domain.issue import CodeBlock, ParsedIssue
from triage.reproduce.example import python_code
from triage.reproduce.example.example import (
    MAX_EXAMPLE_CHARS,
    MAX_SHOWN,
    MAX_SHOWN_CHARS,
    REFUSALS,
    Example,
    NoExample,
    Project,
)
from triage.reproduce.example.read_block import read_block
from triage.reproduce.example.sessions import read_session, without_traces
from triage.reproduce.example.shown_output import find_printed_blocks, find_printed_values

_OTHER_LANGUAGES = word_set(
    "pytb bash sh shell console text txt diff json yaml toml ini html xml css sql log c cpp rust go java"
)
_PLAIN = frozenset({"", "text", "txt", "console"})
_COMPUTED = {name for name in dir(builtins) if name.islower()} - {*["range", "set", "frozenset", "bytearray", "slice"]}
"""Functions whose call no value looks like."""
_MAX_JOINED = 6
_MAX_TRIES = 100
"""To find where a block ceases to be code: each parses all of it again."""


@dataclass(frozen=True)
class _Part:
    """One block as code."""

    code: str
    shown: tuple[str, ...] = ()
    is_session: bool = False
    changed: tuple[str, ...] = ()
    names: python_code.Names = field(default_factory=lambda: python_code.Names(set(), set()))
    imports: frozenset[str] = frozenset()


def read_example(parsed: ParsedIssue, project: Project) -> Example | NoExample:
    """Return the example of a report, or why there is none. Runs nothing."""
    printed = find_printed_blocks(parsed)
    if project.language == "python":
        found = _find_python_example([block for block in parsed.code if block not in printed], project)
    else:
        found = read_block(parsed.code, project)
        printed = [block for block in printed if block.language.lower() in _PLAIN]
    if isinstance(found, NoExample) or found.shown:
        return found
    # A line each: the values of bare expressions are printed between them.
    lines = [line for block in printed for line in block.text.split("\n") if line.strip()] or find_printed_values(
        parsed
    )
    return found.model_copy(update={"shown": [line[:MAX_SHOWN_CHARS] for line in lines[:MAX_SHOWN]]})


def _find_python_example(blocks: Sequence[CodeBlock], project: Project) -> Example | NoExample:
    parts = [part for block in blocks if (part := _read_block(block))]
    if not parts:
        return NoExample(reason="does-not-parse" if blocks else "no-block")
    modules = set(project.modules)
    refusals: list[NoExample] = []
    for number, part in enumerate(parts):
        if part.imports & modules or _can_take_prelude(part, parts[:number], project):
            joined = _add_prelude(_join(parts, number, modules), project)
            found = _make_example(joined)
            if isinstance(found, Example):
                return found
            refusals.append(found)
    if not refusals:
        return NoExample(reason="does-not-import-the-project")
    return max(refusals, key=lambda refusal: REFUSALS.index(refusal.reason))


def restore_blanks(parsed: ParsedIssue, body: str) -> ParsedIssue:
    """Return the report with the blanks at the ends of its code's lines, which may be the fault.

    Readings for models have none: strangers hide text in them.
    """
    lines = body.splitlines()
    visible = [line.rstrip() for line in lines]

    def restore(block: CodeBlock) -> CodeBlock:
        wanted = block.text.split("\n")
        places = (number for number in range(len(lines)) if visible[number : number + len(wanted)] == wanted)
        start = next(places, None)
        text = block.text if start is None else "\n".join(lines[start : start + len(wanted)])
        return block.model_copy(update={"text": text})

    return parsed.model_copy(update={"code": [restore(block) for block in parsed.code]})


def _read_block(block: CodeBlock) -> _Part | None:
    """Return a block as code that parses; None if it is no Python."""
    language = block.language.lower()
    if len(block.text) > MAX_EXAMPLE_CHARS or (language in _OTHER_LANGUAGES and ">>>" not in block.text):
        return None
    session = read_session(block.text, "python")
    changed: list[str] = []
    if session is not None:
        statements, shown = list[str](), list[str]()
        for statement, output in zip(session.statements, session.outputs, strict=True):
            repaired, _ = python_code.repair(statement)
            if python_code.parse(repaired) is not None:
                kept = python_code.leave_versions_out(repaired)
                statements.append(kept)
                shown.append(without_traces(output).strip() if kept == repaired else "")
        code, repairs = "\n".join(statements), python_code.repair(session.code)[1]
        changed += ["Took prompts and shown output away.", *repairs]
        return _analyze(_Part(code, tuple(filter(None, shown)), True, tuple(changed)))
    return _read_script(textwrap.dedent(block.text).strip("\n"))


def _read_script(text: str) -> _Part | None:
    for candidate, changed in ((text, ()), (without_traces(text), ("Left out the shown traceback.",))):
        repaired, repairs = python_code.repair(candidate)
        code = candidate if python_code.parse(candidate) is not None else repaired
        notes = (*changed, *(repairs if code is repaired else ())) if candidate != text or code is repaired else ()
        if python_code.parse(code) is not None:
            return _analyze(_leave_out_outputs(_Part(code, changed=notes)))
    lines = python_code.repair(text)[0].split("\n")
    for end in range(len(lines) - 1, max(0, len(lines) - 1 - _MAX_TRIES), -1):
        if lines[end - 1].strip() and python_code.parse("\n".join(lines[:end])) is not None:
            note = f"Left out the last {len(lines) - end} lines of a block: they are not Python."
            return _analyze(_leave_out_outputs(_Part("\n".join(lines[:end]), changed=(note,))))
    return None


def _leave_out_outputs(part: _Part) -> _Part:
    """Return the part without expressions that only repeat what was printed, such as `array([1, 2])` below a call."""
    tree = python_code.parse(part.code)
    assert tree is not None
    bound = python_code.find_names(part.code).bound
    lines, shown = part.code.split("\n"), list[str]()
    outputs = [
        statement
        for before, statement in zip(tree.body, tree.body[1:], strict=False)
        if isinstance(before, ast.Expr) and isinstance(statement, ast.Expr) and _is_output(statement.value, bound)
    ]
    for statement in reversed(outputs):
        place = slice(statement.lineno - 1, statement.end_lineno)
        shown.insert(0, "\n".join(lines[place]))
        del lines[place]
    note = ("Left out shown output that is valid Python.",) if outputs else ()
    return replace(part, code="\n".join(lines), shown=(*part.shown, *shown), changed=(*part.changed, *note))


def _is_only_output(part: _Part, bound: set[str]) -> bool:
    tree = python_code.parse(part.code)
    return tree is not None and all(isinstance(one, ast.Expr) and _is_output(one.value, bound) for one in tree.body)


def _is_output(value: ast.expr, bound: set[str]) -> bool:
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    if names & _COMPUTED:
        return False
    is_text = isinstance(value, ast.Constant) and isinstance(value.value, str) and "\n" in value.value
    return not is_text and not names & bound and not any(isinstance(node, ast.Attribute) for node in ast.walk(value))


def _analyze(part: _Part) -> _Part | None:
    tree = python_code.parse(part.code)
    if tree is None or not tree.body or len(part.code) > MAX_EXAMPLE_CHARS:
        return None
    return replace(part, names=python_code.find_names(part.code), imports=frozenset(python_code.find_imports(tree)))


def _can_take_prelude(part: _Part, before: Sequence[_Part], project: Project) -> bool:
    """Return whether all names that the block does not define are the project's own, and some are."""
    known = {*project.exports, *project.modules} | python_code.find_names(project.prelude).bound
    free = part.names.free - {name for one in before for name in one.names.bound}
    return bool(free) and free <= known


def _add_prelude(part: _Part, project: Project) -> _Part:
    """Return the part with the names of the project defined, where it uses but does not define them."""
    free = part.names.free
    if not free:
        return part
    star = f"from {project.modules[0]} import *"
    own = set(project.exports)
    if project.prelude and free <= own | python_code.find_names(project.prelude).bound:
        prelude = project.prelude
    elif free <= set(project.modules):
        prelude = "\n".join(f"import {name}" for name in sorted(free))
    elif free <= own:
        prelude = star
    else:
        return part
    return _merge([_Part(prelude, changed=(f"Added `{prelude.splitlines()[0]}` before it.",)), part])


def _join(parts: Sequence[_Part], number: int, modules: set[str]) -> _Part:
    """Return the block with the earlier ones that define its names, and the later ones that use its names."""
    chosen, free = [parts[number]], set(parts[number].names.free)
    for part in reversed(parts[:number]):
        if free & part.names.bound and not part.imports & modules:
            chosen.insert(0, part)
            free = (free - part.names.bound) | part.names.free
    bound = {name for part in chosen for name in part.names.bound}
    for part in parts[number + 1 : number + 1 + _MAX_JOINED]:
        if part.imports & modules:
            break
        if not _is_only_output(part, bound) and part.names.free & bound and part.names.free <= bound:
            chosen.append(part)
            bound |= part.names.bound
    return _merge(chosen)


def _merge(parts: Sequence[_Part]) -> _Part:
    if len(parts) == 1:
        return parts[0]
    bound: set[str] = set()
    free: set[str] = set()
    for part in parts:
        free |= part.names.free - bound
        bound |= python_code.find_names(part.code).bound
    names = python_code.find_names("\n".join(part.code for part in parts))
    changed = [note for part in parts for note in part.changed]
    blocks = sum(1 for part in parts if not part.changed or not part.changed[0].startswith("Added"))
    if blocks > 1:
        changed.append(f"Joined {blocks} blocks that continue each other.")
    return _Part(
        code="\n\n".join(part.code for part in parts),
        shown=tuple(output for part in parts for output in part.shown),
        is_session=any(map(attrgetter("is_session"), parts)),
        changed=tuple(dict.fromkeys(changed)),
        names=names,
        imports=frozenset().union(*map(attrgetter("imports"), parts)),
    )


def _make_example(part: _Part) -> Example | NoExample:
    tree = python_code.parse(part.code)
    if tree is None or len(part.code) > MAX_EXAMPLE_CHARS:
        return NoExample(reason="does-not-parse")
    changed = list(part.changed)
    if not python_code.does_something(tree):
        return NoExample(reason="calls-nothing")
    if part.names.free:
        return NoExample(reason="undefined-names", names=sorted(part.names.free)[:10])
    if python_code.has_displays(tree):
        changed.append("The values of bare expressions are printed, as at a prompt.")
    return Example(
        language="python",
        code=part.code.strip("\n") + "\n",
        shown=[output[:MAX_SHOWN_CHARS] for output in part.shown][:MAX_SHOWN],
        is_session=part.is_session,
        changed=changed,
    )
