"""Paths that the project leaves out of the index."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pathspec import PathSpec

from triage.index.source.tree import Listing

IGNORED = "ignored by the project"


def remove_ignored(listing: Listing, patterns: Sequence[str]) -> Listing:
    """Return the listing without the files that gitignore patterns match, and count those in `left_out`.

    The last pattern that matches a file, or a folder that the file is in, decides. Git would also look at each folder
    by itself, and never include a file of an ignored folder again.
    """
    if not patterns:
        return listing
    # The default backend backtracks: a hostile pattern would keep it busy for hours.
    ignored = PathSpec.from_lines("gitignore", patterns, backend="re2")
    entries = [entry for entry in listing.entries if not ignored.match_file(entry.path)]
    counted = Counter({IGNORED: len(listing.entries) - len(entries)})
    return replace(listing, entries=entries, left_out=listing.left_out + counted)
