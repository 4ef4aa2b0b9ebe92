"""Measures the examples of issues with known fixes: how many there are, and what running them at the base says."""

import argparse
import json
import os
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench.accuracy import build_record
from triage.domain.issue import Issue
from triage.domain.project_config import ReproduceConfig
from triage.find.rank.query import build_query
from triage.find.rank.ranking import Ranking, rank_files
from triage.find.retriever import make_search_query
from triage.read.read_issue import read_issue
from triage.reproduce.environments.virtual import VirtualEnvironments
from triage.reproduce.evidence import Evidence, Run
from triage.reproduce.example.example import NoExample
from triage.reproduce.example.read_example import read_example
from triage.reproduce.pages import find_executed_code
from triage.reproduce.project_checkout import NothingToRun, ProjectCheckout
from triage.reproduce.run_example import VersionRunner
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
            print_ranks(records, options.mirror, options.run)


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
        checkout = ProjectCheckout(sources[record["repo"]], ReproduceConfig(), record["base_commit"])
        found = read_example(read_issue(_make_issue(record)), checkout.project)
        reasons[record["repo"]][found.reason if isinstance(found, NoExample) else "example"] += 1
    total = sum(reasons.values(), Counter[str]())
    for name, counts in [*reasons.items(), ("all", total)]:
        print(name, f"n={counts.total()}", *(f"{reason} {count}" for reason, count in counts.most_common()))


def run_at_base(record: dict[str, Any], root: Path, path: Path) -> None:
    if path.exists():
        return
    checkout = ProjectCheckout(root, ReproduceConfig(), record["base_commit"])
    try:
        selection = checkout.select(_make_issue(record), [])
    except NothingToRun:
        return
    target = selection.targets[-1]
    with VirtualEnvironments(checkout.source, os.environ) as environments:
        runs = VersionRunner(environments, selection, print).run(target, on_any_python=True)
    measure = choose_measure(runs, selection.expected)
    run: Run = summarize(target.on, runs, selection.expected, measure)
    print(record["instance_id"], run.outcome, run.reason, run.error, run.same_failure, measure, flush=True)
    path.write_text(json.dumps({"gold": record["gold_files"], "measure": measure, "run": run.model_dump()}))


def print_ranks(records: list[dict[str, Any]], mirror: Path, folder: Path) -> None:
    """Print how often a file of the fix is among the first, by words alone and with what the example executed."""
    places: dict[str, list[tuple[int, int]]] = {"all that ran": [], "with the reported failure": []}
    executed, reached = list[int](), 0
    for record in records:
        path = folder / f"{record['instance_id']}.json"
        run = Run.model_validate(json.loads(path.read_text())["run"]) if path.exists() else None
        if run is None or run.outcome not in ("passed", "failed") or not run.executed:
            continue
        corpus = build_record(record | {"mirror": _find_mirror(record["repo"], mirror)}, mirror)
        paths = [file.path for file in corpus.files]
        evidence = Evidence(verdict="still", measure="difference", runs=[run])
        code = find_executed_code(evidence, partial(_find_path, paths))
        query = build_query(make_search_query(record["problem_statement"]))
        both = [_rank(rank_files(corpus, query, {}, by_embedding=False, executed=one), record) for one in (None, code)]
        files = {one.path for one in code.functions} if code else set[str]()
        executed.append(len(files))
        reached += bool(files.intersection(record["gold_files"]))
        for name in places if run.same_failure else ["all that ran"]:
            places[name].append((both[0], both[1]))
    print(f"a file of the fix executed: {reached} of {len(executed)}; files executed: {median(executed or [0])}")
    for name, found in places.items():
        for way, ranks in zip(("by words", "with what ran"), zip(*found, strict=True), strict=False):
            rates = " ".join(f"@{k} {100 * sum(rank < k for rank in ranks) / len(ranks):.0f}" for k in (1, 3, 5))
            print(f"{name}, {way}: n={len(ranks)} {rates}")


def _find_path(paths: list[str], path: str) -> str:
    found = [one for one in paths if one == path or one.endswith(f"/{path}")]
    return path if path in found else found[0] if len(found) == 1 else ""


def _find_mirror(repo: str, mirror: Path) -> str:
    own = f"swe-bench+{repo.replace('/', '__')}"
    return own if (mirror / own).exists() else repo.replace("/", "+")


def _rank(ranking: Ranking, record: Mapping[str, Any]) -> int:
    ranked = [ranking.search.corpus.files[file].path for file in ranking.order]
    return min((ranked.index(path) for path in record["gold_files"] if path in ranked), default=1_000)


if __name__ == "__main__":
    main()
