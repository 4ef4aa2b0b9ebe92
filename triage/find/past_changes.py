"""What was changed in the past, and why: words of commit messages and of fixed issues, with the files they changed.

What links a symptom to its cause belongs to a project, and its past has it: the same few files are fixed again and
again, in words that the next report shares.
"""

import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from triage.base.threads import Abandoned
from triage.domain.past_issues import PastIssue
from triage.find.words.bm25 import BM25, TermCounter, TermCounts, sum_best_parts
from triage.find.words.corpus import Corpus
from triage.find.words.tokens import Vocabulary
from triage.git.commit_log import MAX_FILES, MAX_MESSAGE_CHARS, LoggedCommit
from triage.git.history import GitHistory

_YEARS = 3.0
"""A change of that age counts half."""
_SPREAD = 0.25
"""A change of sixteen files counts half for each of them."""
_FIX = re.compile(
    r"\b(?:fix(?:e[sd]|ing)?|bug(?:s|fix(?:es)?)?|clos(?:e[sd]?|ing)|resolv(?:e[sd]?|ing))\b", re.IGNORECASE
)
_CLOSED_ISSUE = re.compile(r"\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?):?\s+(?:gh-|#)(\d{1,9})\b", re.IGNORECASE)
_OTHER_TYPE = re.compile(
    r"(?:build|chore|ci|deps|docs?|feat(?:ure)?|refactor|release|revert|style|tests?)(?:\([^)]*\))?!?:|(?:bump|merge|revert)\b",
    re.IGNORECASE,
)
"""First lines by the convention of Conventional Commits, and what is usual without it."""
_NO_BUG = re.compile(
    r"\b(?:typos?|grammar|spelling|wording|lint(?:s|er|ing)?|clippy|flake8|mypy|pyright|pylint|ruff|eslint|rubocop|isort"
    r"|docstrings?|type (?:hints?|annotations?)|(?:code|pr) review|review (?:comment|feedback))"
    r"|(?:update|bump|raise|set) (?:the )?version|\badd (?:a )?changelog\b"
    r"|^fix(?:e[sd]|ing)?(?: up)?(?: (?:the|a|some|failing|flaky|broken|code|compiler|build))*"
    r" (?:ci|tests?|build|docs?|warnings?|(?:format(?:ting)?|style|indentation|whitespaces?|imports|comments?)$)",
    re.IGNORECASE,
)
"""First lines about the work itself, such as a release."""
_TRAILER = re.compile(r"^(?:signed-off|co-authored|reviewed|acked|tested)-by:.*$|^git-svn-id:.*$", re.I | re.M)


@dataclass(frozen=True, slots=True)
class Change:
    """A commit, or the fix of an issue."""

    text: str
    paths: Sequence[str]
    seconds: int
    """When, since 1970."""
    commit: str = ""
    """Full object id; empty for the fix of an issue."""

    @property
    def subject(self) -> str:
        return self.text.partition("\n")[0].rstrip()


@dataclass(frozen=True)
class ChangeTable:
    """Changes whose words are counted."""

    changes: Sequence[Change] = ()
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    parts: Sequence[TermCounts] = ()

    def add(self, changes: Sequence[Change]) -> "ChangeTable":
        counter = TermCounter(self.vocabulary)
        for change in changes:
            counter.add(self.vocabulary.encode_words(change.text))
        return ChangeTable([*self.changes, *changes], self.vocabulary, [*self.parts, counter.count()])


@dataclass(frozen=True)
class PastChanges:
    corpus: Corpus
    table: ChangeTable = field(default_factory=ChangeTable)

    def add_issues(self, issues: Iterable[PastIssue]) -> "PastChanges":
        """Return the changes with the fixes of these issues, of which the files are known."""
        return PastChanges(self.corpus, self.table.add([*_read_issues(issues)]))

    def add_commits(self, commits: Iterable[LoggedCommit]) -> "PastChanges":
        """Return the changes with older commits, or with commits of another branch."""
        return PastChanges(self.corpus, self.table.add([_read_commit(commit) for commit in commits]))

    @cached_property
    def coverage(self) -> float:
        """Share of the product's code that was changed, from 0 to 1: how much the past can say."""
        product = self.corpus.product_files
        return float(np.isin(np.flatnonzero(product), self._pairs[:, 1]).mean()) if product.any() else 0.0

    def score_changes(self, term_weights: Mapping[str, float]) -> NDArray[np.float32]:
        """Score each change by the words that it shares with a query, by its age and by how many files it changed."""
        scores: NDArray[np.float32] = self.score_words(term_weights) * self._weights
        return scores

    def score_words(self, term_weights: Mapping[str, float]) -> NDArray[np.float32]:
        """Score each change by the words that it shares with a query alone."""
        return self._words.score_documents(self.table.vocabulary.number_terms(term_weights))

    def find_idf(self, term: str) -> float:
        """Return how rare a term is among the changes."""
        return self._words.find_idf(self.table.vocabulary.find_number(term))

    def score_files(self, change_scores: NDArray[np.float32]) -> NDArray[np.float32]:
        changes, files = self._pairs.T
        return sum_best_parts(change_scores[changes], files, len(self.corpus.files))

    @cached_property
    def _words(self) -> BM25:
        return BM25.from_counts([*self.table.parts], len(self.table.vocabulary))

    @cached_property
    def _pairs(self) -> NDArray[np.int32]:
        """The number of a change and of a file in it, a row each."""
        numbers = self.corpus.file_numbers
        pairs = [
            (change, numbers[path])
            for change, one in enumerate(self.table.changes)
            for path in one.paths
            if path in numbers
        ]
        return np.array(pairs, dtype=np.int32).reshape(-1, 2)

    @cached_property
    def _weights(self) -> NDArray[np.float32]:
        """How much each change counts: less if it is older, or changes more files."""
        seconds = np.array([change.seconds for change in self.table.changes], dtype=np.float64)
        sizes = np.array([max(1, len(change.paths)) for change in self.table.changes], dtype=np.float64)
        years = (seconds.max(initial=0.0) - seconds) / (365 * 86_400)
        weights: NDArray[np.float32] = (1 / (1 + years / _YEARS) / sizes**_SPREAD).astype(np.float32)
        return weights


def read_changes(commits: Iterable[LoggedCommit]) -> ChangeTable:
    return ChangeTable().add([_read_commit(commit) for commit in commits])


def _read_commit(commit: LoggedCommit) -> Change:
    message = _TRAILER.sub("", commit.message)
    return Change(message, commit.paths, commit.seconds, commit.commit)


def is_mainly_fix(message: str) -> bool:
    """Return whether the first line says so, or the message closes an issue; not if the first line says otherwise.

    It may still be about the work itself: see `is_about_work`.
    """
    subject = message.partition("\n")[0]
    return _OTHER_TYPE.match(subject) is None and bool(_FIX.search(subject) or _CLOSED_ISSUE.search(message))


def is_about_work(message: str) -> bool:
    """Return whether the first line is about tests, types, style or words: what no report of a bug is about."""
    return _NO_BUG.search(message.partition("\n")[0].rstrip()) is not None


def _read_issues(issues: Iterable[PastIssue]) -> Iterator[Change]:
    """Yield the fixes of past issues as changes."""
    for issue in issues:
        for fix in issue.fixes:
            at = fix.at or issue.closed_at
            if at and 0 < len(fix.files) <= MAX_FILES:
                text = f"{issue.title}\n{fix.title}\n{issue.body}"[:MAX_MESSAGE_CHARS]
                yield Change(text, tuple(dict.fromkeys(fix.files)), int(at.timestamp()))


class ChangeReader:
    def __init__(self, history: GitHistory) -> None:
        """Start to read the commits."""
        self._history = history
        self._table = ChangeTable()
        # With our context, so that git ends when nobody waits for the index any more.
        self._thread = threading.Thread(target=copy_context().run, args=(self._read,), daemon=True, name="history")
        self._thread.start()

    def wait(self) -> ChangeTable:
        """Return what was read; empty when git has no answer."""
        self._thread.join()
        return self._table

    def _read(self) -> None:
        with suppress(Abandoned):
            self._table = read_changes(self._history.read_commits())
