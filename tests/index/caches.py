"""Codebases with a cache, what a search of one tells, and caches that somebody has tampered with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from tests.index.indexes import make_query, make_trace
from triage.domain.code import Hit, SearchQuery
from triage.index.build.array_file import columns_of, packed_columns
from triage.index.build.build_corpus import IndexLimits
from triage.index.codebase import GitCodebase

QUERIES: list[SearchQuery] = [
    make_query(
        title="parse_date fails in a leap year", code="ValueError: not a date", paths=["src/calendar_tool/dates.py"]
    ),
    make_query(title="flush waits for ever", prose="`JobQueue.flush` never ends when a job has a timeout."),
    make_query(title="Renderer.paint draws nothing", traces=[make_trace(("src/calendar_tool/queue.py", 7, "flush"))]),
    make_query(title="how are dates read?"),
    make_query(title="nothing of this project: zebra"),
]

Tampering = Callable[[dict[str, Any], dict[str, NDArray[Any]]], None]


def open_codebase(
    folder: Path,
    cache: Path | None,
    embeddings: Embeddings | None = None,
    name: str = "",
    budget: IndexLimits | None = None,
) -> GitCodebase:
    named = name or ("test-embedding" if embeddings else "local")
    return GitCodebase(folder, "acme/calendar", embeddings, named, budget, chroma=None, cache=cache)


def collect_answers(codebase: GitCodebase) -> tuple[list[list[Hit]], dict[str, list[str] | None], list[str]]:
    """Everything that anybody learns from an index."""
    hits = [codebase.search(query, 20) for query in QUERIES]
    symbols = sorted(str(codebase.find_definitions(name)) for name in ("flush", "DateParser.parse_date", "paint"))
    return hits, {path: codebase.read_lines(path) for path in codebase.list_paths()}, symbols


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
