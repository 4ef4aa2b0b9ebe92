"""This project."""

from collections.abc import Callable, Sequence
from pathlib import Path

from bench.contestants.answer import LIMIT, answer
from triage.index.codebase import GitCodebase
from triage.index.retriever import query_for


def index(folder: Path) -> Callable[[str], Sequence[str]]:
    codebase = GitCodebase(folder, "bench/bench")
    codebase.index()
    return lambda issue: [hit.path for hit in codebase.search(query_for(issue), LIMIT)]


if __name__ == "__main__":
    answer(index)
