"""How likely two issues report the same: BM25 over their words, and a logistic regression over what they share."""

import math
import re
from array import array
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triage.domain.issue import Frame, ParsedIssue, Trace
from triage.find.words.bm25 import BM25, TermCounts
from triage.find.words.tokens import WORD_PATTERN, split_into_terms
from triage.read.traces.traces import find_traces

MAX_TITLE_CHARS, MAX_BODY_CHARS = 300, 5_000
"""What follows is mostly logs. With 2,500 or 10,000 characters no more duplicates are found."""
_MAX_LINE_CHARS = 1_000
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_SUFFIXES = (("sses", "ss"), ("ies", "y"), ("ing", ""), ("edly", ""), ("ed", ""), ("ly", ""), ("es", ""), ("s", ""))
_MIN_STEM_CHARS = 3
K1 = 2.0
"""Chosen on SeaMonkey, Storm and Hive (`bench.duplicates`), as are the next three."""
QUERY_K1 = 2.0
"""How fast a repeated word of the new issue stops to count more."""
TITLE_WEIGHT = 3
_SHARED_LINE, _SHARED_LINE_SHARE = 5, 0.02
"""A line that more issues have than both, number and share, is of a template."""


@dataclass(frozen=True, slots=True)
class IssueTerms:
    title: list[str]
    lines: list[tuple[str, list[str]]]
    """Each line of the body that has words, with its terms."""
    numbers: frozenset[str]
    """In the title: versions, years, sizes."""


def extract_terms(title: str, body: str) -> IssueTerms:
    """Return the terms of a visible text. Takes time linear in it, and at most that of 5,000 characters."""
    title = title[:MAX_TITLE_CHARS]
    stripped = (line.strip()[:_MAX_LINE_CHARS] for line in body[:MAX_BODY_CHARS].split("\n"))
    return IssueTerms(
        title=_find_terms(title),
        lines=[(line, terms) for line in stripped if line and (terms := _find_terms(line))],
        numbers=frozenset(_NUMBER.findall(title)),
    )


def _find_terms(text: str) -> list[str]:
    return [term for word in WORD_PATTERN.findall(text) for term in stem_parts(word)]


@lru_cache(maxsize=50_000)
def stem_parts(word: str) -> Sequence[str]:
    return list(dict.fromkeys(stem(term) for term in split_into_terms(word)))


def stem(word: str) -> str:
    """Return the English stem, roughly: `crashes`, `crashed` and `crashing` are `crash`.

    On the sets of `bench.duplicates` it brings 2 of 100 more duplicates among the first ten.
    """
    if len(word) <= _MIN_STEM_CHARS + 1:
        return word
    for suffix, instead in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM_CHARS and not word.endswith("ss"):
            return _drop_end(word[: -len(suffix)] + instead, doubled=suffix in ("ing", "ed"))
    return word.removesuffix("e")


def _drop_end(word: str, *, doubled: bool) -> str:
    if doubled and len(word) > _MIN_STEM_CHARS and word[-1] == word[-2] and word[-1] not in "lsz":
        return word[:-1]
    return word.removesuffix("e")


@dataclass(frozen=True, slots=True)
class Bag:
    """An issue's terms without lines that many issues share."""

    title: frozenset[str]
    counts: Mapping[str, int]
    """How often the issue has a term; in the title it counts three times."""
    numbers: frozenset[str]


class IssueTable:
    def __init__(self) -> None:
        self.bags: list[Bag] = []
        self._numbers: dict[str, int] = {}
        self._columns = array("i"), array("i"), array("i")
        """As in `TermCounts`."""
        self._words: BM25 | None = None
        self._line_counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self.bags)

    def make_bag(self, terms: IssueTerms) -> Bag:
        """Count the terms of an issue, in the title more, but for lines that many issues share, such as a form."""
        limit = max(_SHARED_LINE, _SHARED_LINE_SHARE * len(self))
        counts: Counter[str] = Counter()
        for term in terms.title:
            counts[term] += TITLE_WEIGHT
        for line, line_terms in terms.lines:
            if self._line_counts[line] <= limit:
                counts.update(line_terms)
        return Bag(frozenset(terms.title), counts, terms.numbers)

    def add(self, terms: IssueTerms) -> None:
        self._line_counts.update({line for line, _ in terms.lines})
        bag = self.make_bag(terms)
        sizes, terms_of_all, counts = self._columns
        sizes.append(len(bag.counts))
        terms_of_all.extend(self._numbers.setdefault(term, len(self._numbers)) for term in bag.counts)
        counts.extend(bag.counts.values())
        self._words = None
        self.bags.append(bag)

    @property
    def words(self) -> BM25:
        """How often each word stands in the issues that were added so far."""
        if self._words is None:
            columns = [np.array(column, dtype=np.int32) for column in self._columns]
            self._words = BM25.from_counts([TermCounts(*columns)], len(self._numbers), k1=K1)
        return self._words

    def idf(self, term: str) -> float:
        """Return how rare a term is; a term that no issue has is the rarest."""
        return self.words.find_idf(self._numbers.get(term))

    def score(self, query: Bag) -> NDArray[np.float32]:
        """Return one number for each issue, in time linear in the issues that share a term with the query."""
        known = ((self._numbers.get(term), count) for term, count in query.counts.items())
        weights = {number: count * (QUERY_K1 + 1) / (count + QUERY_K1) for number, count in known if number is not None}
        return self.words.score_documents(weights)


_MAX_CHARS = 8_000
"""Of a past issue: traces stand early."""
_MAX_MESSAGES = 3
_MIN_MESSAGE_CHARS = 15
"""A shorter error text, such as `key error`, is of many failures."""
_MIN_FRAMES = 2
_SAME_FRAMES = 0.6
_VARIABLE = re.compile(
    r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|(?:[A-Za-z]:)?[\\/][\w./\\-]{1,300}|0x[0-9a-fA-F]{1,40}|\d+"
)
"""What differs from report to report: quoted values, paths, addresses and numbers."""

Fingerprint = frozenset[tuple[str, str]]
"""File name and function of each frame, without lines: they move from version to version."""
_LIKE_FROM = 0.5
"""Of the words that one of two issues has: the share that both have, from which it counts that they are alike."""
BIAS = -5.94
"""`python -m bench.duplicates --fit SeaMonkey Storm Hive` made them."""
SURE = 0.9
"""Probability of two signs that the lists of duplicates, which the weights are learned from, do not show well: many
reports that say the same are listed nowhere. By reading, 96 of the 103 pairs that are named in six projects report the
same (docs/memory.md)."""
SAME_TITLES, _CLEAR_LEAD = 0.9, 0.5
_MIN_TITLE_TERMS = 3
_SHARED_TITLE = 0.6
_LIKE_TITLES, _LEAD_WITH_ERROR = 0.6, 0.6
_ABOUT_TITLES, _ABOUT_LEAD = 0.7, 0.4


@dataclass(frozen=True, slots=True)
class Failure:
    messages: list[str]
    fingerprint: Fingerprint
    innermost: Fingerprint = frozenset()
    """The frames where the traces end."""


def read_failure(parsed: ParsedIssue) -> Failure:
    messages = (normalize_error(message.partition("\n")[0]) for message in parsed.error_messages[:_MAX_MESSAGES])
    return Failure(
        messages=[message for message in messages if len(message) >= _MIN_MESSAGE_CHARS],
        fingerprint=_fingerprint(parsed.stack_traces),
        innermost=_find_innermost(parsed.stack_traces),
    )


def normalize_error(text: str) -> str:
    """Return lower case words with one blank between them, without values, paths, addresses and numbers."""
    return re.sub(r"[\W_]+", " ", _VARIABLE.sub(" ", text)).strip().lower()


class SharedFailure(NamedTuple):
    """What of a failure another issue shows too."""

    same_error: bool
    """The error text, also with other values in it."""
    same_trace: bool
    """A trace that ends in the same function and has most frames of this one. The outer ones are a user's program."""
    is_other: bool
    """Both have a stack trace, and they end in different functions."""


def compare_failures(failure: Failure, title: str, body: str) -> SharedFailure:
    """Return whether an issue shows the same error or trace as `failure`, or another one."""
    body = body[:_MAX_CHARS]
    text = f" {normalize_error(title)} {normalize_error(body)} " if failure.messages else ""
    traces = [found.trace for found in find_traces(body)] if failure.innermost else []
    other, ends = _fingerprint(traces), _find_innermost(traces)
    shared, longest = len(failure.fingerprint & other), max(len(failure.fingerprint), len(other))
    has_same_end = bool(failure.innermost & ends)
    return SharedFailure(
        same_error=any(f" {message} " in text for message in failure.messages),
        same_trace=has_same_end and shared >= max(_MIN_FRAMES, _SAME_FRAMES * longest),
        is_other=bool(failure.innermost and ends) and not has_same_end,
    )


def _fingerprint(traces: Sequence[Trace]) -> Fingerprint:
    return frozenset(_describe(frame) for trace in traces if trace.language != "diagnostic" for frame in trace.frames)


def _find_innermost(traces: Sequence[Trace]) -> Fingerprint:
    stacks = [trace.frames for trace in traces if trace.language != "diagnostic" and trace.frames]
    return frozenset(_describe(frames[-1]) for frames in stacks)


def _describe(frame: Frame) -> tuple[str, str]:
    return frame.path.replace("\\", "/").rpartition("/")[2].lower(), frame.name


@dataclass(frozen=True, slots=True)
class Likeness:
    title_in_past: float
    """Share of the title's words that the past issue has, the rare ones counting more; from 0 to 1."""
    past_title_here: float
    """The same for the past issue's title and this issue."""
    days: float
    """Logarithm of the days between both, plus one: duplicates follow the release that broke something."""
    lead: float
    """BM25 score ahead of the best other past issue, as a share of the best; at most 1, negative where another one is
    ahead."""
    alike: float
    """How far the words of both are the same, in the titles and everywhere, above a half; 0 where the titles have
    different numbers. At most 0.5."""

    @property
    def titles(self) -> float:
        """How much of either title the other issue has, at least."""
        return min(self.title_in_past, self.past_title_here)


WEIGHTS = Likeness(title_in_past=2.29, past_title_here=2.19, days=-0.27, lead=1.6, alike=3.84)


def is_surely_same(
    table: IssueTable, new_bag: Bag, past_bag: Bag, likeness: Likeness, *, same_error: bool, same_trace: bool
) -> bool:
    """Return whether the titles are nearly the same, or alike with the same error text, and no other is as near.

    Titles with other numbers, such as versions, are not nearly the same, and short ones say too little.
    """
    if min(len(new_bag.title), len(past_bag.title)) < _MIN_TITLE_TERMS:
        return False
    has_shared_title = _share_both(table, new_bag.title, past_bag.title) >= _SHARED_TITLE
    if has_shared_title and new_bag.numbers == past_bag.numbers and likeness.titles >= SAME_TITLES:
        return likeness.lead >= _CLEAR_LEAD
    is_same_failure = same_error and (same_trace or has_shared_title)
    return is_same_failure and likeness.titles >= _LIKE_TITLES and likeness.lead >= _LEAD_WITH_ERROR


def is_surely_about(likeness: Likeness) -> bool:
    """Return whether a pull request is for the issue: the titles are alike, and no other is as near.

    `python -m bench.pull_requests` counts how often that is right. Its body has a template or nothing, and says little.
    """
    return likeness.titles >= _ABOUT_TITLES and likeness.lead >= _ABOUT_LEAD


def estimate_probability(likeness: Likeness) -> float:
    """Return the probability that both report the same, from 0 to 1."""
    logit = BIAS + sum(weight * value for weight, value in zip(astuple(WEIGHTS), astuple(likeness), strict=True))
    return 1 / (1 + math.exp(-logit))


def compare(table: IssueTable, new_bag: Bag, past_bag: Bag, days: float, lead: float) -> Likeness:
    """Return how alike two issues are that were opened `days` apart; `lead` is by how much this one is ahead."""
    titles = _share_both(table, new_bag.title, past_bag.title)
    everywhere = _share_both(table, new_bag.counts.keys(), past_bag.counts.keys())
    return Likeness(
        title_in_past=_share_found(table, new_bag.title, past_bag.counts.keys()),
        past_title_here=_share_found(table, past_bag.title, new_bag.counts.keys()),
        days=days,
        lead=lead,
        alike=max(0.0, min(titles, everywhere) - _LIKE_FROM) if new_bag.numbers == past_bag.numbers else 0.0,
    )


def count_days(earlier: datetime, later: datetime) -> float:
    """Return the value of `Likeness.days`. Which of both is earlier makes no difference."""
    return math.log1p(abs((later - earlier).total_seconds()) / 86_400)


def _share_found(table: IssueTable, terms: Collection[str], among: Collection[str]) -> float:
    total = sum(map(table.idf, terms))
    return sum(table.idf(term) for term in terms if term in among) / total if total else 0.0


def _share_both(table: IssueTable, one: Collection[str], other: Collection[str]) -> float:
    union = {*one, *other}
    total = sum(map(table.idf, union))
    return sum(table.idf(term) for term in union if term in one and term in other) / total if total else 0.0
