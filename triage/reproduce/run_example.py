"""The second step: builds the versions and runs the example on each. The only step that runs a stranger's code."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from triage.reproduce.environments.environment import CannotInstall, Environment, Environments
from triage.reproduce.environments.releases import PYTHONS, WHEELS_AFTER
from triage.reproduce.evidence import MAX_TEXT_CHARS, Evidence, Execution, Measure, Run, Selection, Target
from triage.reproduce.expected import is_named_error, shows_day
from triage.reproduce.runner.read_record import GONE, is_gone
from triage.reproduce.verdict import (
    choose_failure,
    choose_measure,
    decide_verdict,
    is_failed_assert,
    is_same_result,
    summarize,
)

REPEATS = 2
MAX_REPEATS = 5
RUN_SECONDS = 120.0

NEWER = "packages of its date could not be installed, and its error may come from newer ones"

Progress = Callable[[str], None]


class VersionRunner:
    """Builds each version once, however often the example is run on it."""

    def __init__(
        self, environments: Environments, selection: Selection, progress: Progress, seconds: float = RUN_SECONDS
    ) -> None:
        self._environments, self._selection, self._progress, self._seconds = environments, selection, progress, seconds
        self._now = datetime.now(UTC)
        self._built: dict[str, Environment | CannotInstall] = {}
        self._times: dict[str, datetime] = {}
        """Until when the packages of each version may be from."""
        self._pythons = list[str]()
        """Those for the other versions too, if the first could not be built on the best of its own."""

    @property
    def builds(self) -> int:
        return len(self._built)

    @property
    def is_late(self) -> bool:
        return self._environments.is_late

    def run(self, target: Target, *, on_any_python: bool = False) -> list[Execution]:
        """Run the example twice on a version, and five times if the two differ.

        With `on_any_python` it need not be the first of the version's, on which its packages may not be had any more.
        """
        if self.is_late:
            return [Execution(outcome="could-not-run", reason="the time of the job was over")]
        target = target.model_copy(update={"pythons": sorted(target.pythons, key=lambda one: one not in self._pythons)})
        environment = self._build(target, target.pythons[1:] if on_any_python else [])
        if isinstance(environment, CannotInstall):
            return [Execution(outcome="could-not-install", reason=str(environment)[:MAX_TEXT_CHARS])]
        selection, runs = self._selection, list[Execution]()
        planned = REPEATS
        while len(runs) < planned:
            self._progress(f"running on {target.on}, {len(runs) + 1} of {planned}")
            runs.append(self._doubt(environment.run(selection.example, selection.project, self._seconds), target))
            if runs[-1].outcome == "timed-out" or self.is_late:
                break
            if len(runs) == REPEATS and not is_same_result(runs[0], runs[1], selection.expected):
                planned = MAX_REPEATS
        return runs

    def _build(self, target: Target, others: Sequence[str]) -> Environment | CannotInstall:
        key = _identify(target)
        if key not in self._built:
            self._progress(f"building {target.on}")
            self._built[key] = self._try_builds(target, others)
        return self._built[key]

    def _try_builds(self, target: Target, others: Sequence[str]) -> Environment | CannotInstall:
        """Return an environment for a version, or why the last attempt failed: each takes packages of another time."""
        is_dated = self._selection.project.recipe is None
        failed = CannotInstall("")
        # A registry may not answer once, or packages of that time have no wheels. Those of the Python's or today may.
        again = [] if self._selection.project.language == "node" else [(target.time, True, target.pythons)]
        again += [(target.time, True, [*others])] if others else []
        wheels = [PYTHONS[one] + WHEELS_AFTER for one in target.pythons[:1]]
        again += [(one, True, target.pythons) for one in [*wheels, self._now] if is_dated and one > target.time]
        for time, may_build, pythons in ((target.time, False, target.pythons), *again):
            one = target.model_copy(update={"time": time, "may_build": may_build, "pythons": pythons})
            try:
                built = self._environments.build(one, self._selection.project)
            except CannotInstall as problem:
                failed = problem
                if problem.is_lasting:
                    break
                continue
            if not self._built and pythons != target.pythons:
                self._pythons = pythons
            if is_dated:
                self._times[_identify(target)] = time
            return built
        return failed

    def find_date(self, target: Target) -> str:
        """Return the date of the newest packages that a version may have; empty if it has none of a date."""
        time = self._times.get(_identify(target))
        return time.date().isoformat() if time else ""

    def _doubt(self, run: Execution, target: Target) -> Execution:
        """Return a run with what its failure may come from instead of the project, unless the report names it."""
        expected, project = self._selection.expected, self._selection.project
        failure = choose_failure(run, expected)
        if failure and is_gone(failure, self._selection.example.code, project.modules):
            return run.model_copy(update={"reason": GONE})
        is_of_date = self._times.get(_identify(target), target.time) == target.time
        if failure is None or is_of_date or is_failed_assert(failure) or is_named_error(failure, expected):
            return run
        return run.model_copy(update={"reason": run.reason or NEWER})

    def summarize(self, target: Target, measure: Measure) -> Run:
        """Run the example on a version, and return what is seen of it."""
        return summarize(target.on, self.run(target), self._selection.expected, measure)


def _identify(target: Target) -> str:
    return target.version or target.commit


def run_selection(selection: Selection, runner: VersionRunner) -> Evidence:
    """Run the example on the selected versions, and return the verdict without a bisection."""
    targets = list(selection.targets)
    executions = {one.on: runner.run(one, on_any_python=True) for one in targets}
    main = executions[targets[-1].on][0].outcome
    if main in ("could-not-install", "could-not-run") and selection.newest:
        targets.append(selection.newest)
        if selection.newest.on not in executions:
            executions[selection.newest.on] = runner.run(selection.newest, on_any_python=True)
    measure = choose_measure([one for runs in executions.values() for one in runs], selection.expected)
    runs, today = list[Run](), datetime.now(UTC).date()
    for target in targets:
        run = summarize(target.on, executions[target.on], selection.expected, measure)
        seen = {"commit": target.commit, "time": runner.find_date(target)}
        runs.append(run.model_copy(update=seen | {"is_random": run.is_random or shows_day(run.output, today)}))
    return Evidence(verdict=decide_verdict(selection, runs, measure), measure=measure, runs=runs)
