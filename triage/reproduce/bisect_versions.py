"""Finds where the outcome changed: over releases, then over the commits of the one step that changed it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from triage.reproduce.environments.releases import Release, list_mainline
from triage.reproduce.environments.source import Source, Versions
from triage.reproduce.evidence import Change, Evidence, Searched, Selection, Target
from triage.reproduce.run_example import VersionRunner

MAX_BUILDS = 12
"""Besides the versions of the verdict: 4,096 versions are twelve steps."""


class Step(NamedTuple):
    """Two neighbours between which the outcome changes."""

    before: int
    after: int


class NotFound(Exception):
    """The search ends without a result."""

    def __init__(self, why: Searched = "") -> None:
        self.why: Searched = why


def find_step(is_after: Callable[[int], bool | None], before: int, after: int) -> Step:
    """Return the neighbours between which the outcome changes, for numbers of versions in their order.

    Args:
        is_after: Whether a version has the later outcome; None if that cannot be said, and then it is skipped.
        before: A version with the earlier outcome.
        after: A later version with the later outcome.

    Returns:
        What is left between the two when only versions are between them that cannot be judged.

    Raises NotFound as `is_after`.
    """
    skipped: set[int] = set()
    while between := [number for number in range(before + 1, after) if number not in skipped]:
        middle = between[len(between) // 2]
        result = is_after(middle)
        if result is None:
            skipped.add(middle)
        elif result:
            after = middle
        else:
            before = middle
    return Step(before, after)


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
        self._named, self._main = selection.targets[0], selection.targets[-1]
        self._evidence, self._runner, self._versions = evidence, runner, versions
        self._fails_later = evidence.verdict in ("still", "newer")
        """Else the first version is searched that does not fail."""
        self._limit = runner.builds + MAX_BUILDS
        self._obstacles: dict[str, tuple[str, str]] = {}
        """Of the versions that cannot be judged: what was not possible, and why."""

    def search(self, source: Source) -> Evidence:
        """Return the evidence with the first release and commit of the change, or with why there are none."""
        if (
            self._evidence.verdict not in ("still", "fixed", "changed", "newer")
            or self._evidence.measure == "difference"
        ):
            return self._evidence
        self._versions.find_release(self._named.on)  # one without a tag is a release from here on
        releases = list_mainline(self._versions.releases, self._named.on)

        @cache
        def make(number: int) -> Target:
            is_main = number == len(releases)
            return self._main if is_main else self._versions.make_release_target(releases[number], self._named)

        try:
            step = self._search_releases(releases, make)
        except NotFound as end:
            return self._evidence.model_copy(update={"searched": end.why})
        before, after = map(make, step)
        gap = [release.version for release in releases[step.before + 1 : step.after]]
        reason = self._explain(gap)
        change = Change(release="" if after == self._main else after.on, before=before.on, gap=gap, gap_reason=reason)
        with suppress(NotFound):
            commit = self._search_commits(source, before, after)
            change = change.model_copy(update={"commit": commit, "subject": source.read_subject(commit)[:200]})
        return self._evidence.model_copy(update={"first_bad" if self._fails_later else "first_good": change})

    def _explain(self, gap: Sequence[str]) -> str:
        obstacles = [self._obstacles[on] for on in gap]
        kinds = {kind for kind, _ in obstacles}
        return f"{kinds.pop() if len(kinds) == 1 else 'could not be judged'}: {obstacles[0][1]}" if obstacles else ""

    def _judge(self, target: Target, *, is_again: bool = False) -> bool | None:
        """Return whether a version has the later outcome; None if that cannot be told.

        Raises NotFound if no more versions may be built.
        """
        if self._runner.is_late:
            raise NotFound("No first version was found within the time of the job.")
        if self._runner.builds >= self._limit and not is_again:
            raise NotFound("No first version was found within twelve builds.")
        run = self._runner.summarize(target, self._evidence.measure)
        is_other = run.outcome == "failed" and not run.same_failure  # such as a function that was not there yet
        if run.is_mixed or is_other or run.outcome not in ("passed", "failed"):
            kind = "could not be installed" if run.outcome == "could-not-install" else "could not be judged"
            self._obstacles[target.on] = (kind, run.reason or run.error or "the outcome is not the same each time")
            return None
        return run.same_failure == self._fails_later

    def _find_pair(self, make: Callable[[int], Target], before: int, after: int) -> Step:
        """Return the neighbours between which the outcome changes, after both were run again. Raises NotFound."""
        step = find_step(lambda number: self._judge(make(number)), before, after)
        # Half of the wrong bisections of others came from failures that are not always there.
        if [self._judge(make(number), is_again=True) for number in step] != [False, True]:
            raise NotFound("No first version was found: the outcome is not the same each time.")
        return step

    def _search_releases(self, releases: Sequence[Release], make: Callable[[int], Target]) -> Step:
        """Return the step between two releases at which the outcome changes. Raises NotFound."""
        named = next((number for number, one in enumerate(releases) if one.version == self._named.on), None)
        if named is None or (self._evidence.verdict == "still" and not self._evidence.runs[0].same_failure):
            raise NotFound("No first version was searched for: the named version is no release, or does not show it.")
        if self._evidence.verdict != "still":
            last = self._evidence.runs[-1].on  # of a current commit that cannot be installed the newest release
            end = next((number for number, one in enumerate(releases) if one.version == last), len(releases))
            return self._find_pair(make, named, end)
        answers: dict[int, bool | None] = {}

        def is_before(number: int) -> bool:
            answers[number] = self._judge(make(number))
            return answers[number] is False

        before = find_earlier(named, is_before)
        if before is None and any(answers.values()):
            raise NotFound("It fails in every earlier release that could be run.")
        if before is None:
            raise NotFound("No earlier release could be run.")
        return self._find_pair(make, before, named)

    def _search_commits(self, source: Source, before: Target, after: Target) -> str:
        """Return the commit that changed the outcome. Raises NotFound if commits cannot be built or do not show it."""
        tags = self._versions.tags
        start, end = (one.commit or (tags[one.on].commit if one.on in tags else "") for one in (before, after))
        fork = source.find_fork(start, end) if start and end else None
        commits = [fork, *source.list_steps(fork, end)] if fork else []

        @cache
        def make(number: int) -> Target:
            return self._versions.make_commit_target(commits[number], commits[number][:7], self._named)

        if len(commits) < 2 or self._judge(make(0)) is not False or not self._judge(make(len(commits) - 1)):
            raise NotFound
        step = self._find_pair(make, 0, len(commits) - 1)
        if step.after - step.before > 1:
            raise NotFound
        return commits[step.after]
