"""Looks up cited paths and quotes in the indexed commit."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache

from triage.text.clean_text import clean_text

ReadLines = Callable[[str], list[str] | None]
"""Returns the lines of an indexed file without their ends, or None when the commit has no such text file."""

_MAX_PATH_CHARS = 4096
"""PATH_MAX of Linux: a longer path cannot be checked out."""


class CitationLookup:
    """The files of the indexed commit, by the paths that agents write."""

    def __init__(self, lines: ReadLines, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self.lines = lru_cache(maxsize=64)(lines)
        self.text = lru_cache(maxsize=16)(lambda path: NormalizedText(self.lines(path) or []))

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        by_name: dict[str, list[str]] = {}
        for path in self._paths:
            by_name.setdefault(path.rpartition("/")[2], []).append(path)
        return by_name

    def resolve(self, cited: str) -> str | None:
        """The indexed path for a cited one; None when there is none or more than one."""
        path = _normalize(cited)
        if path is None:
            return None
        # A diff writes `a/` or `b/` before the path.
        for spelling in (path, path[2:]) if path.startswith(("a/", "b/")) else (path,):
            if spelling in self._paths:
                return spelling
        return self._resolve_suffix(path)

    def _resolve_suffix(self, path: str) -> str | None:
        parts = path.strip("/").split("/")
        candidates = self._by_name.get(parts[-1], [])
        # The file name of a foreign absolute path (`/usr/lib/json/decoder.py`) says too little.
        shortest = 2 if path.startswith("/") else len(parts)
        for length in range(len(parts), shortest - 1, -1):
            suffix = "/" + "/".join(parts[-length:])
            found = [known for known in candidates if f"/{known}".endswith(suffix)]
            if found:
                return found[0] if len(found) == 1 else None
        return None


def _normalize(cited: str) -> str | None:
    """The path with forward slashes and without `.` parts; an absolute path keeps its first slash."""
    path = cited.strip().strip("`'\"").replace("\\", "/")
    if not path or len(path) > _MAX_PATH_CHARS:
        return None
    is_absolute = path.startswith("/") or path[1:3] == ":/"
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if not parts or ".." in parts:
        return None
    return ("/" if is_absolute else "") + "/".join(parts)


class NormalizedText:
    """A file's text with white space folded, and the line of each word."""

    def __init__(self, lines: Sequence[str]) -> None:
        # As a model was shown it: invisible characters are not part of a quote.
        visible = (line if line.isprintable() else clean_text(line) for line in lines)
        folded = [(number, " ".join(line.split())) for number, line in enumerate(visible, start=1)]
        filled = [(number, text) for number, text in folded if text]
        self._numbers = [number for number, _ in filled]
        self._offsets = [0]
        for _, text in filled:
            self._offsets.append(self._offsets[-1] + len(text) + 1)
        self._joined = "".join(f"{text} " for _, text in filled)

    def contains(self, quote: str, start: int, end: int) -> bool:
        low = self._offsets[bisect_right(self._numbers, start - 1)]
        high = self._offsets[bisect_right(self._numbers, end)]
        return self._joined.find(quote, low, high) >= 0

    def find_ranges(self, quote: str) -> list[tuple[int, int]]:
        """First and last line of the first two places of the quote."""
        found: list[tuple[int, int]] = []
        offset = self._joined.find(quote)
        while offset >= 0 and len(found) < 2:
            found.append((self._line_at(offset), self._line_at(offset + len(quote) - 1)))
            offset = self._joined.find(quote, offset + 1)
        return found

    def _line_at(self, offset: int) -> int:
        return self._numbers[bisect_right(self._offsets, offset) - 1]
