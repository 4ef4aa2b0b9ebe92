"""Measures a backlog against a GitHub on loopback that fails now and then: every issue once, and how many requests.

python -m bench.backlog --issues 1000 --faults 0.05              all batches
python -m bench.backlog --issues 10000 --faults 0.05 --batches 2   the whole list, two batches of each part
"""

import csv
import io
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from testing.checkouts.git_repositories import commit
from testing.runs import sample_bug
from testing.runs.backlog_simulation import Backlog, simulate_backlog


def main(
    issues: Annotated[int, typer.Option()] = 1_000,
    faults: Annotated[float, typer.Option(help="Share of the requests that fail.")] = 0.05,
    batches: Annotated[int, typer.Option(help="Batches to run of each list; 0 runs all.")] = 0,
    comments: Annotated[int, typer.Option(help="Comments that the merge may write.")] = 0,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder, "repo")
        repo.mkdir()
        sample_bug.write_plain_checkout(repo)
        commit(repo)
        with simulate_backlog(repo, Path(folder, "backlog"), faults) as backlog:
            backlog.add_issues(issues)
            _measure(backlog, batches, comments)


def _measure(backlog: Backlog, batches: int, comments: int) -> None:
    listed, rows = Counter[str](), Counter[str]()
    cursor = ""
    while True:
        before, started = len(backlog.api.requests), time.perf_counter()
        found = backlog.list("--query", "is:open", "--after", cursor)
        cursor, numbers = found["backlog-cursor"], found["backlog-matrix"]["batch"]
        requests = len(backlog.api.requests) - before
        print(
            f"list: {found['backlog-issues']} issues, {len(numbers)} batches, {requests} requests, "
            f"{time.perf_counter() - started:.1f} s, {_count_megabytes(backlog.folder):.1f} MB, cursor {cursor or 'none'}"
        )
        _run(backlog, numbers[: batches or None])
        before, started = len(backlog.api.requests), time.perf_counter()
        page = backlog.merge("--comments", str(comments))
        seconds, requests = time.perf_counter() - started, len(backlog.api.requests) - before
        print(
            f"merge: {len(page.encode()):,} bytes, {seconds:.1f} s, {requests} requests, {len(backlog.api.comments)} comments"
        )
        for row in csv.DictReader(io.StringIO((backlog.folder / "backlog.csv").read_text(encoding="utf-8-sig"))):
            listed[row["number"]] += 1
            rows[row["number"]] += not row["not_triaged"]
        if not cursor:
            break
    expected = {str(number) for number in backlog.api.issues}
    twice = sum(count > 1 for count in listed.values())
    print(
        f"all: {len(listed)} of {len(expected)} issues listed, {twice} twice, {len(expected - set(listed))} lost; "
        f"{sum(rows.values())} triaged; {len(backlog.api.requests)} requests, {sum(backlog.faults.values())} failed "
        f"({dict(backlog.faults)})"
    )


def _run(backlog: Backlog, numbers: list[int]) -> None:
    before, started = len(backlog.api.requests), time.perf_counter()
    done = sum(backlog.run(number)["done"] for number in numbers)
    seconds = time.perf_counter() - started
    print(
        f"run: {len(numbers)} batches, {done} issues, {seconds:.1f} s, {seconds / max(1, done):.2f} s an issue, "
        f"{len(backlog.api.requests) - before} requests"
    )


def _count_megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.iterdir()) / 1e6


if __name__ == "__main__":
    typer.run(main)
