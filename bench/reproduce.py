"""Measures the examples of issues with known fixes: how many there are, and what running them at the base says."""

import argparse
import json
import os
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from triage.base.network import Network
from triage.domain.issue import Issue
from triage.domain.project_config import ReproduceConfig
from triage.issue.read_issue import read_issue
from triage.reproduce.environments.package_index import list_releases
from triage.reproduce.environments.source import Source
from triage.reproduce.environments.virtual import VirtualEnvironments
from triage.reproduce.evidence import Run
from triage.reproduce.example.example import NoExample
from triage.reproduce.example.read_example import read_example
from triage.reproduce.run_example import VersionRunner
from triage.reproduce.select_example import Versions, open_project, select_example
from triage.reproduce.verdict import choose_measure, summarize


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", type=Path, required=True, help="JSON lines")
    parser.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories")
    parser.add_argument("--run", type=Path, help="run the examples on this machine, and write what happened here")
    parser.add_argument("--only", default="", help="part of an instance's name")
    options = parser.parse_args()
    records = [json.loads(line) for line in options.set.read_text().splitlines()]
    records = [record for record in records if options.only in record["instance_id"]]
    with tempfile.TemporaryDirectory() as name:
        repos = sorted({record["repo"] for record in records})
        sources = {repo: _clone(repo, options.mirror, Path(name)) for repo in repos}
        print_examples(records, sources)
        if options.run:
            options.run.mkdir(exist_ok=True)
            for record in records:
                run_at_base(record, sources[record["repo"]], options.run / f"{record['instance_id']}.json")


def _clone(repo: str, mirror: Path, folder: Path) -> Path:
    into = folder / repo.replace("/", "+")
    whole = mirror / repo.replace("/", "+") / "repo"
    own = mirror / f"swe-bench+{repo.replace('/', '__')}" / "repo"
    path = str(whole if whole.exists() else own)
    subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", path, str(into)], check=True)
    return into


def _make_issue(record: Mapping[str, Any]) -> Issue:
    title, _, body = record["problem_statement"].partition("\n")
    return Issue(number=1, title=title, body=body)


def print_examples(records: list[dict[str, Any]], sources: Mapping[str, Path]) -> None:
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        project = open_project(Source(sources[record["repo"]]), ReproduceConfig(), record["base_commit"])
        found = read_example(read_issue(_make_issue(record)), project)
        reasons[record["repo"]][found.reason if isinstance(found, NoExample) else "example"] += 1
    total = sum(reasons.values(), Counter[str]())
    for name, counts in [*reasons.items(), ("all", total)]:
        print(name, f"n={counts.total()}", *(f"{reason} {count}" for reason, count in counts.most_common()))


def run_at_base(record: dict[str, Any], root: Path, path: Path) -> None:
    if path.exists():
        return
    source, config = Source(root), ReproduceConfig()
    project = open_project(source, config, record["base_commit"])
    releases = list_releases(project, Network(), os.environ)
    versions = Versions(source, project, releases, record["base_commit"], is_named=False)
    selection = select_example(_make_issue(record), source, project, versions, [], "")
    if isinstance(selection, NoExample):
        return
    target = selection.targets[-1]
    with VirtualEnvironments(source, os.environ, "", print, keep=False) as environments:
        runs = VersionRunner(environments, selection, print).run(target)
    measure = choose_measure(runs, selection.expected)
    run: Run = summarize(target.on, runs, selection.expected, measure)
    print(record["instance_id"], run.outcome, run.reason, run.error, run.same_failure, measure, flush=True)
    path.write_text(json.dumps({"gold": record["gold_files"], "measure": measure, "run": run.model_dump()}))


if __name__ == "__main__":
    main()
