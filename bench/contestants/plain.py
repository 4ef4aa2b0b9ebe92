"""BM25 over whole files, as textbooks have it: no passages, names, paths or prior; the same words and files as ours."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from bench.contestants.answer import answer
from triage.index.corpus.bm25 import BM25, Counted, Counting
from triage.index.corpus.tokens import Vocabulary, terms_of, words
from triage.index.files.file_filter import refused_by_path, text_or_reason
from triage.index.source.plain_folder import FolderTree


def index(folder: Path) -> Callable[[str], Sequence[str]]:
    tree, vocabulary = FolderTree(folder), Vocabulary()
    entries = [entry for entry in tree.listing().entries if not refused_by_path(entry.path, entry.size)]
    paths: list[str] = []
    parts: list[Counted] = []
    for entry, data in tree.read(entries):
        text = text_or_reason(data)[0] if data is not None else None
        if text is not None:
            counting = Counting(vocabulary)
            counting.add(vocabulary.words_of(text))
            parts.append(counting.counted())
            paths.append(entry.path)
    table = BM25.of(parts, len(vocabulary))
    return lambda issue: ranked(issue, table, vocabulary, paths)


def ranked(issue: str, table: BM25, vocabulary: Vocabulary, paths: Sequence[str]) -> Sequence[str]:
    counts = Counter(term for word in words(issue) for term in terms_of(word))
    numbered = {
        number: float(count) for term, count in counts.items() if (number := vocabulary.number(term)) is not None
    }
    return [paths[file] for file in np.argsort(-table.scores(numbered), kind="stable")]


if __name__ == "__main__":
    answer(index)
