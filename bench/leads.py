"""Measures how often the file to which a fact leads is in the fix, by rule, with the history that was known before it."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.accuracy import open_git, parse_arguments
from triage.domain.code import Place
from triage.domain.issue import Issue
from triage.find.codebase import Codebase
from triage.find.index_commit import PastCommit
from triage.read.issue_facts import find_facts
from triage.read.read_issue import read_issue


def main() -> None:
    records, mirror = parse_arguments(__doc__)
    named, right = Counter[str](), Counter[str]()
    for record, facts in find_all_places(records, mirror):
        gold = record["gold_files"]
        for fact in facts[:1]:
            _count(f"first: {fact.rule}", fact.span.path in gold, named, right)
            _count("first: all", fact.span.path in gold, named, right)
            _count("one of the facts: all", any(one.span.path in gold for one in facts), named, right)
        for fact in facts:
            _count(f"each: {fact.rule}", fact.span.path in gold, named, right)
        print(record["instance_id"], [(one.rule, one.span.path, one.line, one.text) for one in facts], flush=True)
    for group in sorted(named):
        print(f"{group}: right {right[group]} of {named[group]}")
    print(f"of {len(records)} issues")


def _count(group: str, is_right: bool, named: Counter[str], right: Counter[str]) -> None:
    named[group] += 1
    right[group] += is_right


def find_all_places(records: list[dict[str, Any]], mirror: Path) -> Iterator[tuple[dict[str, Any], list[Place]]]:
    """Yield where each issue leads."""
    for record in records:
        git = open_git(record, mirror)
        seconds = int(git.run("show", "-s", "--format=%ct", record["base_commit"]))
        commit = PastCommit(record["base_commit"], datetime.fromtimestamp(seconds + 1, UTC))
        codebase = Codebase(git.folder, record["repo"], past_commit=commit)
        codebase.index()
        title, _, body = record["problem_statement"].partition("\n")
        parsed = read_issue(Issue(title=title, body=body))
        codebase.find_regression_window(parsed, find_facts(parsed, record["repo"]))
        yield record, codebase.find_places(parsed)


if __name__ == "__main__":
    main()
