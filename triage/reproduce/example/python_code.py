"""What can be said about Python code without running it."""

import ast
import builtins
import re
import symtable
import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

_GIVEN = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__builtins__", "_"}
_PRINT = re.compile(r"^(\s*)print (?![(=.])(.+?),?$", re.M)
_MAGIC = re.compile(r"^(\s*)([%!]\s?\w.*|\?\S+|\S+\?)$", re.M)
MAX_LEVELS = 3
"""How deep `from .module import *` is followed."""


def parse(code: str) -> ast.Module | None:
    """Return the tree of code for today's Python; None if it is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as an escape that will be an error one day
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def repair(code: str) -> tuple[str, list[str]]:
    """Return the code with `print x` as a call and without lines for a notebook, and what was changed."""
    changed = []
    repaired, count = _MAGIC.subn(r"\1pass  # \2", code)
    if count:
        changed.append(f"Left out {count} command{_s(count)} for a notebook.")
    code, (repaired, count) = repaired, _PRINT.subn(r"\1print(\2)", repaired)
    if count:
        changed.append(f"Wrote {count} print statement{_s(count)} of Python 2 as calls.")
    return repaired, changed


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def find_imports(tree: ast.AST | None) -> set[str]:
    """Return the top-level modules that code imports, at any depth."""
    found = set()
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
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
    for scope in _iter_scopes(table):
        bound |= {one.get_name() for one in scope.get_symbols() if one.is_declared_global() and one.is_assigned()}
        used |= {one.get_name() for one in scope.get_symbols() if one.is_global() and one.is_referenced()}
    has_star = any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree))
    return Names(bound, set() if has_star else used - bound - _GIVEN)


def _iter_scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _iter_scopes(child)


def does_something(tree: ast.Module) -> bool:
    """Return whether code does more than import and define: whether there is anything to look at when it ran."""
    idle = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass)
    return any(
        not isinstance(statement, idle)
        and any(isinstance(node, ast.Call | ast.Subscript | ast.BinOp | ast.Attribute) for node in ast.walk(statement))
        for statement in tree.body
    )


def has_displays(tree: ast.Module) -> bool:
    """Return whether a statement at the top level is an expression whose value a prompt shows."""
    return any(
        isinstance(one, ast.Expr)
        and not isinstance(one.value, ast.Constant)
        and not (isinstance(one.value, ast.Call) and getattr(one.value.func, "id", "") == "print")
        for one in tree.body
    )


def leave_versions_out(statement: str) -> str:
    """Return a statement of a session without expressions that say a version: they differ on each. Imports stay."""
    tree = parse(statement)
    if tree is None or "version" not in statement:
        return statement
    kept = [one for one in tree.body if not isinstance(one, ast.Expr)]
    is_idle = all(isinstance(one, ast.Import | ast.ImportFrom) for one in kept)
    return "\n".join(map(ast.unparse, kept)) if is_idle and len(kept) < len(tree.body) else statement


def find_exports(read: Callable[[str], str | None], folder: str, level: int = 0) -> set[str]:
    """Return the public names of a package: what its `__init__.py` defines and imports.

    Args:
        read: Returns the text of a path; None if there is none.
        folder: Of the package.
        level: How many `from .module import *` led here.
    """
    names: set[str] = set()
    for path, where in ((f"{folder}/__init__.py", folder), (f"{folder}.py", folder.rpartition("/")[0])):
        text = read(path)
        tree = parse(text) if text else None
        if tree is None:
            continue
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                if node.level == 1 and node.module and level < MAX_LEVELS:
                    names |= find_exports(read, f"{where}/{node.module.replace('.', '/')}", level + 1)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Assign):
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        break
    return {name for name in names if not name.startswith("_")}
