"""The indexed commit as citations see it: files by the names that agents use, quotes with white space folded."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache

from triage.text.clean_text import clean_text

ReadLines = Callable[[str], list[str] | None]
"""Lines of an indexed file without their ends; none when the commit has no such text file."""

MAX_PATH_CHARS = 4096
"""Linux' PATH_MAX; git stores nothing longer that could be checked out."""


class IndexedCode:
    """What the indexed commit holds, asked by the names that agents use."""

    def __init__(self, lines: ReadLines, paths: Iterable[str]) -> None:
        """`paths` are all indexed files; `lines` reads one of them."""
        self._paths = frozenset(paths)
        self.lines = lru_cache(maxsize=64)(lines)
        self.text = lru_cache(maxsize=16)(self._text)

    def _text(self, path: str) -> "FoldedText":
        return FoldedText(self.lines(path) or [])

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        named: dict[str, list[str]] = {}
        for path in self._paths:
            named.setdefault(path.rpartition("/")[2], []).append(path)
        return named

    def resolve(self, cited: str) -> str | None:
        """The indexed path that is meant; none when there is none or more than one."""
        path = _tidy(cited)
        if path is None:
            return None
        for spelling in _spellings(path):
            if spelling in self._paths:
                return spelling
        return self._by_suffix(path)

    def _by_suffix(self, path: str) -> str | None:
        """Longest end of the cited path that is the end of exactly one indexed path."""
        absolute = path.startswith("/")
        parts = path.strip("/").split("/")
        candidates = self._by_name.get(parts[-1], [])
        # One bare file name of a foreign absolute path (`/usr/lib/json/decoder.py`) says too little.
        lengths = range(len(parts), 1, -1) if absolute else range(len(parts), len(parts) - 1, -1)
        for length in lengths:
            end = "/" + "/".join(parts[-length:])
            found = [known for known in candidates if f"/{known}".endswith(end)]
            if found:
                return found[0] if len(found) == 1 else None
        return None


def _tidy(cited: str) -> str | None:
    """The path with forward slashes and without `.` parts; absolute paths keep their first slash."""
    path = cited.strip().strip("`'\"").replace("\\", "/")
    if not path or len(path) > MAX_PATH_CHARS:
        return None
    absolute = path.startswith("/") or path[1:3] == ":/"
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if not parts or ".." in parts:
        return None
    return ("/" if absolute else "") + "/".join(parts)


def _spellings(path: str) -> list[str]:
    """The path itself, and what it is without a diff's `a/` or `b/`."""
    return [path, path[2:]] if path.startswith(("a/", "b/")) else [path]


class FoldedText:
    """A file's words with white space folded, and the line that each of them stands on."""

    def __init__(self, lines: Sequence[str]) -> None:
        folded = [(number, " ".join(_seen(line).split())) for number, line in enumerate(lines, start=1)]
        kept = [(number, text) for number, text in folded if text]
        self._numbers = [number for number, _ in kept]
        self._offsets = [0]
        for _, text in kept:
            self._offsets.append(self._offsets[-1] + len(text) + 1)
        self._joined = "".join(f"{text} " for _, text in kept)

    def contains(self, quote: str, start: int, end: int) -> bool:
        """Does the quote stand in these lines?"""
        low = self._offsets[bisect_right(self._numbers, start - 1)]
        high = self._offsets[bisect_right(self._numbers, end)]
        return self._joined.find(quote, low, high) >= 0

    def find_ranges(self, quote: str) -> list[tuple[int, int]]:
        """First and last line of the quote's first two places: one is a place, two are none in particular."""
        found: list[tuple[int, int]] = []
        at = self._joined.find(quote)
        while at >= 0 and len(found) < 2:
            found.append((self._line(at), self._line(at + len(quote) - 1)))
            at = self._joined.find(quote, at + 1)
        return found

    def _line(self, offset: int) -> int:
        return self._numbers[bisect_right(self._offsets, offset) - 1]


def _seen(line: str) -> str:
    """The line as a model was shown it: what nobody sees is no part of a quote."""
    return line if line.isprintable() else clean_text(line)
