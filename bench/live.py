"""Shows what is said on live issues beside what should be said, and counts the wishes and questions that get a place.

A folder has, for each issue, `ID.md` (the first line is the title), a checkout of its day as `ID/`, and perhaps `ID.json`
with `repository`, `number`, `author` and `date`. By rules, without a token: no past issues are known.
"""

import argparse
import asyncio
import csv
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from triage.app.app import App
from triage.app.command_line import read_issue_file
from triage.app.open_app import open_terminal_app
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.find.codebase import Codebase
from triage.find.index_commit import PastCommit
from triage.git.git import Git
from triage.graph.run_graph import run_graph
from triage.say.comment import preview_comment

SERVER_URL = "https://github.com"
SHOULD_BE_SAID = "what should be said"
"""The column of `--said`; `what it is` has the kind, and `id` the name of the issue."""
WITHOUT_CAUSE = ("feature", "question")
"""Kinds of issues on which no place of a cause should be named."""
PERIODS = {"day": 10, "month": 7, "year": 4}
"""Characters of a time that say it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="issues, each with its checkout")
    parser.add_argument("--said", type=Path, help=f"tab-separated: `id`, `what it is`, `{SHOULD_BE_SAID}`")
    parser.add_argument("--features", nargs=2, type=Path, metavar=("KINDS.jsonl", "REPOS"), help=count_places.__doc__)
    parser.add_argument("--every", type=int, default=1, help="take only every so many of these features and questions")
    parser.add_argument("--per", choices=PERIODS, default="month", help="of these, one commit is read for a project's")
    options = parser.parse_args()
    if options.folder:
        show_issues(options.folder, read_said(options.said) if options.said else {})
    if options.features:
        kinds, repos = options.features
        records = [json.loads(line) for line in kinds.read_text().splitlines()]
        count_places(choose_records(records, repos, options.every), repos, options.per)
    if not options.folder and not options.features:
        parser.error("name a folder, or ask for --features")


def read_said(path: Path) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}


def show_issues(folder: Path, said: Mapping[str, Mapping[str, str]]) -> None:
    reasons = Counter[str]()
    for path in sorted(folder.glob("*.md")):
        app, _ = open_terminal_app(path.with_suffix(""), engine="rules")
        sidecar = path.with_suffix(".json")
        known = json.loads(sidecar.read_text()) if sidecar.exists() else {}
        app = replace(app, repository=known.get("repository", app.repository)).with_project_config()
        report = triage_issue(app, add_facts(read_issue_file(str(path)), known))
        reasons[report.comment_reason or "silence"] += 1
        wanted = said.get(path.stem, {})
        print(f"== {path.stem}  {app.repository}#{known.get('number') or ''}  {report.issue.title}")
        print(
            f"is: {wanted.get('what it is', '?')}  told: {format_kind(report)}  speaks: {report.comment_reason or '-'}"
        )
        print(f"should: {wanted.get(SHOULD_BE_SAID, '?')}")
        print("says: " + (hide_folds(report.comment or "").replace("\n", "\n  ") or "nothing"), end="\n\n", flush=True)
    silent = reasons.pop("silence", 0)
    print(f"{reasons.total()} comments, {silent} silences:", *(f"{name} {n}" for name, n in reasons.most_common()))


def add_facts(issue: Issue, known: Mapping[str, Any]) -> Issue:
    """Return the issue as it was when it was opened, with what a file of its text does not say."""
    opened = datetime.fromisoformat(known["date"]) if known.get("date") else None
    facts = {
        "number": known.get("number") or None,
        "author": known.get("author") or "",
        "by_member": known.get("by_member", False),
    }
    return issue.model_copy(update={**facts, "opened_at": opened, "snapshot_time": opened})


def triage_issue(app: App, issue: Issue, codebase: Codebase | None = None) -> RunReport:
    """Return the report with the comment, as the terminal makes it; of the newest commit without a `codebase`."""
    app = replace(app, started=time.monotonic())
    services = app.open_services((lambda _, __: codebase) if codebase else None)
    services = replace(services, iterate_past_issues=None, web_tools=None, export_report=None)
    repository = Repository(slug=app.repository, server_url=SERVER_URL)
    report = asyncio.run(run_graph(issue, repository, services, asyncio.Event()))
    if report.status != "complete":  # on a busy machine, the history may not be read in time
        print(f"{issue.title!r}: {report.status}", *report.notes, file=sys.stderr)
    return preview_comment(app.redactor.redact_value("report", report), app.settings.policy())


def format_kind(report: RunReport) -> str:
    return f"{report.kind} {report.kind_probability:.2f}" if report.kind_probability else f"{report.kind} (unsure)"


def hide_folds(comment: str) -> str:
    """Return what a reader of the comment sees before they open anything."""
    return re.sub(r"<details>.*?</details>\n*", "", comment, flags=re.DOTALL).strip()


def list_named_files(text: str, paths: Iterable[str]) -> list[str]:
    """Return the paths that a text names, in its order. A file at the top without an ending may be a mere word."""
    known = {path for path in paths if re.search(r"[./]", path)}
    words = (word.rstrip(".") for word in re.findall(r"[\w./@+$~-]+", text))
    return list(dict.fromkeys(word for word in words if word in known))


def choose_records(records: Sequence[Mapping[str, Any]], repos: Path, every: int) -> list[Mapping[str, Any]]:
    """Return every so many of the features and questions whose repository is among `repos`."""
    fitting = (one for one in records if one["kind"] in WITHOUT_CAUSE and find_git(one["repo"], repos).exists())
    return list(fitting)[::every]


def find_git(repo: str, repos: Path) -> Path:
    return repos / repo.partition("/")[2]


def group_by_time(
    records: Iterable[Mapping[str, Any]], period: str
) -> Iterator[tuple[str, datetime, list[Mapping[str, Any]]]]:
    """Yield a repository, the time of the first record of a period, and the period's records, in order of time."""

    def find_group(record: Mapping[str, Any]) -> tuple[str, str]:
        return record["repo"], record["created_at"][: PERIODS[period]]

    ordered = sorted(records, key=lambda record: (record["repo"], record["created_at"]))
    for (repo, _), group in groupby(ordered, find_group):
        found = list(group)
        yield repo, datetime.fromisoformat(f"{found[0]['created_at']}+00:00"), found


def count_places(records: Sequence[Mapping[str, Any]], repos: Path, period: str) -> None:
    """Count the features and questions that get a place in the report, or a file named in their comment.

    A line is `{"repo", "created_at", "kind", "title", "body"}`; REPOS has the history of `owner/name` as bare `name`.
    The code is the newest commit before the first issue of a project's period: an index for each issue takes too long.
    """
    totals, counts = Counter[str](record["kind"] for record in records), Counter[tuple[str, str]]()
    for repo, opened, group in group_by_time(records, period):
        folder = find_git(repo, repos)
        before = f"--before={opened.isoformat()}"
        commit = Git(folder, bare=True).run("rev-list", "-1", "--first-parent", before, "HEAD", "--").decode().strip()
        app, _ = open_terminal_app(folder, engine="rules")
        app = replace(app, repository=repo)
        codebase = Codebase(folder, repo, in_chroma=False, past_commit=PastCommit(commit, opened), index_once=True)
        codebase.index()
        for record in group:
            known = {"date": f"{record['created_at']}+00:00"}
            report = triage_issue(app, add_facts(Issue(title=record["title"], body=record["body"]), known), codebase)
            named = list_named_files(hide_folds(report.comment or ""), codebase.list_paths())
            found = [report.best_place.span.path] if report.best_place else []
            facts = {"comment": report.comment_reason, "report": found, "named": named, "place": found or named}
            counts.update((name, record["kind"]) for name, fact in facts.items() if fact)
            counts["kind right", record["kind"]] += (report.kind or "").startswith(record["kind"])
            told = f"{report.comment_reason or '-'}, told as {format_kind(report)}"
            print(
                f"{record['kind']} {record['created_at']} {repo} {record['title']!r}: {told}",
                *(named or found),
                flush=True,
            )
    for name in ("place", "report", "named", "comment", "kind right"):
        each = ", ".join(f"{counts[name, kind]} of {totals[kind]} {kind}s" for kind in WITHOUT_CAUSE)
        print(f"{name}: {sum(counts[name, kind] for kind in WITHOUT_CAUSE)} of {len(records)} ({each})")


if __name__ == "__main__":
    main()
