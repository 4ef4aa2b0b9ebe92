"""Compares the ranking with plain BM25 over whole files."""

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from bench.speed import ISSUE
from testing.checkouts.git_repositories import commit

KS = (1, 3, 5, 10)
CONTESTANTS = {"this project": "ours", "plain BM25": "plain"}
PROJECT_FOLDER = Path(__file__).parents[1]


@dataclass
class Tally:
    within: list[list[bool]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    query_ms: list[float] = field(default_factory=list)
    peak: list[int] = field(default_factory=list)

    def row(self, name: str) -> str:
        accuracy = [
            f"{100 * statistics.mean(row[at] for row in self.within):.0f}" if self.within else ""
            for at in range(len(KS))
        ]
        figures = [
            f"{statistics.median(self.seconds):.1f}",
            f"{statistics.median(self.query_ms):.0f}",
            f"{max(self.peak):,}",
        ]
        return " | ".join([name, *accuracy, *figures])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="*", type=Path, help="repositories to time on")
    parser.add_argument("--set", type=Path, help="JSON lines, as for bench.accuracy")
    parser.add_argument("--mirror", type=Path, help="folder of bare repositories, as for bench.accuracy")
    parser.add_argument("--limit", type=int, help="issues of the set")
    options = parser.parse_args()
    if options.set and not options.mirror:
        parser.error("--set needs --mirror")
    records = (
        [json.loads(line) for line in options.set.read_text().splitlines()[: options.limit]] if options.set else []
    )
    print(" | ".join(["who", *(f"Acc@{k}" for k in KS), "index s", "query ms", "peak MB"]))
    tallies = {name: Tally() for name in CONTESTANTS}
    for folder, issue, gold in tasks(options.folder, records, options.mirror):
        for name, tally in tallies.items():
            measure_contestant(tally, CONTESTANTS[name], folder, issue, gold)
    for name, tally in tallies.items():
        print(tally.row(name))
    if not records:
        print("Accuracy needs issues whose fixes are known: --set FILE.jsonl --mirror DIR.")


def tasks(
    folders: Sequence[Path], records: Sequence[dict[str, Any]], mirror: Path
) -> Iterator[tuple[Path, str, list[str]]]:
    """Folder, issue, and the files that the fix edits; without these for a folder from the command line."""
    for folder in folders:
        yield folder, f"{ISSUE.title}\n{ISSUE.body}", []
    for record in records:
        repository = mirror / record.get("mirror", record["repo"].replace("/", "+")) / "repo"
        with check_out(repository, record["base_commit"]) as folder:
            yield folder, record["problem_statement"], record["gold_files"]


@contextlib.contextmanager
def check_out(repository: Path, revision: str) -> Iterator[Path]:
    command = ["git", f"--git-dir={repository}", "archive", revision]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
        commit(Path(folder))
        yield Path(folder)


def measure_contestant(tally: Tally, contestant: str, folder: Path, issue: str, gold: Sequence[str]) -> None:
    command = [sys.executable, "-m", f"bench.contestants.{contestant}", str(folder.resolve())]
    done = subprocess.run(command, check=True, input=issue.encode(), stdout=subprocess.PIPE, cwd=PROJECT_FOLDER)
    answer = json.loads(done.stdout.splitlines()[-1])
    ranked = answer["ranked"]
    if gold:
        tally.within.append([set(gold) <= set(ranked[:k]) for k in KS])
    tally.seconds.append(answer["seconds"])
    tally.query_ms.append(answer["query_ms"])
    tally.peak.append(answer["peak"])


if __name__ == "__main__":
    main()
