"""Whether a commit can be installed from its files as they are: nothing is compiled, and no step of its own is run."""

import json
import re
import tomllib
from collections.abc import Collection

_COMPILERS = re.compile(
    r"(?<![\w-])(?:cython|maturin|meson-?python|mesonpy|scikit[-_]build(?:[-_]core)?|setuptools[-_]rust|pybind11|nanobind"
    r"|cffi|mypy|numpy|oldest-supported-numpy|cmake|py[-_]build[-_]cmake|ninja|sip|cppy)(?![\w-])",
    re.IGNORECASE,
)
"""What builds of compiled modules need."""
_COMPILED = re.compile(
    r"ext[_-]modules|rust[_-]extensions|cffi_modules|cythonize|mypycify|CMakeExtension|\bskbuild\b|numpy\.distutils"
    r"|=\s*[\"']build\.py[\"']"
)
"""How setup.py and pyproject.toml tell of them; the last is Poetry's."""


def must_be_compiled(pyproject: str, setup: str) -> bool:
    """Return whether a package of Python has compiled modules, by the text of its pyproject.toml and setup.py."""
    try:
        system = str(tomllib.loads(pyproject).get("build-system"))
    except (tomllib.TOMLDecodeError, RecursionError):
        system = ""
    return any(map(_COMPILED.search, (pyproject, setup))) or bool(_COMPILERS.search(system))


def find_node_folder(manifest: str, paths: Collection[str], _: str = "") -> str | None:
    """Return the folder of a package of Node; None if a file by which it is entered is not in the commit."""
    try:
        document = json.loads(manifest)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        return None
    entries = re.findall(r'"\./([^"*]+\.[cm]?js)"', json.dumps(document.get("exports", "")))
    entries = entries or [str(document.get("main") or "index.js").removeprefix("./").rstrip("/")]
    are_there = all(
        any(path == entry or path.startswith((f"{entry}.", f"{entry}/index.")) for path in paths) for entry in entries
    )
    return "" if are_there else None
