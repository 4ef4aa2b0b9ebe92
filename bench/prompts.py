"""Measures what of the fix stands in the first prompt of the codebase search.

Reads the same records as `bench.accuracy`. Each also has `patch`, the fix as a unified diff, or `fix`, the commit with
the fix, whose parent has the same version of `gold_files` as `base_commit`. No model is asked: the search has the
issue's text alone.
"""

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from bench.accuracy import build_record, open_git
from bench.functions import find_edited_lines, parse_patch
from triage.agents.codebase_search import CONTEXT_CHARS
from triage.domain.code import PromptPassages
from triage.find.rank.prompt_passages import choose_prompt_passages
from triage.find.rank.query import build_query
from triage.find.rank.ranking import rank_files
from triage.find.retriever import make_search_query
from triage.find.words.corpus import Corpus

_NUMBER = re.compile(r"^ *(\d+)\| ", re.M)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", type=Path, help="JSON lines")
    parser.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--chars", type=int, default=CONTEXT_CHARS, help="of code in the prompt")
    options = parser.parse_args()
    rows = Counter[str]()
    for line in options.set.read_text().splitlines()[: options.limit]:
        record = json.loads(line)
        found = measure(build_record(record, options.mirror), record, options.mirror, options.chars)
        rows.update(["bugs", *found])
        print(record.get("instance_id", record["repo"]), *found, flush=True)
    for name in ("file shown", "edited line shown"):
        print(f"{name}: {rows[name]} of {rows['bugs']}, {100 * rows[name] / max(1, rows['bugs']):.1f} %")


def measure(corpus: Corpus, record: dict[str, Any], mirror: Path, chars: int) -> list[str]:
    """Return whether a file of the fix, and a line that it edits, stand in the prompt."""
    query = build_query(make_search_query(record["problem_statement"]))
    shown = list_shown_lines(choose_prompt_passages(rank_files(corpus, query, {}, by_embedding=False), chars))
    edited = parse_patch(record["patch"]) if "patch" in record else find_edited_lines(open_git(record, mirror), record)
    is_file_shown = any(path in record["gold_files"] for path, _ in shown)
    is_line_shown = any((path, line) in shown for path, start, end in edited for line in range(start, end + 1))
    return ["file shown"] * is_file_shown + ["edited line shown"] * is_line_shown


def list_shown_lines(chosen: PromptPassages) -> set[tuple[str, int]]:
    return {(passage.span.path, int(number)) for passage in chosen.passages for number in _NUMBER.findall(passage.text)}


if __name__ == "__main__":
    main()
