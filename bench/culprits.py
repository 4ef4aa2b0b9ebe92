"""Measures where the commit that broke something stands among others, by the words of the report.

The fix of an issue names it: "Regression in 1234abcd". The others are those from the last release before it to the
first one with it; and so many around it, as between two releases of a project that releases often.
"""

import re
from collections import defaultdict

from bench.accuracy import open_git, parse_arguments
from bench.fixed import find_fixes, list_commits, list_releases, open_ranker, run
from triage.base.errors import GitError
from triage.find.leads.regression import MAX_FEW, MIN_NAMED, MIN_TELLING
from triage.git.git import Git
from triage.git.history import GitHistory

NEAR = (20, 40, 100, 200)
"""Commits around it. About half of them change code."""
STEPS = [0.0, MIN_NAMED, 0.3, MIN_TELLING, 0.5]
_BLAMES = re.compile(r"(?i)\b(?:regress\w+|bug|introduced|broken?|caused)\b\D{0,60}?\b([0-9a-f]{8,40})\b")


def main() -> None:
    records, mirror = parse_arguments(__doc__)
    found = defaultdict[str, list[tuple[float, int]]](list)
    for record in records:
        git = open_git(record, mirror)
        for fix in sorted(find_fixes(git, record)):
            culprit = find_culprit(git, fix)
            window = find_window(git, culprit, fix) if culprit else None
            if culprit is None or window is None:
                continue
            rank, history = open_ranker(git, record, window[1]), GitHistory(git, git, window[1], "")
            between = list_commits(git, *window)
            among = {"releases": between}
            if culprit in between:
                # Unevenly: the place in the middle is no sign.
                starts = {count: max(0, between.index(culprit) - count // 3) for count in NEAR}
                among |= {f"{count} around": between[start : start + count] for count, start in starts.items()}
            for name, commits in among.items():
                ranked = rank(commits, (), {})
                if 0 < len(ranked) <= MAX_FEW:
                    ranked = rank(commits, (), history.read_changed_lines([one.change.commit for one in ranked]))
                order = [one.change.commit for one in ranked]
                place = order.index(culprit) if culprit in order else len(order)
                found[name].append((ranked[0].coverage if ranked else 0.0, place))
                print(
                    record["instance_id"],
                    name,
                    f"{place} of {len(order)}, covered {found[name][-1][0]:.2f}",
                    flush=True,
                )
    for name, ranks in found.items():
        for step in STEPS:
            named = [place for coverage, place in ranks if coverage >= step]
            print(f"{name}, best covers {step}: {sum(place < 3 for place in named)} of {len(named)} among three")


def find_culprit(git: Git, fix: str) -> str | None:
    named = _BLAMES.search(run(git, "log", "-1", "--format=%B", fix))
    try:
        return run(git, "rev-parse", "--verify", "--quiet", f"{named[1]}^{{commit}}").strip() if named else None
    except GitError:
        return None


def find_window(git: Git, culprit: str, fix: str) -> tuple[str, str] | None:
    at = int(run(git, "show", "-s", "--format=%ct", culprit))
    having = set(run(git, "for-each-ref", f"--contains={culprit}", "--format=%(refname)", "refs/tags").split())
    fixed = set(run(git, "for-each-ref", f"--contains={fix}", "--format=%(refname)", "refs/tags").split())
    releases = list_releases(git)
    before = [tag for time, tag in releases if time < at]
    return (before[-1], next((tag for _, tag in releases if tag in having - fixed), f"{fix}^")) if before else None


if __name__ == "__main__":
    main()
