"""Runs a contestant of `bench.compare`: the folder is an argument, the issue standard input, the result JSON."""

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

LIMIT = 100
"""Number of files that a contestant names."""


def run_contestant(index: Callable[[Path], Callable[[str], Sequence[str]]]) -> None:
    """Times `index`, which indexes a folder and returns a function from an issue to relative paths, best first."""
    issue = sys.stdin.read()
    started = time.perf_counter()
    search = index(Path(sys.argv[1]))
    indexed = time.perf_counter()
    ranked = list(dict.fromkeys(search(issue)))[:LIMIT]
    asked = time.perf_counter()
    row = {
        "ranked": ranked,
        "seconds": indexed - started,
        "query_ms": 1_000 * (asked - indexed),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    print(json.dumps(row))
