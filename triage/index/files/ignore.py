"""Paths that the project leaves out of the index."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from triage.domain.gitignore import expression
from triage.index.source.tree import Listing

IGNORED = "ignored by the project"


def remove_ignored(listing: Listing, patterns: Sequence[str]) -> Listing:
    """The listing without what the patterns of gitignore name, which is counted."""
    if not patterns:
        return listing
    ignored = IgnoreRules(patterns)
    kept = [entry for entry in listing.entries if not ignored.matches(entry.path)]
    counted = Counter({IGNORED: len(listing.entries) - len(kept)})
    return replace(listing, entries=kept, left_out=listing.left_out + counted)


class IgnoreRules:
    """What patterns of gitignore cover: the last one that fits decides, and what a folder holds goes with it."""

    def __init__(self, patterns: Sequence[str]) -> None:
        """Compile; neighbours that say the same become one expression. Raises ValueError."""
        runs = groupby(patterns, lambda pattern: pattern.startswith("!"))
        self._rules = [
            (not kept, re.compile("|".join(expression(pattern.removeprefix("!")) for pattern in run), re.S))
            for kept, run in runs
        ][::-1]
        self._folders: dict[str, bool] = {"": False}

    def matches(self, path: str) -> bool:
        """Whether a file is left out."""
        folder = path[: path.rfind("/") + 1]
        if folder not in self._folders:
            self._folders[folder] = any(self._named(folder[: slash.end()]) for slash in re.finditer("/", folder))
        return self._folders[folder] or self._named(path)

    def _named(self, path: str) -> bool:
        return next((left_out for left_out, rule in self._rules if rule.fullmatch(path)), False)
