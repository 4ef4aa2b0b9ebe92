"""Regression: the commits between a version that worked and one that does not, those first that fit the report."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from triage.code.files.file_roles import classify_file
from triage.code.git.commit_log import LoggedCommit
from triage.code.rank.query import Query
from triage.code.rank.ranking import Ranking
from triage.code.rank.reasons import is_distinctive
from triage.code.words.corpus import Corpus
from triage.code.words.tokens import find_words, split_into_terms
from triage.domain.code import RegressionWindow

MAX_ALL = 5
"""So few commits are all named."""
MAX_NAMED = 3
"""Of more commits. In 21 of 28 Python issues with a version or a commit, one of those named edits a file of the fix."""
MAX_FURTHER = 25
CHANGED_WEIGHT = 1.5
"""Of a file that a named commit changed alone, as a logit; of each of four files half as much. In twelve Python issues
with versions in the history, the mean log-likelihood of the fix's files is -0.78 with it and -0.95 without."""
_MIN_SHARED = 2
"""Rare words that a commit shares with the report."""
_MAX_LIKELY = 3
_IDF_OF_RARE = 5.0
"""Of a word in one of 150 files."""

RateCommit = Callable[[LoggedCommit], float]


def list_product_commits(commits: Sequence[LoggedCommit]) -> list[LoggedCommit]:
    """Return those that change code of the product: not tests, documentation or settings alone."""
    return [one for one in commits if any(classify_file(path).is_product_code for path in one.paths)]


def choose_further(commits: Sequence[LoggedCommit], rate: RateCommit) -> list[LoggedCommit]:
    """Return at most 25 commits, those first that fit the report best."""
    return sorted(commits, key=lambda one: -rate(one))[:MAX_FURTHER]


def raise_changed_files(ranking: Ranking, window: RegressionWindow) -> Ranking:
    """Return the ranking in which the files are likelier that the window's named commits changed."""
    numbers = ranking.query_scores.corpus.file_numbers
    shares: dict[int, float] = {}
    for change in window.commits:
        for file in (numbers[path] for path in change.paths if path in numbers):
            shares[file] = max(shares.get(file, 0.0), len(change.paths) ** -0.5)
    chances = ranking.probabilities
    odds = {file: chance * math.exp(CHANGED_WEIGHT * shares.get(file, 0.0)) for file, chance in chances.items()}
    # What no file has stays as it was: the fix may be elsewhere.
    total = sum(odds.values()) + max(0.0, 1.0 - sum(chances.values()))
    probabilities = {file: one / total for file, one in odds.items()}
    order = sorted(ranking.order, key=lambda file: -probabilities[file])
    best = max(ranking.scores.values(), default=1.0)
    scores = {file: best * probabilities[file] / probabilities[order[0]] for file in order}
    return replace(ranking, order=order, probabilities=probabilities, scores=scores)


def choose_commits(commits: Sequence[LoggedCommit], rate: RateCommit) -> list[LoggedCommit]:
    """Return the commits to name: all of a few, else the best that share words with the report; newest first."""
    if len(commits) <= MAX_ALL:
        return list(commits)
    rated = [(rate(one), number) for number, one in enumerate(commits)]
    best = sorted((one for one in rated if one[0] > 0), key=lambda one: (-one[0], one[1]))[:MAX_NAMED]
    return [commits[number] for number in sorted(number for _, number in best)]


def make_rater(corpus: Corpus, query: Query, likely_paths: Sequence[str]) -> RateCommit:
    """Return a function that rates a commit: by rare words that its first line and its paths share with a report.

    A change of one of the likely files counts as much as two such words.
    """
    likely = frozenset(likely_paths[:_MAX_LIKELY])

    def rate(commit: LoggedCommit) -> float:
        text = f"{commit.message.partition(chr(10))[0]} {' '.join(commit.paths)}"
        terms = {term for word in find_words(text) for term in split_into_terms(word)}
        shared = [term for term in terms if term in query.term_weights and is_distinctive(corpus, term)]
        is_likely = not likely.isdisjoint(commit.paths)
        if len(shared) < _MIN_SHARED and not is_likely:
            return 0.0
        bonus = _MIN_SHARED * _IDF_OF_RARE if is_likely else 0.0
        return bonus + sum(query.term_weights[term] * _read_idf(corpus, term) for term in shared)

    return rate


def _read_idf(corpus: Corpus, term: str) -> float:
    number = corpus.vocabulary.find_number(term)
    return float(corpus.by_file.idf[number]) if number is not None else 0.0
