"""Codebases with a cache, what a search of one tells, and caches that somebody has tampered with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from tests.index.indexes import ask, trace
from triage.domain.code import Hit, SearchQuery
from triage.index.build.array_file import columns_of, packed_columns
from triage.index.build.build_corpus import Budget
from triage.index.codebase import GitCodebase

QUERIES: list[SearchQuery] = [
    ask(title="parse_date fails in a leap year", code="ValueError: not a date", paths=["src/calendar_tool/dates.py"]),
    ask(title="flush waits for ever", prose="`JobQueue.flush` never ends when a job has a timeout."),
    ask(title="Renderer.paint draws nothing", traces=[trace(("src/calendar_tool/queue.py", 7, "flush"))]),
    ask(title="how are dates read?"),
    ask(title="nothing of this project: zebra"),
]

Tampering = Callable[[dict[str, Any], dict[str, NDArray[Any]]], None]


def cached(
    folder: Path, cache: Path | None, embeddings: Embeddings | None = None, name: str = "", budget: Budget | None = None
) -> GitCodebase:
    named = name or ("test-embedding" if embeddings else "local")
    return GitCodebase(folder, "acme/calendar", embeddings, named, budget, chroma=None, cache=cache)


def told(codebase: GitCodebase) -> tuple[list[list[Hit]], dict[str, list[str] | None], list[str]]:
    """Everything that anybody learns from an index."""
    hits = [codebase.search(query, 20) for query in QUERIES]
    symbols = sorted(str(codebase.defined(name)) for name in ("flush", "DateParser.parse_date", "paint"))
    return hits, {path: codebase.lines(path) for path in codebase.paths()}, symbols


def index_file(cache: Path) -> Path:
    (found,) = cache.glob("index-*.bin")
    return found


def tamper(cache: Path, change: Tampering) -> None:
    """Make the kept index anew with something changed in it: no checksum tells."""
    file = index_file(cache)
    head, columns = columns_of(file.read_bytes())
    copies = {name: np.array(column) for name, column in columns.items()}
    change(head, copies)
    file.write_bytes(b"".join(packed_columns(head, copies)))
