"""Finds text of the issue in the code: quotes, and error messages where they are raised."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile
from operator import eq

from triage.code.rank.query_scores import QueryScores, Scores, find_highest
from triage.code.words.tokens import find_words

_MAX_FILES = 150
"""Best files by words, which are searched for quotes."""
_MAX_SHARE = 1 / 4
"""A quote that more of them contain is ignored."""
_MIN_RUN = 2
_MIN_MESSAGE_WORDS = 3
_UNKNOWN_WORD_WEIGHT = 0.5
_MAX_POSITIONS = 50
"""Of one word in a chunk."""


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


def find_quotes(query_scores: QueryScores, file: int) -> list[str]:
    text = "\n".join(query_scores.file_lines(file))
    return [phrase for phrase in query_scores.query.phrases if phrase in text]


def measure_message_overlap(query_scores: QueryScores, chunks: Sequence[int]) -> float:
    """Largest share of an error message that is one run of words in the chunks; rare words count more.

    Only a run, because a template fills in the rest. Not a feature: a message is raised where a bug is noticed.
    """
    text = [word.lower() for chunk in chunks for word in find_words(query_scores.chunk_text(chunk))]
    best = 0.0
    for message in query_scores.query.messages:
        weights = [_weigh_word(query_scores, word) for word in message]
        if len(message) >= _MIN_MESSAGE_WORDS:
            best = max(best, weigh_longest_run(message, weights, text) / sum(weights))
    return best


def _weigh_word(query_scores: QueryScores, word: str) -> float:
    """Inverse document frequency; a little for a word that no file has."""
    idf, number = query_scores.corpus.by_file.idf, query_scores.corpus.vocabulary.find_number(word)
    return _UNKNOWN_WORD_WEIGHT + (float(idf[number]) if number is not None and number < len(idf) else 0.0)


def weigh_longest_run(message: Sequence[str], weights: Sequence[float], text: Sequence[str]) -> float:
    """Weight of the longest run of words in both; a single word is no run."""
    positions: Mapping[str, list[int]] = defaultdict(list)
    for position, word in enumerate(text):
        positions[word].append(position)
    best = 0.0
    for start, word in enumerate(message):
        for position in positions.get(word, [])[:_MAX_POSITIONS]:
            length = sum(takewhile(bool, map(eq, message[start:], text[position : position + len(message)])))
            if length >= _MIN_RUN:
                best = max(best, sum(weights[start : start + length]))
    return best
