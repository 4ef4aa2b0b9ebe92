"""The search for a change, over numbers and over a real repository with versions that only seem to be built."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.checkouts.git_repositories import commit, git
from testing.each_row import each_row
from tests.reproduce.runs import failed, passed, selection
from triage.reproduce.bisect_versions import MAX_BUILDS, Bisection, Step, find_earlier, find_step
from triage.reproduce.environments.environment import CannotInstall, Environments
from triage.reproduce.environments.source import Source, Versions
from triage.reproduce.evidence import Execution, Target
from triage.reproduce.example.example import Example, Project
from triage.reproduce.run_example import VersionRunner, run_selection

SHOP = Project(language="python", package="shop", modules=["shop"])
LIMIT = "requires-python = '<3.11'"


@given(st.integers(2, 200).flatmap(lambda count: st.tuples(st.just(count), st.integers(1, count - 1))))
def test_the_step_is_found_in_few_questions(case):
    count, first = case
    asked = []

    def is_after(number):
        asked.append(number)
        return number >= first

    assert find_step(is_after, 0, count - 1) == Step(first - 1, first)
    assert len(asked) <= (count - 1).bit_length()


@given(
    st.integers(3, 60).flatmap(
        lambda count: st.tuples(st.just(count), st.integers(1, count - 1), st.sets(st.integers(1, count - 2)))
    )
)
def test_versions_that_cannot_be_judged_are_stepped_over(case):
    count, first, unknown = case
    step = find_step(lambda number: None if number in unknown else number >= first, 0, count - 1)
    assert step.before < first <= step.after
    assert all(number in unknown for number in range(step.before + 1, step.after))


@each_row(("known", "good", "found"), [(10, 9, 9), (10, 8, 8), (10, 5, 2), (10, 0, 0), (10, -1, None), (0, 0, None)])
def test_an_earlier_version_is_looked_for_in_growing_steps(known, good, found):
    assert find_earlier(known, lambda number: number <= good) == found


class SeemingVersions:
    """Versions whose example fails as their number, or the file `state` of their commit, says."""

    def __init__(
        self, root: Path, bad: Callable[[str], Any], missing: Sequence[str] = (), *, is_compiled: bool = False
    ) -> None:
        self.root, self.bad, self.missing, self.built = root, bad, missing, list[str]()
        self.pythons, self.is_compiled, self.max_builds = set[str](), is_compiled, 100

    @property
    def is_late(self) -> bool:
        return len(self.built) >= self.max_builds

    def build(self, target: Target, project: Project) -> "SeemingVersion":
        if self.is_compiled and target.commit:
            raise CannotInstall("it must be compiled", is_lasting=True)
        self.built.append(target.on)
        self.pythons.add(target.pythons[0])
        if target.on in self.missing:
            raise CannotInstall("no wheel")
        state = git(self.root, "show", f"{target.commit}:state") if target.commit else target.version
        return SeemingVersion(self.bad(state))


class SeemingVersion:
    def __init__(self, fails: Any) -> None:
        self.fails = fails

    def run(self, example: Example, project: Project, seconds: float) -> Execution:
        return failed() if (self.fails() if callable(self.fails) else self.fails) else passed()


@pytest.fixture(scope="module")
def repo(tmp_path_factory):
    """Releases 1.0 to 1.9, three commits before each: 1.0, 1.0+1, 1.0+2, 1.1, …"""
    root = tmp_path_factory.mktemp("repo")
    for minor in range(10):
        for more in ("", "+1", "+2"):
            file = "tests/test_x.py" if minor == 6 else "shop/cart.py"
            commit(
                root,
                {
                    "state": f"1.{minor}{more}",
                    file: f"{minor}{more}",
                    "pyproject.toml": f"[project]\nname='shop'\n{LIMIT if minor == 5 else ''}\n",
                    "shop/__init__.py": "",
                },
            )
            if not more:
                git(root, "tag", f"v1.{minor}")
    return root


def search(
    repo: Path,
    bad: Callable[[str], Any],
    named: str = "1.5",
    missing: Sequence[str] = (),
    *,
    is_compiled: bool = False,
    max_builds: int = 100,
) -> Any:
    source = Source(repo)
    versions = Versions(source, SHOP, source.resolve("HEAD") or "", from_registry=is_compiled)
    first = versions.find(named)
    head = versions.make_commit_target("HEAD", "main", first)
    newest = versions.make_release_target(versions.releases[-1], first)
    chosen = selection(targets=[first, head], newest=newest)
    environments = SeemingVersions(repo, bad, missing, is_compiled=is_compiled)
    environments.max_builds = max_builds
    runner = VersionRunner(cast("Environments", environments), chosen, lambda _: None)
    evidence = run_selection(chosen, runner)
    again = Versions(
        source, SHOP, source.resolve("HEAD") or "", from_registry=is_compiled
    )  # the job `run` makes them anew
    found = Bisection(chosen, evidence, runner, again).search(source)
    assert named != "1.5" or is_compiled or environments.pythons <= {"3.10"}, "that of the named version for all"
    return found, environments.built


def number(state: str) -> float:
    match = re.fullmatch(r"1\.(\d+)(?:\+(\d))?", state)
    assert match
    return int(match[1]) + int(match[2] or 0) / 10


def test_the_release_and_the_commit_that_broke_it(repo):
    evidence, built = search(repo, lambda state: number(state) >= 2.1)
    change = evidence.first_bad
    assert (evidence.verdict, change.before, change.release) == ("still", "1.2", "1.3")
    assert git(repo, "show", f"{change.commit}:state") == "1.2+1"
    assert len(built) <= MAX_BUILDS + 2
    assert len(built) == len(set(built))


def test_the_release_and_the_commit_that_fixed_it(repo):
    evidence, _ = search(repo, lambda state: number(state) < 7.2)
    change = evidence.first_good
    assert (evidence.verdict, change.before, change.release) == ("fixed", "1.7", "1.8")
    assert git(repo, "show", f"{change.commit}:state") == "1.7+2"


def test_a_change_that_is_not_released(repo):
    evidence, _ = search(repo, lambda state: number(state) < 9.1)
    assert (evidence.first_good.before, evidence.first_good.release) == ("1.9", "")
    assert git(repo, "show", f"{evidence.first_good.commit}:state") == "1.9+1"


@pytest.mark.parametrize(
    ("bad", "named", "missing", "ends", "gap"),
    [
        (lambda state: number(state) >= 2.1, "1.5", ("1.3", "1.1"), ("1.2", "1.4"), ["1.3"]),
        (lambda state: number(state) < 7.2, "1.5", ("1.8", "1.9"), ("1.7", ""), ["1.8", "1.9"]),
    ],
)
def test_releases_that_cannot_be_installed_are_a_gap_that_is_told(repo, bad, named, missing, ends, gap):
    evidence, built = search(repo, bad, named, missing=missing)
    change = evidence.first_bad or evidence.first_good
    assert (change.before, change.release, change.gap) == (*ends, gap)
    assert change.gap_reason == "could not be installed: no wheel"
    assert built.count(gap[0]) == 3, "of its date twice, then with the packages of today"


def test_a_project_that_must_be_compiled_is_searched_by_releases_alone(repo):
    evidence, built = search(repo, lambda state: number(state) >= 2.1, is_compiled=True)
    assert (evidence.first_bad.release, evidence.first_bad.commit) == ("1.3", "")
    assert not [on for on in built if not on.startswith("1.")]
    assert [(run.on, run.outcome) for run in evidence.runs] == [
        ("1.5", "failed"),
        ("main", "could-not-install"),
        ("1.9", "failed"),
    ]


@each_row(
    ("bad", "missing", "why"),
    [
        (lambda state: True, (), "It fails in every earlier release that could be run."),
        (lambda state: True, tuple(f"1.{minor}" for minor in range(5)), "No earlier release could be run."),
    ],
)
def test_it_says_why_nothing_was_found(repo, bad, missing, why):
    assert search(repo, bad, missing=missing)[0].searched == why


def test_no_first_version_is_searched_for_from_one_that_could_not_be_run(repo):
    evidence, built = search(repo, lambda state: True, "1.6", missing=("1.6",))
    assert (evidence.verdict, {*built}) == ("still", {"1.6", "main"})
    assert evidence.searched.endswith("the named version is no release, or does not show it.")


@pytest.mark.parametrize("max_builds", [3, 4])
def test_a_search_whose_time_is_up_says_so_and_the_verdict_stays(repo, max_builds):
    evidence, built = search(repo, lambda state: number(state) >= 2.1, max_builds=max_builds)
    assert (evidence.verdict, evidence.searched) == ("still", "No first version was found within the time of the job.")
    assert len(built) == max_builds


def test_nothing_is_built_when_time_is_up(repo):
    evidence, built = search(repo, lambda state: True, max_builds=0)
    assert (evidence.verdict, built) == ("could-not-run", [])
    assert evidence.runs[-1].reason == "the time of the job was over"


def test_a_failure_that_comes_and_goes_is_not_searched(repo):
    turns = iter(range(1000))
    evidence, built = search(repo, lambda state: lambda: next(turns) % 3 == 0)
    assert (evidence.verdict, evidence.first_bad) == ("mixed", None)
    assert len(built) == 2


def test_an_end_that_is_not_the_same_again_is_not_told(repo):
    runs: dict[str, int] = {}

    def bad(state):
        def fails():
            runs[state] = runs.get(state, 0) + 1
            return number(state) >= 3 or (state == "1.2" and runs[state] > 2)

        return fails

    evidence, _ = search(repo, bad)
    assert (evidence.first_bad, evidence.searched) == (
        None,
        "No first version was found: the outcome is not the same each time.",
    )
