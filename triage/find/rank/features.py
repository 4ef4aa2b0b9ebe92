"""The features of the ranking, one row each.

A feature gives each file a number of at least 0. The numbers are divided by the highest one, so that the best file has
1; only the evidence of the past counts in absolute terms. The weight of a feature is in `weights.json`, which
`python -m bench.train` writes.

To add a feature: write a function from `Search` to `Scores`, add a row here, and train. Until then its
weight is 0. To change one: train with a new `--cache` folder. If it finds files that share no word with the issue,
add them in `_find_candidates` in `ranking.py`. A function in `reasons.py` explains it to a maintainer.
"""

import re
from collections.abc import Callable, Mapping

import numpy as np

from triage.find.rank.search import Scores, Search, find_highest
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


def score_called_code(search: Search) -> Scores:
    """Score files that define what the best chunks of other files call, if the name contains a term of the issue."""
    corpus, scores = search.corpus, search.zeros()
    in_product = np.where(corpus.product_files[corpus.chunk_files], search.chunk_scores, 0)
    for chunk in find_highest(in_product, _MAX_CALLERS):
        own = int(corpus.chunk_files[chunk])
        for name in sorted(set(_CALL.findall(search.chunk_text(chunk)))):
            is_named = any(term in search.query.term_weights for term in split_into_terms(name))
            locations = corpus.definitions.get(name, ()) if is_named else ()
            files = {location.file for location in locations if corpus.product_files[location.file]}
            for file in files if len(files) <= _MAX_DEFINING_FILES and own not in files else ():
                scores[file] += float(search.chunk_scores[chunk]) / len(files)
    return scores


def score_quotes(search: Search) -> Scores:
    """Score files that contain a quote of the issue; rare quotes count more."""
    scores = search.zeros()
    if not search.query.phrases:
        return scores
    candidates = find_highest(search.best_chunk_scores * search.corpus.priors, _MAX_FILES)
    texts = {file: "\n".join(search.file_lines(file)) for file in candidates}
    for phrase in search.query.phrases:
        containing = [file for file, text in texts.items() if phrase in text]
        if 0 < len(containing) <= max(1, _MAX_SHARE * len(texts)):
            score = 1.0 if not phrase.isidentifier() else 1 / 2
            scores[containing] += score / len(containing)
    return scores


def _mention_scores(name: str) -> Callable[[Search], Scores]:
    return lambda search: search.to_array(getattr(search.mentions, name))


def _score_neighbours(search: Search) -> Scores:
    """Score files by the best scores of other files in their folder."""
    scores = (search.best_chunk_scores * search.corpus.priors).tolist()
    sums = search.zeros()
    for files in search.corpus.files_by_folder.values():
        best = sorted(files, key=lambda file: -scores[file])[: _NEIGHBOURS + 1]
        sums[files] = sum(scores[file] for file in best[:_NEIGHBOURS])
        for file in best[:_NEIGHBOURS]:
            sums[file] = sum(scores[other] for other in best if other != file)
    return sums


FEATURES: Mapping[str, Callable[[Search], Scores]] = {
    "chunks": lambda search: search.best_chunk_scores,
    "files": lambda search: search.corpus.by_file.score_documents(search.term_weights),
    "paths": lambda search: search.corpus.by_path.score_documents(search.term_weights),
    "chunks by opening": lambda search: search.score_part("opening"),
    "chunks by prose": lambda search: search.score_part("prose"),
    "chunks by names": lambda search: search.score_part("names"),
    "files by title": lambda search: search.corpus.by_file.score_documents(search.part_weights("title")),
    "paths by title": lambda search: search.corpus.by_path.score_documents(search.part_weights("title")),
    "words of the title": Search.sum_title_idf,
    "path": _mention_scores("path_scores"),
    "innermost frame": _mention_scores("innermost_frame_scores"),
    "file name": _mention_scores("stem_scores"),
    "definition": _mention_scores("definition_scores"),
    "definition in title": _mention_scores("title_definition_scores"),
    "quoted text": score_quotes,
    "called": score_called_code,
    "neighbours": _score_neighbours,
    "size": lambda search: np.log1p(np.bincount(search.corpus.chunk_files, minlength=len(search.corpus.files))).astype(
        np.float32
    ),
    "past fixes": lambda search: search.past_changes.score_files(search.change_scores),
}
