"""Which builds are tried, and what an error counts for that packages of today may have raised."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from testing.each_row import each_row
from tests.reproduce.runs import IN_NUMPY, NOW, failed, passed, selection, target
from triage.reproduce.environments.environment import CannotInstall, Environments
from triage.reproduce.evidence import Execution, Expected, Target
from triage.reproduce.run_example import NEWER, VersionRunner, run_selection

NO_WHEEL, NO_PYTHON = CannotInstall("no wheel"), CannotInstall("no Python", is_lasting=True)


class ScriptedBuilds:
    """Builds, or fails, as it is told for each time that it is asked."""

    is_late = False

    def __init__(self, ends: Sequence[CannotInstall | Execution]) -> None:
        self.ends, self.asked = list(ends), list[Target]()

    def build(self, one: Target, project: object) -> "ScriptedBuilds":
        self.asked.append(one)
        end = self.ends[0] if len(self.ends) == 1 else self.ends.pop(0)
        if isinstance(end, CannotInstall):
            raise end
        return self

    def run(self, *_: object) -> Execution:
        end = self.ends[-1]
        assert isinstance(end, Execution)
        return end


def run(
    *ends: CannotInstall | Execution, expected: Expected | None = None, time: datetime = NOW
) -> tuple[Any, list[tuple[bool, bool]]]:
    """Return what is seen of the version, and of each build whether it had the packages of its date, and sources."""
    builds = ScriptedBuilds(ends)
    runner = VersionRunner(cast("Environments", builds), selection(expected), lambda _: None)
    found = runner.summarize(target("2.4.1").model_copy(update={"time": time}), "error")
    return found, [(one.time - NOW < timedelta(days=1), one.may_build) for one in builds.asked]


@each_row(
    ("ends", "builds", "outcome"),
    [
        ([passed()], 1, "passed"),
        ([NO_WHEEL, passed()], 2, "passed"),
        ([NO_WHEEL, NO_WHEEL, passed()], 3, "passed"),
        ([NO_WHEEL], 3, "could-not-install"),
        ([NO_PYTHON], 1, "could-not-install"),
    ],
)
def test_a_build_that_failed_is_tried_once_more_with_sources_and_then_with_the_packages_of_today(ends, builds, outcome):
    found, tried = run(*ends)
    assert (found.outcome, tried) == (outcome, [(True, False), (True, True), (False, True)][:builds])


def test_before_the_packages_of_today_those_of_the_time_of_the_python_are_tried():
    builds = ScriptedBuilds([NO_WHEEL, NO_WHEEL, passed()])
    one = target("2.4.1").model_copy(update={"time": NOW.replace(year=2014)})
    runner = VersionRunner(cast("Environments", builds), selection(targets=[one]), lambda _: None)
    assert runner.summarize(one, "error").outcome == "passed"
    assert [(asked.time.year, asked.may_build) for asked in builds.asked] == [(2014, False), (2014, True), (2021, True)]


@each_row(
    ("ends", "pythons"),
    [
        ([passed(), NO_WHEEL, NO_WHEEL, passed()], ["3.9", "3.9", "3.9", "3.12"]),
        ([NO_WHEEL, NO_WHEEL, passed(), passed()], ["3.9", "3.9", "3.12", "3.12"]),
    ],
)
def test_a_version_is_built_on_another_python_if_it_must_and_those_after_the_first_on_that_too(ends, pythons):
    builds = ScriptedBuilds(ends)
    chosen = [target(on).model_copy(update={"pythons": ["3.9", "3.12"]}) for on in ("2.4.1", "2.5")]
    runner = VersionRunner(cast("Environments", builds), selection(targets=chosen), lambda _: None)
    found = run_selection(selection(targets=chosen), runner)
    assert [run.outcome for run in found.runs] == ["passed", "passed"]
    assert [one.pythons[0] for one in builds.asked] == pythons


def test_a_bisection_builds_on_the_first_python_alone():
    builds = ScriptedBuilds([NO_WHEEL])
    one = target("2.4.1").model_copy(update={"pythons": ["3.9", "3.12"]})
    VersionRunner(cast("Environments", builds), selection(targets=[one]), lambda _: None).summarize(one, "error")
    assert {one.pythons[0] for one in builds.asked} == {"3.9"}


def test_an_output_with_the_day_of_its_run_does_not_refute_one_of_another_day():
    shown = Expected(shown=[["(2015, 11, 19, 20, 15, 0)"]])
    for printed, verdict in (
        (f"{datetime.now(UTC):(%Y, %-m, %d, 20, 15, 0)}", "nothing-to-compare"),
        ("(2015, 1)", "not-reproduced"),
    ):
        runner = VersionRunner(
            cast("Environments", ScriptedBuilds([passed(printed)])), selection(shown), lambda _: None
        )
        assert run_selection(selection(shown), runner).verdict == verdict


def test_a_commit_of_today_is_judged_with_the_packages_of_its_date():
    assert run(failed("KeyError: 1"), time=datetime.now(UTC))[0].outcome == "failed"


NAMED = Expected(claims="It raises KeyError.")


@each_row(
    ("builds", "ended", "expected", "outcome"),
    [
        (2, failed("error: bad escape", IN_NUMPY), None, "could-not-run"),
        (2, failed("KeyError: 1"), None, "could-not-run"),
        (2, failed("ValueError: no items"), None, "failed"),
        (2, failed("KeyError: 1"), NAMED, "failed"),
        (2, passed("1\n"), None, "passed"),
        (0, failed("KeyError: 1"), None, "failed"),
    ],
)
def test_an_error_beside_packages_of_today_is_none_of_the_project_unless_the_report_shows_it(
    builds, ended, expected, outcome
):
    found, _ = run(*[NO_WHEEL] * builds, ended, expected=expected)
    assert found.outcome == outcome
    assert (found.reason == NEWER) is (outcome == "could-not-run")


def test_two_names_of_one_commit_have_packages_of_one_date():
    builds = ScriptedBuilds([passed()])
    chosen = [target("2.4.1", "3" * 40), target("main", "3" * 40)]
    evidence = run_selection(
        selection(targets=chosen), VersionRunner(cast("Environments", builds), selection(), lambda _: None)
    )
    assert [one.time for one in evidence.runs] == [NOW.date().isoformat()] * 2
    assert len(builds.asked) == 1
