"""Finds where the outcome changed: over releases, then over the commits of the one step that changed it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from triage.code.files.file_roles import classify_file
from triage.reproduce.environments.releases import Release
from triage.reproduce.environments.source import Source
from triage.reproduce.results import Change, Evidence, Measure, Selection, Target
from triage.reproduce.run_example import VersionRunner
from triage.reproduce.select_example import Versions

MAX_BUILDS = 12
"""Besides the versions of the verdict: 4,096 versions are twelve steps."""
MAX_STEPS_BACK = 64
_SAFE_RESULTS = ("error", "assert", "output")


class Step(NamedTuple):
    """Two neighbours between which the outcome changes."""

    before: int
    after: int


class OutOfBuilds(Exception):
    """No further version may be built."""


def find_step(count: int, is_after: Callable[[int], bool | None], before: int, after: int) -> Step | None:
    """Return the neighbours between which the outcome changes, for numbers of versions in their order.

    Args:
        count: Of all versions.
        is_after: Whether a version has the later outcome; None if that cannot be said, and then it is skipped.
        before: A version with the earlier outcome.
        after: A later version with the later outcome.

    Returns:
        What is left between the two when only versions are between them that cannot be judged; None for nothing.

    Raises:
        OutOfBuilds: As `is_after`.
    """
    skipped: set[int] = set()
    while True:
        between = [number for number in range(before + 1, after) if number not in skipped]
        if not between or not 0 <= before < after < count:
            return Step(before, after) if before < after else None
        middle = between[len(between) // 2]
        result = is_after(middle)
        if result is None:
            skipped.add(middle)
        elif result:
            after = middle
        else:
            before = middle


def find_earlier(known: int, is_other: Callable[[int], bool | None]) -> int | None:
    """Return an earlier version with the other outcome: one step back, then two, then four; None if none has it."""
    distance, tried = 1, known
    while tried > 0:
        tried = max(0, known - distance)
        if is_other(tried):
            return tried
        distance *= 2
    return None


class Bisection:
    """Searches with the runner that has made the verdict, so that no version is built twice."""

    def __init__(self, selection: Selection, evidence: Evidence, runner: VersionRunner, versions: Versions) -> None:
        self._selection, self._evidence, self._runner, self._versions = selection, evidence, runner, versions
        self._limit = runner.builds + MAX_BUILDS

    def search(self, source: Source) -> Evidence:
        """Return the evidence with the first release and commit of the change, or with why there are none."""
        verdict, measure = self._evidence.verdict, self._evidence.measure
        if verdict not in ("still", "fixed", "newer") or measure not in _SAFE_RESULTS:
            return self._evidence
        try:
            found = self._search_releases(fails_later=verdict != "fixed", measure=measure)
            if isinstance(found, str):
                return self._evidence.model_copy(update={"searched": found})
            before, after = found
            change = Change(release=after.on if not self._is_main(after) else "", before=before.on)
            commit = self._search_commits(source, before, after, measure, fails_later=verdict != "fixed")
        except OutOfBuilds:
            return self._evidence.model_copy(update={"searched": f"it was not found within {MAX_BUILDS} builds"})
        if commit:
            paths = source.list_changed(commit)
            is_shipped = any(classify_file(path).is_product_code for path in paths)
            more = {"commit": commit, "subject": source.read_subject(commit)[:200], "only_tests": not is_shipped}
            change = change.model_copy(update=more)
        change = change.model_copy(update={"builds": self._runner.builds})
        return self._evidence.model_copy(update={"first_good" if verdict == "fixed" else "first_bad": change})

    def _is_main(self, target: Target) -> bool:
        return target.commit == self._selection.targets[-1].commit and bool(target.commit)

    def _judge(self, target: Target, measure: Measure, *, fails_later: bool) -> bool | None:
        """Return whether a version has the later outcome. Raises OutOfBuilds."""
        if self._runner.builds >= self._limit:
            raise OutOfBuilds
        fails = self._runner.shows_failure(target, measure)
        return None if fails is None else fails == fails_later

    def _search_releases(self, *, fails_later: bool, measure: Measure) -> tuple[Target, Target] | str:
        releases: Sequence[Release] = self._versions.releases
        main = self._selection.targets[-1]
        targets = [self._versions.make_release_target(release) for release in releases]
        named = self._find_named(targets)
        if named is None:
            return "the named version is no release"

        judged: list[int] = []

        def is_after(number: int) -> bool | None:
            result = self._judge(targets[number], measure, fails_later=fails_later)
            judged.extend([] if result is None else [number])
            return result

        if self._evidence.verdict == "still":
            before = find_earlier(named, lambda number: is_after(number) is False)
            if before is None:
                return (
                    f"{'it fails in every' if judged else 'no'} earlier release {'that ' if judged else ''}could be run"
                )
            step = find_step(len(targets), is_after, before, named)
        else:
            targets.append(main)
            step = find_step(len(targets), is_after, named, len(targets) - 1)
        if step is None:
            return "the named version is not older than main"
        found = targets[step.before], targets[step.after]
        return found if self._is_confirmed(*found, measure, fails_later=fails_later) else "it is not the same each time"

    def _find_named(self, targets: Sequence[Target]) -> int | None:
        named = self._selection.targets[0]
        return next((number for number, one in enumerate(targets) if one.on == named.on), None)

    def _is_confirmed(self, before: Target, after: Target, measure: Measure, *, fails_later: bool) -> bool:
        """Run both sides again: half of the wrong bisections of others came from a failure that is not always there."""
        return (
            self._runner.shows_failure(before, measure) is (not fails_later)
            and self._runner.shows_failure(after, measure) is fails_later
        )

    def _search_commits(
        self, source: Source, before: Target, after: Target, measure: Measure, *, fails_later: bool
    ) -> str:
        """Return the commit that changed the outcome; empty if commits cannot be built or do not show it."""
        tags = self._versions.tags
        start, end = (one.commit or source.resolve(tags.get(one.version, "")) for one in (before, after))
        pure = {release.version for release in self._versions.releases if release.is_pure}
        can_build = before.on in pure and after.on in {*pure, self._selection.targets[-1].on}
        fork = source.find_fork(start, end) if start and end and can_build else None
        if not fork or not end:
            return ""
        commits = [fork, *source.list_steps(fork, end)]
        targets = [self._versions.make_commit_target(commit, commit[:7]) for commit in commits]

        def is_after(number: int) -> bool | None:
            return self._judge(targets[number], measure, fails_later=fails_later)

        if len(commits) < 2 or is_after(0) is not False or is_after(len(targets) - 1) is not True:
            return ""
        step = find_step(len(targets), is_after, 0, len(targets) - 1)
        if step is None or step.after - step.before > 1:
            return ""
        sides = targets[step.before], targets[step.after]
        return commits[step.after] if self._is_confirmed(*sides, measure, fails_later=fails_later) else ""
