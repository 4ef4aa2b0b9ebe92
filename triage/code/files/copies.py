"""Files that are made from other files of the repository, or copied into it: the original is where a fix goes."""

import re
from collections.abc import Iterable, Sequence

import re2  # type: ignore[import-untyped]
from pathspec import PathSpec

ATTRIBUTES = ".gitattributes"
MAX_ATTRIBUTES_BYTES = 262_144
MAX_PATTERNS = 500
_MARK = re.compile(r"\slinguist-(?:generated|vendored|documentation)(?:=(?:true|1))?(?=\s|$)")
"""By GitHub's documentation (linguist, overrides). `-linguist-generated` and `=false` unset it."""
_DECLARATIONS = re.compile(r"\.d\.[cm]?ts$")
_SOURCES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx")


def parse_attributes(text: str) -> list[str]:
    """Return the patterns of a `.gitattributes` file that mark generated, vendored or documentation files."""
    marked = (line.split()[0] for line in text.splitlines() if not line.startswith("#") and _MARK.search(line))
    return [pattern for pattern in marked if not pattern.startswith(('"', "!"))][:MAX_PATTERNS]


def find_copies(paths: Sequence[str], patterns: Sequence[str]) -> frozenset[str]:
    """Return the paths that match a pattern, and the type declarations that have their source beside them."""
    return frozenset([*_find_marked(paths, patterns), *_find_declarations(paths)])


def _find_marked(paths: Sequence[str], patterns: Sequence[str]) -> Iterable[str]:
    if not patterns:
        return []
    try:
        # The default backend backtracks: a hostile pattern would keep it busy for hours.
        marked = PathSpec.from_lines("gitignore", patterns, backend="re2")
    except (ValueError, re.error, re2.error):
        return []
    return marked.match_files(paths)


def _find_declarations(paths: Sequence[str]) -> Iterable[str]:
    declarations = [path for path in paths if _DECLARATIONS.search(path)]
    known = set(paths) if declarations else set[str]()
    for path in declarations:
        stem = _DECLARATIONS.sub("", path)
        if any(stem + ending in known for ending in _SOURCES):
            yield path
