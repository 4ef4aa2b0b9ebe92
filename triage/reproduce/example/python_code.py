"""What can be said about Python code without running it."""

import ast
import builtins
import importlib
import re
import symtable
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from functools import cache
from sys import stdlib_module_names
from typing import NamedTuple

from triage.base.text import word_set

_GIVEN = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__builtins__", "_"}
_PRINT = re.compile(r"^([ \t]*)print (?![(=.])(.+?),?$", re.M)
_MAGIC = re.compile(r"^([ \t]*)([%!][ \t]?\w.*|\?\S+|\S+\?)$", re.M)
_IMPORT_LINE = re.compile(r"(?:^\W{0,9}|`)((?:from [\w.]{1,99} )?import \w[^`\n]{0,200})(?:`|$)", re.M)
_MAX_DEPTH = 500
"""Of nesting. What is deeper ends other analyses at the limit of Python's stack."""
_TESTS = re.compile(r"/(?:tests?|testing|conftest|test_\w+)(?:/|$)")
_MAX_FILES = 300
_MAX_TRIES = 20
_STANDARD = word_set(
    "abc collections contextlib copy dataclasses datetime decimal enum fractions functools io itertools math pathlib "
    "random textwrap types typing uuid"
)
"""Modules of the standard library whose names are used without the module."""
_STANDARD_MODULES = _STANDARD | {"json", "os", "pickle", "re", "sys", "time"}


def parse(code: str) -> ast.Module | None:
    """Return the tree of code for today's Python; None if it is none, or is nested too deeply for further questions."""
    found = _parse(code)
    level: list[ast.AST] = [] if isinstance(found, int) else [found]
    for _ in range(_MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return None if level or isinstance(found, int) else found


def _parse(code: str) -> ast.Module | int:
    """Return the tree, or the number of the first line that is no Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as an escape that will be an error one day
        try:
            return ast.parse(code)
        except SyntaxError as error:
            return error.lineno or 1
        except (ValueError, RecursionError, MemoryError):
            return 1


def find_beginning(lines: Sequence[str]) -> int:
    """Return how many of the first lines are Python, if the rest is not; 0 if that takes too long to find."""
    end = len(lines)
    for _ in range(_MAX_TRIES):
        found = _parse("\n".join(lines[:end]))
        if not isinstance(found, int):
            return end
        # Whatever follows this line, all up to it is no Python.
        end = min(end, found) - 1
    return 0


def rewrite(code: str) -> tuple[str, list[str]]:
    """Return code with `print x` as a call and with lines for a notebook as comments, and what was changed."""
    code, magics = _MAGIC.subn(r"\1pass  # \2", code)
    code, prints = _PRINT.subn(r"\1print(\2)", code)
    changed = ["Left out commands for a notebook."] if magics else []
    return code, [*changed, *(["Wrote print statements of Python 2 as calls."] if prints else [])]


def repair(code: str) -> tuple[str, list[str]] | None:
    """Return code that parses, as it stands or else rewritten, and what was changed; None if it parses in no way."""
    for found in ((code, list[str]()), rewrite(code)):
        if parse(found[0]) is not None:
            return found
    return None


def cut(code: str, statements: Iterable[ast.stmt]) -> str:
    """Return code without some of its statements; `pass` stands for one that shares its lines with others."""
    lines = code.encode().split(b"\n")  # columns count bytes
    for one in sorted(statements, key=lambda one: (one.lineno, one.col_offset), reverse=True):
        first, last = one.lineno - 1, (one.end_lineno or one.lineno) - 1
        before, after = lines[first][: one.col_offset], lines[last][one.end_col_offset :]
        lines[first : last + 1] = [before + b"pass" + after] if before.strip() or after.strip() else []
    return b"\n".join(lines).decode()


def find_imports(tree: ast.AST | None) -> set[str]:
    """Return the top-level modules that code imports, at any depth."""
    found = set()
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def read_import_lines(text: str, modules: Set[str]) -> dict[str, str]:
    """Return the statement by which a text, such as a README, imports each name from some modules."""
    trees = (parse(match[1]) for match in _IMPORT_LINE.finditer(text))
    found: dict[str, str] = {}
    for tree in trees:
        for node in tree.body if tree and find_imports(tree) & modules else ():
            for alias in getattr(node, "names", ()):
                start = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
                found.setdefault(alias.asname or alias.name, f"{start}import {ast.unparse(alias)}")
    return found


class Names(NamedTuple):
    bound: set[str]
    free: set[str]
    """Used, but neither bound nor built in."""


def find_names(code: str) -> Names:
    """Return the names that code binds at its top level, and those that it uses without binding them."""
    tree = parse(code)
    if tree is None:
        return Names(set(), set())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table = symtable.symtable(code, "example", "exec")
        except SyntaxError:  # such as `return` at the top level
            return Names(set(), set())
    bound = {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()}
    used = {one.get_name() for one in table.get_symbols() if one.is_referenced()}
    scopes = table.get_children()
    for scope in scopes:
        scopes += scope.get_children()
        bound |= {one.get_name() for one in scope.get_symbols() if one.is_declared_global() and one.is_assigned()}
        used |= {one.get_name() for one in scope.get_symbols() if one.is_global() and one.is_referenced()}
    has_star = any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree))
    given = _GIVEN - ({"_"} & find_attributes(tree).keys())  # what stands for a module is not the last value
    return Names(bound, set() if has_star else used - bound - given)


def find_called(tree: ast.AST) -> set[str]:
    """Return the names that are called, decorate or are a base, and classes: else what a report passes is its own."""
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found.append(node.func)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found += [*node.decorator_list, *(node.bases if isinstance(node, ast.ClassDef) else [])]
        elif isinstance(node, ast.Name) and not node.id.islower() and not node.id.isupper():
            found.append(node)
    return {one.id for one in found if isinstance(one, ast.Name)}


def find_standard_imports(tree: ast.AST) -> dict[str, str]:
    """Return the statement that imports each name that clearly is of the standard library, by how it is used."""
    called, attributes, sources = find_called(tree), find_attributes(tree), _find_standard_names()
    found = {name: f"from {sources[name]} import {name}" for name in called if name in sources}
    for name in _STANDARD_MODULES & attributes.keys():
        module = importlib.import_module(name)
        if all(hasattr(module, one) for one in attributes[name]):
            found[name] = f"import {name}"
    return found


def find_attributes(tree: ast.AST) -> dict[str, list[str]]:
    """Return the attributes of each name that is used for nothing else, as a module is."""
    uses = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    attributes: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            attributes.setdefault(node.value.id, []).append(node.attr)
    return {name: found for name, found in attributes.items() if len(found) == uses[name]}


@cache
def _find_standard_names() -> dict[str, str]:
    """Return the module of each name that exactly one of the modules defines."""
    modules = {module: importlib.import_module(module) for module in _STANDARD}
    pairs = [(name, module) for module, one in modules.items() for name in getattr(one, "__all__", dir(one))]
    counts = Counter(name for name, _ in pairs)
    return {name: module for name, module in pairs if counts[name] == 1}


def does_something(tree: ast.Module) -> bool:
    """Return whether code does more than import and define: whether there is anything to look at when it ran."""
    idle = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass)
    return any(
        not isinstance(statement, idle)
        and any(isinstance(node, ast.Call | ast.Subscript | ast.BinOp | ast.Attribute) for node in ast.walk(statement))
        for statement in tree.body
    )


def find_uncalled(tree: ast.Module) -> list[str]:
    """Return the functions that can be called without anything else, and are named nowhere: tests, and examples."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name not in used]
    return [one.name for one in functions if not one.decorator_list and not any(vars(one.args).values())]


def find_result(tree: ast.Module) -> str:
    """Return the name to which the last statement assigns what a call returns; empty if code shows or checks it."""
    is_shown = any(isinstance(node, ast.Assert) or getattr(node, "id", "") == "print" for node in ast.walk(tree))
    match tree.body[-1]:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call()) if not is_shown:
            return name
    return ""


def print_last(code: str) -> str:
    """Return code that prints the value of the expression with which it ends, which a prompt does not show if None."""
    match getattr(parse(code), "body", [])[-1:]:
        case [ast.Expr(value=ast.Call(func=called)) as last] if getattr(called, "id", "") != "print":
            return f"{cut(code, [last]).rstrip()}\nprint(repr({ast.get_source_segment(code, last)}))\n"
    return code


def has_displays(tree: ast.Module) -> bool:
    """Return whether a statement at the top level is an expression whose value a prompt shows."""
    return any(
        isinstance(one, ast.Expr)
        and not isinstance(one.value, ast.Constant)
        and not (isinstance(one.value, ast.Call) and getattr(one.value.func, "id", "") == "print")
        for one in tree.body
    )


def find_exports(
    read: Callable[[str], str | None], folder: str, definitions: Iterable[tuple[str, str]]
) -> dict[str, str]:
    """Return the module that each public name is imported from: the package, else the only one that defines it.

    Args:
        read: Returns the text of a path; None if there is none. Asked once for a path, at most 300 times.
        folder: Of the package, such as `src/shop`.
        definitions: The path and the name of each class and function at the top level of a file.
    """
    top, _, package = folder.rpartition("/")
    modules: dict[str, set[str]] = {}
    for path, name in definitions:
        module = path.removeprefix(f"{top}/" if top else "").removesuffix(".py").removesuffix("/__init__")
        if module.partition("/")[0] == package and not _TESTS.search(module):
            modules.setdefault(name, set()).add(module.replace("/", "."))
    # What a private module defines is taken from the package that it is in.
    names = {name: next(iter(found)).partition("._")[0] for name, found in modules.items() if len(found) == 1}
    names |= dict.fromkeys(_follow_stars(read, folder), package)
    names |= {module: module for found in modules.values() for module in found if "." in module}  # and itself
    return {name: module for name, module in sorted(names.items()) if not name.startswith("_")}


def _follow_stars(read: Callable[[str], str | None], folder: str) -> set[str]:
    """Return what a package's `__init__.py` defines and takes from modules, and the same of what it takes whole."""
    names: set[str] = set()
    folders = [folder]
    for one in folders:
        paths = {f"{one}/__init__.py": one, f"{one}.py": one.rpartition("/")[0]}
        path, text = next(((path, text) for path in paths if (text := read(path))), ("", ""))
        for node in getattr(parse(text), "body", []):
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                below = f"{paths[path]}/{(node.module or '').replace('.', '/')}"
                if node.level == 1 and node.module and below not in folders and len(folders) < _MAX_FILES:
                    folders.append(below)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] not in stdlib_module_names:
                names |= {alias.asname or alias.name for alias in node.names}
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Assign):
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names
