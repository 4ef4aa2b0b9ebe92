"""The features of the ranking, one row each.

A feature gives each file a number of at least 0. The numbers are divided by the highest one, so that the best file has
1; only the evidence of the past counts in absolute terms. The weight of a feature is in `weights.json`, which
`python -m bench.train` writes.

To add a feature: write a function from `QueryScores` to `Scores`, add a row here, and train. Until then its
weight is 0. To change one: train with a new `--cache` folder. If it finds files that share no word with the issue,
add them in `_find_candidates` in `ranking.py`. A function in `reasons.py` explains it to a maintainer.
"""

import re
from collections.abc import Callable, Mapping

import numpy as np

from triage.find.rank.query_scores import QueryScores, Scores, find_highest
from triage.find.words.tokens import split_into_terms

_MAX_CALLERS = 12
"""Best chunks whose calls are followed."""
_MAX_DEFINING_FILES = 3
"""A name that more files define is ignored."""
_CALL = re.compile(r"([^\W\d]\w*+)[ \t]*\(")
_MAX_FILES = 150
"""Best files by words, which are searched for quotes."""
_MAX_SHARE = 1 / 4
"""A quote that more of them contain is ignored."""
_NEIGHBOURS = 4


def score_called_code(query_scores: QueryScores) -> Scores:
    """Score files that define what the best chunks of other files call, if the name contains a term of the issue."""
    corpus, scores = query_scores.corpus, query_scores.zeros()
    in_product = np.where(corpus.product_files[corpus.chunk_files], query_scores.chunk_scores, 0)
    for chunk in find_highest(in_product, _MAX_CALLERS):
        own = int(corpus.chunk_files[chunk])
        for name in sorted(set(_CALL.findall(query_scores.chunk_text(chunk)))):
            is_named = any(term in query_scores.query.term_weights for term in split_into_terms(name))
            locations = corpus.definitions.get(name, ()) if is_named else ()
            files = {location.file for location in locations if corpus.product_files[location.file]}
            for file in files if len(files) <= _MAX_DEFINING_FILES and own not in files else ():
                scores[file] += float(query_scores.chunk_scores[chunk]) / len(files)
    return scores


def score_quotes(query_scores: QueryScores) -> Scores:
    """Score files that contain a quote of the issue; rare quotes count more."""
    scores = query_scores.zeros()
    if not query_scores.query.phrases:
        return scores
    candidates = find_highest(query_scores.best_chunk_scores * query_scores.corpus.priors, _MAX_FILES)
    texts = {file: "\n".join(query_scores.file_lines(file)) for file in candidates}
    for phrase in query_scores.query.phrases:
        containing = [file for file, text in texts.items() if phrase in text]
        if 0 < len(containing) <= max(1, _MAX_SHARE * len(texts)):
            score = 1.0 if not phrase.isidentifier() else 1 / 2
            scores[containing] += score / len(containing)
    return scores


def _mention_scores(name: str) -> Callable[[QueryScores], Scores]:
    return lambda query_scores: query_scores.to_array(getattr(query_scores.mentions, name))


def _score_neighbours(query_scores: QueryScores) -> Scores:
    """Score files by the best scores of other files in their folder."""
    scores = (query_scores.best_chunk_scores * query_scores.corpus.priors).tolist()
    sums = query_scores.zeros()
    for files in query_scores.corpus.files_by_folder.values():
        best = sorted(files, key=lambda file: -scores[file])[: _NEIGHBOURS + 1]
        sums[files] = sum(scores[file] for file in best[:_NEIGHBOURS])
        for file in best[:_NEIGHBOURS]:
            sums[file] = sum(scores[other] for other in best if other != file)
    return sums


FEATURES: Mapping[str, Callable[[QueryScores], Scores]] = {
    "chunks": lambda query_scores: query_scores.best_chunk_scores,
    "files": lambda query_scores: query_scores.corpus.by_file.score_documents(query_scores.term_weights),
    "paths": lambda query_scores: query_scores.corpus.by_path.score_documents(query_scores.term_weights),
    "chunks by opening": lambda query_scores: query_scores.score_part("opening"),
    "chunks by prose": lambda query_scores: query_scores.score_part("prose"),
    "chunks by names": lambda query_scores: query_scores.score_part("names"),
    "files by title": lambda query_scores: query_scores.corpus.by_file.score_documents(
        query_scores.part_weights("title")
    ),
    "paths by title": lambda query_scores: query_scores.corpus.by_path.score_documents(
        query_scores.part_weights("title")
    ),
    "words of the title": QueryScores.sum_title_idf,
    "path": _mention_scores("path_scores"),
    "innermost frame": _mention_scores("innermost_frame_scores"),
    "file name": _mention_scores("stem_scores"),
    "definition": _mention_scores("definition_scores"),
    "definition in title": _mention_scores("title_definition_scores"),
    "quoted text": score_quotes,
    "called": score_called_code,
    "neighbours": _score_neighbours,
    "size": lambda query_scores: np.log1p(
        np.bincount(query_scores.corpus.chunk_files, minlength=len(query_scores.corpus.files))
    ).astype(np.float32),
    "past fixes": lambda query_scores: query_scores.past.score_files(query_scores.change_scores),
}
