"""What speaks for a file: one row for each signal.

A signal gives every file a number from 0 up; it is divided by the highest one, so that the best file has 1. How much
a signal counts stands in `weights.json`, which `python -m bench.train` writes.

To add a signal: a function from `Evidence` to `Scores`, a row here, and train; until then it counts nothing. To change
one: train with a fresh `--cache` folder. Where it leads to files that share no word with the issue, `_candidates` in
`rank.py` must take them up too; what it says to a maintainer is a function in `reasons.py`.
"""

from collections.abc import Callable, Mapping

import numpy as np

from triage.index.files.packages import in_named_units
from triage.index.rank.called_code import called
from triage.index.rank.evidence import Evidence, Scores
from triage.index.rank.quotes import quoting

_NEIGHBOURS = 4


def _named(name: str) -> Callable[[Evidence], Scores]:
    return lambda evidence: evidence.spread(getattr(evidence.named, name))


def _neighbours(evidence: Evidence) -> Scores:
    """How well the best other files of the same folder fit."""
    scores = (evidence.by_chunks * evidence.corpus.priors).tolist()
    found = evidence.nothing()
    for numbers in evidence.corpus.folders.values():
        best = sorted(numbers, key=lambda number: -scores[number])[: _NEIGHBOURS + 1]
        found[numbers] = sum(scores[number] for number in best[:_NEIGHBOURS])
        for number in best[:_NEIGHBOURS]:
            found[number] = sum(scores[other] for other in best if other != number)
    return found


def _package(evidence: Evidence) -> Scores:
    """The issue names the package around the file."""
    corpus = evidence.corpus
    if not corpus.units:
        return evidence.nothing()
    title, prose = evidence.query.said or ("", "")
    return evidence.spread(in_named_units(list(corpus.numbers), corpus.units, title, prose))


def _size(evidence: Evidence) -> Scores:
    """More code holds more faults."""
    return np.log1p(np.bincount(evidence.corpus.chunk_files, minlength=len(evidence.corpus.files))).astype(np.float32)


SIGNALS: Mapping[str, Callable[[Evidence], Scores]] = {
    "chunks": lambda evidence: evidence.by_chunks,
    "files": lambda evidence: evidence.corpus.by_file.scores(evidence.weights),
    "paths": lambda evidence: evidence.corpus.by_path.scores(evidence.weights),
    "chunks by opening": lambda evidence: evidence.chunks("opening"),
    "chunks by prose": lambda evidence: evidence.chunks("prose"),
    "chunks by names": lambda evidence: evidence.chunks("names"),
    "files by title": lambda evidence: evidence.files("title"),
    "paths by title": lambda evidence: evidence.paths("title"),
    "words of the title": lambda evidence: evidence.share("title"),
    "path": _named("path"),
    "innermost frame": _named("innermost"),
    "file name": _named("stem_in_body"),
    "definition": _named("defined"),
    "definition in title": _named("defined_in_title"),
    "quoted text": quoting,
    "called": called,
    "neighbours": _neighbours,
    "size": _size,
    "package": _package,
}
