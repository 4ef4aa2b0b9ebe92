"""Measures how often the files that a comment names are in the fix, with the history that was known before it."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.accuracy import open_git, parse_arguments
from triage.code.codebase import GitCodebase
from triage.code.indexed_commit import PastCommit
from triage.domain.code import FoundPlaces
from triage.domain.issue import Issue
from triage.issue.read_issue import read_issue
from triage.issue.report_facts import find_facts


def main() -> None:
    records, mirror = parse_arguments(__doc__)
    named, right, first_right = Counter[str](), Counter[str](), Counter[str]()
    for record, found in find_all_places(records, mirror):
        if found.likely is None:
            continue
        paths = found.likely.paths
        for group in (found.best.sign if found.best else "files", f"{len(paths)} named", "all"):
            named[group] += 1
            right[group] += any(path in record["gold_files"] for path in paths)
            first_right[group] += paths[0] in record["gold_files"]
        print(record["instance_id"], paths, any(path in record["gold_files"] for path in paths), flush=True)
    for group in sorted(named):
        print(f"{group}: {named[group]}, one of them right {right[group]}, the first {first_right[group]}")
    print(f"of {len(records)} issues")


def find_all_places(records: list[dict[str, Any]], mirror: Path) -> Iterator[tuple[dict[str, Any], FoundPlaces]]:
    """Yield where each issue leads."""
    for record in records:
        git = open_git(record, mirror)
        seconds = int(git.run("show", "-s", "--format=%ct", record["base_commit"]))
        commit = PastCommit(record["base_commit"], datetime.fromtimestamp(seconds + 1, UTC))
        codebase = GitCodebase(git.folder, record["repo"], past=commit)
        codebase.index()
        title, _, body = record["problem_statement"].partition("\n")
        parsed = read_issue(Issue(title=title, body=body))
        codebase.find_regression_window(parsed, find_facts(parsed, record["repo"]))
        yield record, codebase.find_places(parsed)


if __name__ == "__main__":
    main()
