"""BM25 over whole files, as in textbooks: no passages, names, paths or roles. Words and files are the same as ours."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from bench.contestants.answer import run_contestant
from triage.find.files.file_filter import get_skip_reason
from triage.find.files.file_text import load_text
from triage.find.words.bm25 import BM25, TermCounter, TermCounts
from triage.find.words.tokens import Vocabulary, find_words, split_into_terms
from triage.git.commit import open_commit


def index(folder: Path) -> Callable[[str], Sequence[str]]:
    tree, vocabulary = open_commit(folder), Vocabulary()
    entries = [entry for entry in tree.list_files().entries if not get_skip_reason(entry.path, entry.size)]
    paths: list[str] = []
    parts: list[TermCounts] = []
    for entry, data in tree.read(entries):
        text = load_text(data)[0] if data is not None else None
        if text is not None:
            counting = TermCounter(vocabulary)
            counting.add(vocabulary.encode_words(text))
            parts.append(counting.count())
            paths.append(entry.path)
    table = BM25.from_counts(parts, len(vocabulary))
    return lambda issue: ranked(issue, table, vocabulary, paths)


def ranked(issue: str, table: BM25, vocabulary: Vocabulary, paths: Sequence[str]) -> Sequence[str]:
    counts = Counter(term for word in find_words(issue) for term in split_into_terms(word))
    numbered = {
        number: float(count) for term, count in counts.items() if (number := vocabulary.find_number(term)) is not None
    }
    return [paths[file] for file in np.argsort(-table.score_documents(numbered), kind="stable")]


if __name__ == "__main__":
    run_contestant(index)
