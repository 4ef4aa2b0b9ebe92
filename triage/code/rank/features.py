"""The features of the ranking, one row each.

A feature gives each file a number of at least 0. The numbers are divided by the highest one, so that the best file has
1. The weight of a feature is in `weights.json`, which `python -m bench.train` writes.

To add a feature: write a function from `QueryScores` to `Scores`, add a row here, and train. Until then its
weight is 0. To change one: train with a new `--cache` folder. If it finds files that share no word with the issue,
add them in `_find_candidates` in `ranking.py`. A function in `reasons.py` explains it to a maintainer.
"""

from collections.abc import Callable, Mapping

import numpy as np

from triage.code.files.packages import score_mentioned_packages
from triage.code.rank.called_code import score_called_code
from triage.code.rank.query_scores import QueryScores, Scores
from triage.code.rank.quotes import score_quotes

_NEIGHBOURS = 4


def _mention_scores(name: str) -> Callable[[QueryScores], Scores]:
    return lambda query_scores: query_scores.to_array(getattr(query_scores.mentions, name))


def _score_neighbours(query_scores: QueryScores) -> Scores:
    scores = (query_scores.best_chunk_scores * query_scores.corpus.priors).tolist()
    sums = query_scores.zeros()
    for files in query_scores.corpus.files_by_folder.values():
        best = sorted(files, key=lambda file: -scores[file])[: _NEIGHBOURS + 1]
        sums[files] = sum(scores[file] for file in best[:_NEIGHBOURS])
        for file in best[:_NEIGHBOURS]:
            sums[file] = sum(scores[other] for other in best if other != file)
    return sums


def _score_package(query_scores: QueryScores) -> Scores:
    corpus = query_scores.corpus
    if not corpus.packages:
        return query_scores.zeros()
    title, prose = query_scores.query.title_and_prose or ("", "")
    return query_scores.to_array(score_mentioned_packages(list(corpus.file_numbers), corpus.packages, title, prose))


def _score_past_fixes(query_scores: QueryScores) -> Scores:
    past = query_scores.past
    return past.score_files(query_scores.change_scores) if past else query_scores.zeros()


def _score_size(query_scores: QueryScores) -> Scores:
    return np.log1p(np.bincount(query_scores.corpus.chunk_files, minlength=len(query_scores.corpus.files))).astype(
        np.float32
    )


FEATURES: Mapping[str, Callable[[QueryScores], Scores]] = {
    "chunks": lambda query_scores: query_scores.best_chunk_scores,
    "files": lambda query_scores: query_scores.corpus.by_file.score_documents(query_scores.term_weights),
    "paths": lambda query_scores: query_scores.corpus.by_path.score_documents(query_scores.term_weights),
    "chunks by opening": lambda query_scores: query_scores.score_chunks("opening"),
    "chunks by prose": lambda query_scores: query_scores.score_chunks("prose"),
    "chunks by names": lambda query_scores: query_scores.score_chunks("names"),
    "files by title": lambda query_scores: query_scores.corpus.by_file.score_documents(
        query_scores.part_weights("title")
    ),
    "paths by title": lambda query_scores: query_scores.corpus.by_path.score_documents(
        query_scores.part_weights("title")
    ),
    "words of the title": lambda query_scores: query_scores.score_share("title"),
    "path": _mention_scores("path_scores"),
    "innermost frame": _mention_scores("innermost_frame_scores"),
    "file name": _mention_scores("stem_scores"),
    "definition": _mention_scores("definition_scores"),
    "definition in title": _mention_scores("title_definition_scores"),
    "quoted text": score_quotes,
    "called": score_called_code,
    "neighbours": _score_neighbours,
    "size": _score_size,
    "package": _score_package,
    "past fixes": _score_past_fixes,
}
