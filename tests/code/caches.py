"""Codebases with a cache, their answers, and caches that somebody has tampered with."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

from tests.code.indexes import make_query, make_trace
from triage.code.codebase import GitCodebase
from triage.code.indexing.array_file import Array, read_arrays, write_arrays
from triage.code.indexing.build_corpus import IndexLimits
from triage.code.indexing.index_cache import ARRAY_NAMES
from triage.domain.code import Hit, SearchQuery

QUERIES: list[SearchQuery] = [
    make_query(
        title="parse_date fails in a leap year", code="ValueError: not a date", paths=["src/calendar_tool/dates.py"]
    ),
    make_query(title="flush waits for ever", prose="`JobQueue.flush` never ends when a job has a timeout."),
    make_query(title="Renderer.paint draws nothing", traces=[make_trace(("src/calendar_tool/queue.py", 7, "flush"))]),
    make_query(title="how are dates read?"),
    make_query(title="nothing of this project: zebra"),
]

Lists = dict[str, Any]
Arrays = dict[str, Array]
Tampering = Callable[[Lists, Arrays], object]


def open_codebase(
    folder: Path,
    cache: Path | None,
    embeddings: Embeddings | None = None,
    name: str = "",
    limits: IndexLimits | None = None,
) -> GitCodebase:
    model_name = name or ("test-embedding" if embeddings else "local")
    return GitCodebase(folder, "acme/calendar", embeddings, model_name, limits, chroma=None, cache=cache)


def collect_answers(codebase: GitCodebase) -> tuple[list[list[Hit]], dict[str, list[str] | None], list[str]]:
    """Everything that can be asked of an index."""
    hits = [codebase.search(query, 20) for query in QUERIES]
    symbols = sorted(str(codebase.find_definitions(name)) for name in ("flush", "DateParser.parse_date", "paint"))
    return hits, {path: codebase.read_lines(path) for path in codebase.list_paths()}, symbols


def index_file(cache: Path) -> Path:
    (found,) = cache.glob("index-*.npy")
    return found


def tamper(cache: Path, change: Tampering) -> None:
    """Change something in the cached index and write it with a correct checksum."""
    with index_file(cache).open("rb") as file:
        arrays = dict(zip(ARRAY_NAMES, read_arrays(file), strict=True))
    lists = json.loads(arrays["lists"].tobytes())
    change(lists, arrays)
    if "lists" in arrays:
        arrays["lists"] = np.frombuffer(json.dumps(lists).encode(), dtype="|u1")
    with index_file(cache).open("wb") as file:
        write_arrays(file, arrays.values())
