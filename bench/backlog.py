"""Measures a backlog against a GitHub on loopback that fails now and then: every issue once, and how many requests.

python -m bench.backlog --issues 1000 --faults 0.05
"""

import re
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from testing.checkouts.git_repositories import commit
from testing.runs import sample_bug
from testing.runs.backlog_simulation import simulate_backlog
from testing.servers.github_api import SLUG


def main(
    issues: Annotated[int, typer.Option()] = 1_000,
    faults: Annotated[float, typer.Option(help="Share of the requests that fail.")] = 0.05,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder, "repo")
        repo.mkdir()
        sample_bug.write_plain_checkout(repo)
        commit(repo)
        with simulate_backlog(repo, Path(folder, "backlog"), faults) as backlog:
            backlog.add_issues(issues)
            started = time.perf_counter()
            page = backlog.run("--github", SLUG, "--query", "is:open")
            print(f"{len(backlog.api.requests)} requests, {time.perf_counter() - started:.1f} s")
            rows = Counter(re.findall(r"^\| \[?(\d+)", page, re.MULTILINE))
            twice = sum(count > 1 for count in rows.values())
            print(f"table: {len(rows)} of {issues} issues, {twice} twice; faults {dict(backlog.faults)}")


if __name__ == "__main__":
    typer.run(main)
