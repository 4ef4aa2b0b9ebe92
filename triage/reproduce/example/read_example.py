"""Finds the example of a report: the first blocks that use the project and can be run."""

import ast
import builtins
import re
import textwrap
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter

from triage.base.text import word_set
from triage.domain.issue import CodeBlock, ParsedIssue
from triage.read.issue_facts import find_version
from triage.reproduce.example import python_code
from triage.reproduce.example.example import (
    MAX_EXAMPLE_CHARS,
    MAX_SHOWN,
    REFUSALS,
    Example,
    NoExample,
    Project,
)
from triage.reproduce.example.read_block import read_block
from triage.reproduce.example.sessions import Session, read_session, without_marks, without_traces
from triage.reproduce.example.shown_output import (
    WISH,
    find_commented,
    judge_words,
    read_stated_output,
    show_as_node,
)

_OTHER_LANGUAGES = word_set(
    "pytb bash sh shell console text txt diff json yaml toml ini html xml css sql log c cpp rust go java"
)
_COMPUTED = {name for name in dir(builtins) if name.islower()} - {*["range", "set", "frozenset", "bytearray", "slice"]}
"""Functions whose call no value looks like."""
_VERSION = re.compile(r"\d+\.\d+\.\d")
_TELLS_VERSION = re.compile(
    r"(?:print\()?[^=();\n]{0,200}\b(?:__version__|(?:get|show|print)_versions?\(\))[^=();\n]{0,200}\)?"
)
_BEHIND = re.compile(r"(?<=[\w'\")\]}]) +(?:[\[(][a-z][^()\[\]\n]*[\])]| #.*)$|\n[ \t]*\n#.*\Z", re.I)
_MISSING = re.compile(r"\bname ['\"](\w+)['\"] is not defined|module \S+ has no attribute|annot find \w+ ['\"]")
_NO_VERSIONS = "Left out what only prints a version."
_MAX_JOINED = 6
_MAX_BLOCKS = 100


@dataclass(frozen=True)
class _Part:
    """One block as code."""

    code: str
    shown: tuple[str, ...] = ()
    is_session: bool = False
    changed: tuple[str, ...] = ()
    blocks: frozenset[int] = frozenset()
    """Their numbers in the report."""
    below: tuple[str, ...] = ()
    """What stands in each below its code."""

    @cached_property
    def names(self) -> python_code.Names:
        return python_code.find_names(self.code)

    @cached_property
    def imports(self) -> set[str]:
        return python_code.find_imports(python_code.parse(self.code))


def read_example(parsed: ParsedIssue, project: Project) -> Example | NoExample:
    """Return the example of a report, or why there is none. Runs nothing."""
    version, _ = find_version(parsed, project.package)
    missing = {*_MISSING.findall(parsed.body)}  # is the fault
    if missing:
        project = project.model_copy(update={"exports": {}})
    stated = read_stated_output(parsed, version.text if version else "")
    blocks = dict(enumerate(parsed.code[:_MAX_BLOCKS]))
    is_python = project.language == "python"
    code = {number: block for number, block in blocks.items() if not (is_python and number in stated.blocks)}
    failing = {number: block for number, block in code.items() if number not in stated.working}
    find = _find_python_example if is_python else read_block
    found, outputs = find(failing, project, missing)
    if isinstance(found, NoExample) and failing != code:
        found, outputs = find(code, project, missing)
    if isinstance(found, NoExample):
        return found
    own = {number: output for number, output in outputs.items() if output}
    # A report may show several examples, each with its output.
    below, named = [lines for number, lines in stated.shown if number in {-1, *outputs}], stated.named
    if _NO_VERSIONS in found.changed:
        below = [rest for lines in below if (rest := [line for line in lines if not _VERSION.search(line)])]
        named = ["\n".join(line for line in text.split("\n") if not _VERSION.search(line)) for text in named]
    said = find_commented(found.code)
    confirmed = {*named, *(line for _, lines in stated.shown for line in lines)}
    unsure = [*said["named"], *said[""]]
    if any(confirmed.intersection(text.split("\n")) for text in unsure):
        said |= {"named": unsure, "": []}
    elif stated.others >= outputs.keys():
        said |= {"named": [], "": [], "wished": [*said["wished"], *unsure]}
    shown = [output for number, output in own.items() if number not in stated.others] or below or [*own.values()]
    shown = shown or [[text] for text in said["printed"]]
    if not shown and "None" in named and (printing := python_code.print_last(found.code)) != found.code:
        more = {"code": printing, "changed": [*found.changed, "The last value is printed, also None."]}
        found = found.model_copy(update=more)
    named, wished = [*found.named, *said["named"], *named], [*stated.wished, *said["wished"]]
    if project.language == "node" and "JSON.stringify" not in found.code:
        shown = [show_as_node("\n".join(lines)).split("\n") for lines in shown]
        named, wished, said[""] = ([*map(show_as_node, one)] for one in (named, wished, said[""]))
    wishes = [*map("\n".join, own.values()), *wished]
    wished = [text for text in wishes if text not in map("\n".join, shown)][:MAX_SHOWN]
    stated_as = {"shown": shown[:MAX_SHOWN], "named": named[:MAX_SHOWN], "commented": said[""], "wished": wished}
    return found.model_copy(update=stated_as)


def _find_python_example(
    blocks: Mapping[int, CodeBlock], project: Project, missing: Set[str]
) -> tuple[Example | NoExample, dict[int, list[str]]]:
    """Return the example, or why there is none, and what is shown below each block of it or the same block again."""
    parts = [part for number, block in blocks.items() if (part := _read_block(block, number))]
    if not parts:
        return NoExample(reason="does-not-parse" if blocks else "no-block"), {}
    modules = set(project.modules)
    refusals: list[NoExample] = []
    bound: set[str] = set()
    for number, part in enumerate(parts):
        if part.imports & modules or _can_take_imports(part, bound, project):
            joined = _join(parts, number, modules)
            found = _to_example_or_refusal(_add_imports(joined, project), missing)
            if isinstance(found, Example):
                again = [
                    part for part in parts if part.shown and not part.blocks & joined.blocks and _repeats(part, joined)
                ]
                outputs = {number: list[str]() for number in joined.blocks}
                return found, outputs | {min(part.blocks): [*part.shown] for part in (joined, *again)}
            refusals.append(found)
        bound |= part.names.bound
    nearest = max(refusals, key=lambda refusal: REFUSALS.index(refusal.reason), default=None)
    return nearest or NoExample(reason="does-not-import-the-project"), {}


def _read_block(block: CodeBlock, number: int) -> _Part | None:
    """Return a block as code that parses; None if it is no Python."""
    session = read_session(block.text, "python") if len(block.text) <= MAX_EXAMPLE_CHARS else None
    if len(block.text) > MAX_EXAMPLE_CHARS or (block.language.lower() in _OTHER_LANGUAGES and not session):
        return None
    part = _read_session(session) if session else _read_script(textwrap.dedent(block.text).strip("\n"))
    return part and replace(part, blocks=frozenset({number}))


def _read_session(session: Session) -> _Part | None:
    pairs, changed = list[tuple[str, str]](), ["Took prompts and shown output away."]
    above = python_code.parse(session.above)
    if above and any(not isinstance(one, ast.Expr) for one in above.body):
        pairs.append((session.above, ""))
    elif session.above:
        changed.append("Left out what stands above the first prompt.")
    for statement, output in zip(session.statements, session.outputs, strict=True):
        repaired = python_code.repair(statement)
        pairs += [(repaired[0], _without_remarks(without_traces(output).strip()))] if repaired else []
        changed += repaired[1] if repaired else ["Left out statements that are not Python."]
    rest = [pair for pair in pairs if not _TELLS_VERSION.fullmatch(pair[0])]
    changed += [_NO_VERSIONS] if rest != pairs else []
    code, shown = "\n".join(statement for statement, _ in rest), tuple(output for _, output in rest if output)
    return _analyze(_Part(code, shown, True, tuple(dict.fromkeys(changed))))


def _without_remarks(output: str) -> str:
    """Return an output without the reporter's words behind it, if it is a value: no text ends so."""
    shown = _BEHIND.sub("", output).strip()
    tree = python_code.parse(shown) if shown != output else None
    is_value = (
        tree is not None
        and tree.body
        and all(isinstance(one, ast.Expr) and not isinstance(one.value, ast.Name) for one in tree.body)
    )
    return shown if is_value else output


def _read_script(text: str) -> _Part | None:
    for candidate, changed in ((text, []), (without_traces(text), ["Left out the shown traceback."])):
        if repaired := python_code.repair(candidate):
            return _leave_out_displays(repaired[0], [*(changed if candidate != text else []), *repaired[1]])
    code, changed = python_code.rewrite(text)
    lines = code.split("\n")
    end = python_code.find_beginning(lines)
    note = f"Left out the last {len(lines) - end} lines of a block: they are not Python."
    part = _leave_out_displays("\n".join(lines[:end]), [*changed, note])
    below = without_marks("\n".join(text.split("\n")[end:])).strip("\n")
    is_wish = judge_words(below.partition("\n")[0]) == "wished"
    return replace(part, below=(below,)) if part and not is_wish else part


def _leave_out_displays(code: str, changed: list[str]) -> _Part | None:
    """Return code without expressions that only repeat what was printed, such as `array([1, 2])` below a call."""
    tree = python_code.parse(code)
    if tree is None:
        return None
    bound, lines = python_code.find_names(code).bound, code.split("\n")
    outputs: dict[ast.stmt, ast.expr] = {
        statement: statement.value
        for before, statement in zip(tree.body, tree.body[1:], strict=False)
        if isinstance(before, ast.Expr) and isinstance(statement, ast.Expr) and _is_output(statement.value, bound)
    }
    versions = [one for one in tree.body if _TELLS_VERSION.fullmatch(lines[one.lineno - 1])]
    changed += ["Left out shown output that is valid Python."] if outputs else []
    changed += [_NO_VERSIONS] if versions else []
    printed = (value for value in outputs.values() if not WISH.search(lines[value.lineno - 1][value.col_offset :]))
    shown = tuple(ast.get_source_segment(code, value) or "" for value in printed)
    rest = python_code.cut(code, {*outputs, *versions})
    return _analyze(_Part(rest, shown, changed=tuple(changed)))


def _is_output(value: ast.expr, bound: set[str]) -> bool:
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    is_text = isinstance(value, ast.Constant) and isinstance(value.value, str) and "\n" in value.value
    is_computed = names & (bound | _COMPUTED) or any(isinstance(node, ast.Attribute) for node in ast.walk(value))
    return not (is_text or is_computed)


def _analyze(part: _Part) -> _Part | None:
    tree = python_code.parse(part.code)
    return part if tree and tree.body and len(part.code) <= MAX_EXAMPLE_CHARS else None


def _can_take_imports(part: _Part, bound: set[str], project: Project) -> bool:
    """Return whether all names that the block does not define can be imported, and some of them from the project."""
    given = python_code.find_names(project.prelude).bound
    free = part.names.free - bound
    imports = _find_imports(free - given, part.code, project)
    is_ours = any(re.match(rf"\w+ (?:{'|'.join(map(re.escape, project.modules))})\b", one) for one in imports.values())
    return all(imports.values()) and (is_ours or bool(free & given))


def _find_imports(names: Set[str], code: str, project: Project) -> dict[str, str]:
    """Return for each name the statement that imports it; empty if it is not clear which does."""
    tree = python_code.parse(code)
    if tree is None or not names:
        return {}
    called, standard = python_code.find_called(tree), python_code.find_standard_imports(tree)
    attributes = python_code.find_attributes(tree)
    modules = {module for name, module in project.exports.items() if "." not in name}
    packages = {name: package for package, _, name in (one.rpartition(".") for one in modules)}
    found: dict[str, str] = {}
    for name in names:
        module = project.exports.get(name) or (packages.get(name, "") if name in attributes else "")
        is_known = module in project.modules or (module and name in called)
        ours = f"from {module} import {name}" if is_known else ""
        is_module = name in project.modules and not (name in project.exports and name in called)
        found[name] = f"import {name}" if is_module else ours or project.readme.get(name) or standard.get(name, "")
    return found


def _add_imports(part: _Part, project: Project) -> _Part:
    """Return the part with the names of the project and of the standard library that it does not define."""
    if part.names.free & python_code.find_names(project.prelude).bound:
        part = _prepend(project.prelude.splitlines(), part)
    attributes = python_code.find_attributes(python_code.parse(part.code) or ast.Pass())
    dotted = {f"{name}.{one}" for name in part.imports & attributes.keys() for one in attributes[name]}
    # The package may not import a module itself.
    below = {f"import {one}" for one in dotted & project.exports.keys() if f"import {one}" not in part.code}
    lines = sorted({*_find_imports(part.names.free, part.code, project).values(), *below} - {""})
    return _prepend(lines, part) if lines else part


def _prepend(lines: Sequence[str], part: _Part) -> _Part:
    changed = (f"Added `{'; '.join(lines)}` before it.", *part.changed)
    return replace(part, code="\n".join(lines) + "\n\n" + part.code, changed=changed)


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
        is_again = any(_repeats(part, one) for one in chosen)
        if not is_again and part.names.free & bound and part.names.free <= bound:
            chosen.append(part)
            bound |= part.names.bound
    return _merge_blocks(chosen)


def _repeats(part: _Part, other: _Part) -> bool:
    """Return whether all lines of a block are those of another one: a report shows it again on another version."""
    return f"\n{part.code.strip()}\n" in f"\n{other.code}\n"


def _merge_blocks(parts: Sequence[_Part]) -> _Part:
    if len(parts) == 1:
        return parts[0]
    changed = [note for part in parts for note in part.changed]
    return _Part(
        code="\n\n".join(part.code for part in parts),
        shown=tuple(output for part in parts for output in part.shown),
        below=tuple(output for part in parts for output in part.below),
        is_session=any(map(attrgetter("is_session"), parts)),
        changed=tuple(dict.fromkeys([*changed, f"Joined {len(parts)} blocks that continue each other."])),
        blocks=frozenset().union(*map(attrgetter("blocks"), parts)),
    )


def _to_example_or_refusal(part: _Part, missing: Set[str]) -> Example | NoExample:
    """Return the example that runs this code, with calls of what it only defines, or why it cannot be run."""
    tree = python_code.parse(part.code)
    if tree is None or len(part.code) > MAX_EXAMPLE_CHARS:
        return NoExample(reason="does-not-parse")
    code, changed = part.code.strip("\n"), list(part.changed)
    if not python_code.does_something(tree):
        calls = [f"{name}()" for name in python_code.find_uncalled(tree)]
        if not calls:
            return NoExample(reason="calls-nothing")
        code = "\n".join([code, "", *calls])
        changed.append(f"Added `{'; '.join(calls)}` below it.")
    if undefined := part.names.free - missing:
        return NoExample(reason="undefined-names", names=sorted(undefined)[:10])
    if python_code.has_displays(tree):
        changed.append("The values of bare expressions are printed, as at a prompt.")
    elif result := python_code.find_result(tree):
        code += f"\n{result}"
        changed.append(f"Added `{result}` below it.")
    return Example(
        language="python",
        code=f"{code}\n",
        is_session=part.is_session,
        changed=changed,
        named=[*part.below],
    )
