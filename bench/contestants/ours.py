"""This project."""

from collections.abc import Callable, Sequence
from pathlib import Path

from bench.contestants.answer import LIMIT, run_contestant
from triage.find.codebase import Codebase
from triage.find.retriever import make_search_query


def index(folder: Path) -> Callable[[str], Sequence[str]]:
    codebase = Codebase(folder, "bench/bench")
    codebase.index()
    return lambda issue: [hit.path for hit in codebase.search(make_search_query(issue), LIMIT)]


if __name__ == "__main__":
    run_contestant(index)
