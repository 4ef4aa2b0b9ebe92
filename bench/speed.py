"""How long an index takes, how much memory, and how both grow."""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from triage.domain.code import SearchQuery
from triage.domain.issue import Issue
from triage.index.codebase import GitCodebase
from triage.reading.read import read

ISSUE = Issue(
    title="ValueError: save() fails when the queue is empty",
    body="Calling `Store.save` with an empty queue raises an error in `flush_queue`, but only after a timeout.",
)
QUERIES = 20
MODULE = '''"""Module {number} of part {part}."""

import os

LIMIT_{number} = {number}


class Store{number}:
    """Keeps things of kind {number}."""

    def save(self, item, timeout={number}):
        """Save an item of part {part}."""
        if not self.queue_{part}:
            raise ValueError("the queue is empty")
        return self.flush_queue(item, timeout)

    def flush_queue(self, item, timeout):
        return [os.path.join(str(item), str(value)) for value in range(timeout)]


def load_{number}(path):
    """Read what `Store{number}` wrote."""
    with open(path) as file:
        return file.read().split("{part}")
'''


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--growth", action="store_true", help="made-up trees of 1,000 and 10,000 files")
    options = parser.parse_args()
    if options.folder:
        measure(options.folder)
    if options.growth:
        for files in (1_000, 10_000):
            with tempfile.TemporaryDirectory() as folder:
                make_tree(Path(folder), files)
                # A process for each: peak memory never goes down.
                subprocess.run([sys.executable, "-m", "bench.speed", folder], check=True)
    if not options.folder and not options.growth:
        parser.error("name a folder, or ask for --growth")


def measure(folder: Path) -> None:
    codebase = GitCodebase(folder, "bench/bench")
    facts = codebase.index()
    query = SearchQuery(reading=read(ISSUE))
    codebase.search(query, 10)
    started = time.perf_counter()
    for _ in range(QUERIES):
        codebase.search(query, 10)
    seconds = (time.perf_counter() - started) / QUERIES
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{facts.files} files, {facts.passages} passages, {facts.vectors} vectors: "
        f"index {facts.seconds:.1f} s, query {seconds:.3f} s, peak {peak} MB, left out {facts.left_out}"
    )


def make_tree(folder: Path, files: int) -> None:
    for number in range(files):
        part = folder / f"part_{number % 97}"
        part.mkdir(exist_ok=True)
        (part / f"module_{number}.py").write_text(MODULE.format(number=number, part=number % 97))


if __name__ == "__main__":
    main()
