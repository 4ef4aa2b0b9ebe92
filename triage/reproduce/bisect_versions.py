"""Finds where the outcome changed: over releases, then over the commits of the one step that changed it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from triage.code.files.file_roles import classify_file
from triage.reproduce.environments.releases import list_mainline
from triage.reproduce.environments.source import Source
from triage.reproduce.evidence import Change, Evidence, Searched, Selection, Target
from triage.reproduce.run_example import VersionRunner
from triage.reproduce.select_example import Versions

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
        NotFound: As `is_after`.
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
        self._named, self._main = selection.targets[0], selection.targets[-1]
        self._evidence, self._runner, self._versions = evidence, runner, versions
        self._fails_later = evidence.verdict != "fixed"
        self._limit = runner.builds + MAX_BUILDS

    def search(self, source: Source) -> Evidence:
        """Return the evidence with the first release and commit of the change, or with why there are none."""
        if self._evidence.verdict not in ("still", "fixed", "newer") or self._evidence.measure == "difference":
            return self._evidence
        try:
            before, after = self._search_releases()
        except NotFound as end:
            return self._evidence.model_copy(update={"searched": end.why})
        change = Change(release="" if after == self._main else after.on, before=before.on)
        with suppress(NotFound):
            commit = self._search_commits(source, before, after)
            is_shipped = any(classify_file(path).is_product_code for path in source.list_changed(commit))
            more = {"commit": commit, "subject": source.read_subject(commit)[:200], "only_tests": not is_shipped}
            change = change.model_copy(update=more)
        return self._evidence.model_copy(update={"first_bad" if self._fails_later else "first_good": change})

    def _judge(self, target: Target, *, is_again: bool = False) -> bool | None:
        """Return whether a version has the later outcome. Raises NotFound when no more versions may be built."""
        if self._runner.is_late:
            raise NotFound("No first version was found within the time of the job.")
        if self._runner.builds >= self._limit and not is_again:
            raise NotFound("No first version was found within twelve builds.")
        fails = self._runner.shows_failure(target, self._evidence.measure)
        return None if fails is None else fails == self._fails_later

    def _find_pair(self, targets: Sequence[Target], before: int, after: int) -> tuple[Target, Target]:
        """Return the neighbours between which the outcome changes, after both were run again. Raises NotFound."""
        step = find_step(len(targets), lambda number: self._judge(targets[number]), before, after)
        if step is None:
            raise NotFound("The named version is not older than the current commit.")
        pair = targets[step.before], targets[step.after]
        # Half of the wrong bisections of others came from failures that are not always there.
        if [self._judge(one, is_again=True) is True for one in pair] != [False, True]:
            raise NotFound("No first version was found: the outcome is not the same each time.")
        return pair

    def _search_releases(self) -> tuple[Target, Target]:
        releases = list_mainline(self._versions.releases, self._named.on)
        targets = [self._versions.make_release_target(release) for release in releases]
        named = next((number for number, one in enumerate(targets) if one.on == self._named.on), None)
        if named is None:
            raise NotFound("No first version was searched for: the named version is no release.")
        if self._evidence.verdict != "still":
            return self._find_pair([*targets, self._main], named, len(targets))
        answers: dict[int, bool | None] = {}

        def is_before(number: int) -> bool:
            answers[number] = self._judge(targets[number])
            return answers[number] is False

        before = find_earlier(named, is_before)
        if before is None and any(answers.values()):
            raise NotFound("It fails in every earlier release that could be run.")
        if before is None:
            raise NotFound("No earlier release could be run.")
        return self._find_pair(targets, before, named)

    def _search_commits(self, source: Source, before: Target, after: Target) -> str:
        """Return the commit that changed the outcome. Raises NotFound if commits cannot be built or do not show it."""
        tags, pure = self._versions.tags, {release.version for release in self._versions.releases if release.is_pure}
        start, end = (one.commit or source.resolve(tags.get(one.version, "")) for one in (before, after))
        fork = source.find_fork(start, end) if start and end else None
        if not fork or not end or not {before.on, after.on} <= {*pure, self._main.on}:
            raise NotFound
        commits = [fork, *source.list_steps(fork, end)]
        targets = [self._versions.make_commit_target(commit, commit[:7]) for commit in commits]
        if len(commits) < 2 or self._judge(targets[0]) is not False or not self._judge(targets[-1]):
            raise NotFound
        last, first = self._find_pair(targets, 0, len(targets) - 1)
        if commits.index(first.commit) - commits.index(last.commit) > 1:
            raise NotFound
        return first.commit
