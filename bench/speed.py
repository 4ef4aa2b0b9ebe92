"""Measures the time and memory of an index, and how both grow."""

import argparse
import contextlib
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from bench.made_up import make_tree
from testing.checkouts.git_repositories import commit
from triage.domain.code import SearchQuery
from triage.domain.issue import Issue
from triage.find.codebase import Codebase
from triage.read.read_issue import read_issue

ISSUE = Issue(
    title="ValueError: save() fails when the queue is empty",
    body="Calling `Store.save` with an empty queue raises an error in `flush_queue`, but only after a timeout.",
)
QUERIES = 20
SIZES = (1_000, 10_000, 100_000, 200_000)
COLUMNS = {
    "files": "files",
    "text": "with text",
    "passages": "passages",
    "vectors": "vectors",
    "seconds": "index s",
    "cpu": "CPU s",
    "query_ms": "query ms",
    "peak": "peak MB",
    "worker": "a worker MB",
    "partial": "partial",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="*", type=Path, help="repositories")
    parser.add_argument("--growth", action="store_true", help=f"made-up trees of {', '.join(map(str, SIZES))} files")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="other numbers of files for --growth")
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.json:
        print(json.dumps(measure(options.folder[0])))
        return
    if not options.folder and not options.growth:
        parser.error("name a folder, or ask for --growth")
    print(" | ".join(["tree", *COLUMNS.values()]))
    for folder in options.folder:
        print_row(folder.resolve().name, folder)
    for files in options.sizes if options.growth else ():
        with tempfile.TemporaryDirectory() as made:
            make_tree(Path(made), files)
            commit(Path(made))
            print_row(f"{files:,} made up", Path(made))


def print_row(name: str, folder: Path) -> None:
    command = [sys.executable, "-m", "bench.speed", "--json", str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    row = json.loads(done.stdout)
    print(" | ".join([name, *(format_cell(row[column]) for column in COLUMNS)]), flush=True)


def format_cell(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else f"{value:,}"


class Workers(threading.Thread):
    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0

    def run(self) -> None:
        while True:
            for children in Path("/proc/self/task").glob("*/children"):
                with contextlib.suppress(OSError):
                    self.peak = max([self.peak, *map(self._peak, children.read_text().split())])
            time.sleep(0.1)

    def _peak(self, process: str) -> int:
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{process}/status").read_text()
            if b"multiprocessing.spawn" in Path(f"/proc/{process}/cmdline").read_bytes():
                return int(status.partition("VmHWM:")[2].split()[0]) // 1024
        return 0


def measure(folder: Path) -> dict[str, Any]:
    codebase = Codebase(folder, "bench/bench")
    workers = Workers()
    workers.start()
    started = time.perf_counter()
    facts = codebase.index()
    indexed = time.perf_counter() - started
    cpu = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    query = SearchQuery(parsed=read_issue(ISSUE))
    codebase.search(query, 10)
    started = time.perf_counter()
    for _ in range(QUERIES):
        codebase.search(query, 10)
    seconds = (time.perf_counter() - started) / QUERIES
    return {
        "files": facts.files,
        "text": sum(codebase.read_lines(path) is not None for path in codebase.list_paths()),
        "passages": facts.passages,
        "vectors": facts.vectors,
        "seconds": round(indexed, 2),
        "cpu": round(cpu, 1),
        "query_ms": round(1_000 * seconds),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "worker": workers.peak,
        "partial": facts.partial,
    }


if __name__ == "__main__":
    main()
