"""The `semble` library from PyPI. It loads an embedding model from a hub on first use."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.contestants.answer import LIMIT, run_contestant

CHUNKS = 10 * LIMIT
"""It ranks chunks. The rank of a file is that of its best chunk."""


def index(folder: Path) -> Callable[[str], Sequence[str]]:
    try:
        from semble import SembleIndex
    except ImportError:
        sys.exit("it is not installed")
    try:
        made = SembleIndex.from_path(folder)
    except OSError as error:
        sys.exit(f"its model cannot be loaded ({type(error).__name__})")
    return lambda issue: [found.chunk.file_path for found in made.search(issue, CHUNKS)]


if __name__ == "__main__":
    run_contestant(index)
