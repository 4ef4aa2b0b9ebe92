"""Text of the issue that stands in the sources: quoted pieces, and error messages where they are raised."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from triage.index.corpus.tokens import find_words
from triage.index.rank.evidence import Evidence, Scores, find_highest

_SEARCHED = 150
"""Files looked into for quoted text: the ones that the words put first."""
_COMMON = 1 / 4
"""Text that more of them have tells nothing."""
_MIN_RUN = 2
_MIN_MESSAGE = 3
_UNKNOWN = 0.5
_MAX_PLACES = 50
"""Of one word in a chunk."""


def score_quotes(evidence: Evidence) -> Scores:
    """Files that hold what the issue quotes, letter by letter; rare text counts more."""
    found = evidence.zeros()
    if not evidence.query.phrases:
        return found
    candidates = find_highest(evidence.best_chunk_scores * evidence.corpus.priors, _SEARCHED)
    texts = {file: "\n".join(evidence.file_lines(file)) for file in candidates}
    for phrase in evidence.query.phrases:
        holding = [file for file, text in texts.items() if phrase in text]
        if 0 < len(holding) <= max(1, _COMMON * len(texts)):
            worth = 1.0 if not phrase.isidentifier() else 1 / 2
            found[holding] += worth / len(holding)
    return found


def find_quotes(evidence: Evidence, file: int) -> list[str]:
    """What the issue quotes and the file holds."""
    text = "\n".join(evidence.file_lines(file))
    return [phrase for phrase in evidence.query.phrases if phrase in text]


def measure_message_overlap(evidence: Evidence, chunks: Sequence[int]) -> float:
    """Share of an error message that stands in one run of words, as a template leaves it; rare words count more.

    As a signal it does not pay: a message comes from where a fault is noticed.
    """
    said = [word.lower() for chunk in chunks for word in find_words(evidence.chunk_text(chunk))]
    best = 0.0
    for message in evidence.query.messages:
        worths = [_weigh_word(evidence, word) for word in message]
        if len(message) >= _MIN_MESSAGE:
            best = max(best, weigh_longest_run(message, worths, said) / sum(worths))
    return best


def _weigh_word(evidence: Evidence, word: str) -> float:
    """How rare a word is; a little for one that no file has."""
    idf, number = evidence.corpus.by_file.idf, evidence.corpus.vocabulary.find_number(word)
    return _UNKNOWN + (float(idf[number]) if number is not None and number < len(idf) else 0.0)


def weigh_longest_run(message: Sequence[str], worths: Sequence[float], text: Sequence[str]) -> float:
    """Worth of the words that stand in both, side by side and in the same order; single words do not count."""
    places: Mapping[str, list[int]] = defaultdict(list)
    for place, word in enumerate(text):
        places[word].append(place)
    best = 0.0
    for start, word in enumerate(message):
        for place in places.get(word, [])[:_MAX_PLACES]:
            length = _common_prefix_length(message[start:], text[place : place + len(message)])
            if length >= _MIN_RUN:
                best = max(best, sum(worths[start : start + length]))
    return best


def _common_prefix_length(one: Sequence[str], other: Sequence[str]) -> int:
    length = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        length += 1
    return length
