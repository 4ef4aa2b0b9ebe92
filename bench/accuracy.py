"""Measures Acc@k of the ranking on issues with known fixes."""

import argparse
import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triage.find.build_corpus import IndexLimits, build_corpus
from triage.find.rank.query import build_query
from triage.find.rank.ranking import rank_files
from triage.find.retriever import make_search_query
from triage.find.words.corpus import Corpus
from triage.git.commit import CommitTree
from triage.git.git import Git

KS = (1, 3, 5, 10)


def main() -> None:
    records, mirror = parse_arguments(__doc__)
    rows = []
    for record, ranked in rank_records(records, mirror):
        positions = [ranked.index(gold) if gold in ranked else len(ranked) + 1_000 for gold in record["gold_files"]]
        rows.append([max(positions) < k for k in KS])
        print(record.get("instance_id", record["repo"]), [position + 1 for position in positions], flush=True)
    print(f"n={len(rows)}", *(f"acc@{k} {100 * statistics.mean(row[i] for row in rows):.1f}" for i, k in enumerate(KS)))


def parse_arguments(description: str | None) -> tuple[list[dict[str, Any]], Path]:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--set", type=Path, required=True, help="JSON lines")
    parser.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories")
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    return [json.loads(line) for line in options.set.read_text().splitlines()[: options.limit]], options.mirror


def rank_records(records: list[dict[str, Any]], mirror: Path) -> Iterator[tuple[dict[str, Any], list[str]]]:
    for record in records:
        corpus = build_record(record, mirror)
        ranking = rank_files(
            corpus, build_query(make_search_query(record["problem_statement"])), {}, by_embedding=False
        )
        yield record, [corpus.files[file].path for file in ranking.order]


def open_git(record: dict[str, Any], mirror: Path) -> Git:
    return Git(mirror / record.get("mirror", record["repo"].replace("/", "+")) / "repo", bare=True)


def build_record(record: dict[str, Any], mirror: Path) -> Corpus:
    tree = CommitTree(open_git(record, mirror), revision=record["base_commit"])
    return build_corpus(tree, tree.list_files(), IndexLimits()).corpus


if __name__ == "__main__":
    main()
