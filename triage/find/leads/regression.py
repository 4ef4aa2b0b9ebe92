"""Commits after a version: ranked by the report's words first, and by the files of its facts second."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from triage.domain.code import MAX_NARROW
from triage.find.files.file_roles import classify_file
from triage.find.files.project_files import is_manifest
from triage.find.past_changes import Change, ChangeTable, PastChanges, is_about_work, is_mainly_fix
from triage.find.rank.query import Query
from triage.find.words.tokens import find_terms
from triage.git.commit_log import LoggedCommit

MAX_ALL = 5
"""So few commits are all named."""
MAX_NAMED = 3
"""Of more commits."""
MAX_FEW = 10
"""Commits that are worth a comment whatever fits: of 43 windows of about 20, in 36 one of the three was right."""
MIN_SURE = 1.5
"""See `rate_fix`."""
MIN_NAMED, MIN_TELLING = 0.2, 0.4
"""`RankedCommit.coverage` of the best commit, below which none of many is named, and none is worth a comment. From the
second on, one of three named was right in 24 of 25 windows of 200 commits, and in 21 of 33 windows of up to 2,659;
between both, in 6 of 11 of 200. See `bench.culprits`."""
_MAX_COMPARED = 20
"""Best commits by BM25, of which the subjects are read."""
_OF_FACT = 0.3
"""What a commit gains that changed a file of a fact."""
_LINE_WEIGHT = 2.0
"""Of what a commit's changed lines share with the report, beside its message."""
_LEAD_WEIGHT, _MAX_LEAD = 0.375, 1.5
"""Of the logarithm of how much better the best commit is than the second."""


@dataclass(frozen=True)
class RankedCommit:
    change: Change
    score: float
    coverage: float
    """How well words fit: share of the title's words that the commit has, half as much if in its lines alone, and half
    the share of its own subject's words that the report has, each by rarity; 0 to 1.5."""


RankCommits = Callable[[Collection[str], Sequence[LoggedCommit], Mapping[str, str]], list[RankedCommit]]
"""Rank those of the commits, by full ids, that the index knows, or that are logged: older, or of another branch. The
last argument has the changed lines of each commit, or nothing."""


def make_ranker(past: PastChanges, query: Query, fact_paths: Collection[str]) -> RankCommits:
    """Return a function that ranks commits, best first: those that change code or dependencies."""
    files = frozenset(fact_paths)
    title = query.part_weights.get("title", {})

    def rank(ids: Collection[str], others: Sequence[LoggedCommit], lines: Mapping[str, str]) -> list[RankedCommit]:
        """Rank the commits with these ids; `others` are such of them as the index may not know."""
        wanted, indexed = frozenset(ids), {one.commit for one in past.table.changes}
        unknown = [one for one in others if one.commit not in indexed]
        known = past.add_commits(unknown) if unknown else past
        changes = known.table.changes
        chosen = [number for number, one in enumerate(changes) if one.commit in wanted and list_effective(one.paths)]
        scores = known.score_words(query.term_weights)
        texts = [Change(lines.get(changes[number].commit, ""), (), 0) for number in chosen]
        of_lines = PastChanges(past.corpus, ChangeTable().add(texts)).score_words(query.term_weights)
        scores[chosen] += _LINE_WEIGHT * of_lines

        def rate(number: int, coverage: float) -> float:
            is_of_fact = not files.isdisjoint(changes[number].paths)
            return float(scores[number]) * (1 + coverage) * (1 + _OF_FACT * is_of_fact)

        def compare(number: int) -> RankedCommit:
            said, own = find_terms(changes[number].text), find_terms(changes[number].subject)
            shared = said | find_terms(lines.get(changes[number].commit, ""))
            halves = ((title, said), (title, shared), (own, query.term_weights))
            coverage = sum(_share_of(known, *half) for half in halves) / 2
            return RankedCommit(changes[number], rate(number, coverage), coverage)

        # Sorting is stable: of equal commits the newest is first.
        order = sorted(chosen, key=lambda number: -rate(number, 0.0))
        best = sorted(map(compare, order[:_MAX_COMPARED]), key=lambda one: -one.score)
        return best + [RankedCommit(changes[number], rate(number, 0.0), 0.0) for number in order[_MAX_COMPARED:]]

    return rank


def list_effective(paths: Sequence[str]) -> list[str]:
    """Return the paths of what changes a program: its code, and what it depends on."""
    return [path for path in paths if classify_file(path).is_product_code or is_manifest(path)]


def _share_of(past: PastChanges, terms: Collection[str], known: Collection[str]) -> float:
    """Return the share of the terms, by rarity, that are known."""
    rarity: Mapping[str, float] = {term: past.find_idf(term) for term in terms}
    return sum(one for term, one in rarity.items() if term in known) / max(sum(rarity.values()), 1e-9)


def find_sure_fix(ranked: Sequence[RankedCommit]) -> Change | None:
    """Return the best commit if it is a fix that fits the report beyond doubt; `bench.fixed` has the figures."""
    return ranked[0].change if rate_fix(ranked) >= MIN_SURE else None


def rate_fix(ranked: Sequence[RankedCommit]) -> float:
    """Return how well the best commit fits and how far it leads, from 0 to 2.1; 0 if it is no fix of a bug."""
    best, second = ranked[0] if ranked else None, ranked[1].score if len(ranked) > 1 else 0.0
    if best is None or not best.score or not is_mainly_fix(best.change.text) or is_about_work(best.change.text):
        return 0.0
    lead = min(math.log(best.score / second), _MAX_LEAD) if second else _MAX_LEAD
    return best.coverage + _LEAD_WEIGHT * lead


def is_sure(ranked: Sequence[RankedCommit]) -> bool:
    """Return whether the named commits of a window are worth a comment: of a few, or one fits among not too many."""
    if not choose_commits(ranked):
        return False
    return len(ranked) <= MAX_FEW or (len(ranked) <= MAX_NARROW and ranked[0].coverage >= MIN_TELLING)


def choose_commits(ranked: Sequence[RankedCommit]) -> list[RankedCommit]:
    """Return the commits to name: all of a few, else the best if they fit."""
    if len(ranked) <= MAX_ALL:
        return list(ranked)
    least = ranked[0].score / 20  # a word that most patches have is no fit
    return [one for one in ranked[:MAX_NAMED] if one.score > least] if ranked[0].coverage >= MIN_NAMED else []
