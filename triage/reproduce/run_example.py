"""The second step: builds the versions and runs the example on each. The only step that runs a stranger's code."""

from collections.abc import Callable
from datetime import UTC, datetime

from triage.reproduce.environments.environment import CannotInstall, Environment, Environments
from triage.reproduce.evidence import MAX_TEXT_CHARS, Evidence, Execution, Measure, Selection, Target
from triage.reproduce.verdict import choose_measure, decide_verdict, is_same_result, summarize

REPEATS = 2
MAX_REPEATS = 5
RUN_SECONDS = 120.0

Progress = Callable[[str], None]


class VersionRunner:
    """Builds each version once, however often the example is run on it."""

    def __init__(
        self, environments: Environments, selection: Selection, progress: Progress, seconds: float = RUN_SECONDS
    ) -> None:
        self._environments, self._selection, self._progress, self._seconds = environments, selection, progress, seconds
        self._now = datetime.now(UTC)
        self._built: dict[str, Environment | CannotInstall] = {}
        self.times: dict[str, str] = {}
        """The date of the newest packages on each version."""

    @property
    def builds(self) -> int:
        return len(self._built)

    @property
    def is_late(self) -> bool:
        return self._environments.is_late

    def run(self, target: Target) -> list[Execution]:
        """Run the example twice on a version, and five times if the two differ."""
        if self.is_late:
            return [Execution(outcome="could-not-run", reason="the time of the job was over")]
        environment = self._build(target)
        if isinstance(environment, CannotInstall):
            return [Execution(outcome="could-not-install", reason=str(environment)[:MAX_TEXT_CHARS])]
        selection, runs = self._selection, list[Execution]()
        planned = REPEATS
        while len(runs) < planned:
            self._progress(f"running on {target.on}, {len(runs) + 1} of {planned}")
            runs.append(environment.run(selection.example, selection.project, self._seconds))
            if runs[-1].outcome == "timed-out" or self.is_late:
                break
            if len(runs) == REPEATS and not is_same_result(runs[0], runs[1], selection.expected):
                planned = MAX_REPEATS
        return runs

    def _build(self, target: Target) -> Environment | CannotInstall:
        key = target.version or target.commit
        if key not in self._built:
            self._progress(f"building {target.on}")
            self._built[key] = self._build_with_packages_of(target, target.time)
            is_dated = self._selection.project.recipe is None
            if is_dated and isinstance(self._built[key], CannotInstall):  # some packages of that time have no wheels
                newer = self._build_with_packages_of(target, self._now)
                self._built[key] = newer if not isinstance(newer, CannotInstall) else self._built[key]
        return self._built[key]

    def _build_with_packages_of(self, target: Target, time: datetime) -> Environment | CannotInstall:
        if target.commit and self._selection.needs_setup:
            return CannotInstall("it must be compiled, and no `reproduce: setup:` in .github/triage.yml says how")
        try:
            built = self._environments.build(target.model_copy(update={"time": time}), self._selection.project)
        except CannotInstall as problem:
            return problem
        if not self._selection.project.recipe:
            self.times[target.on] = time.date().isoformat()
        return built

    def shows_failure(self, target: Target, measure: Measure) -> bool | None:
        """Return whether a version has the reported failure; None if that cannot be told."""
        run = summarize(target.on, self.run(target), self._selection.expected, measure)
        is_other = run.outcome == "failed" and not run.same_failure  # such as a function that was not there yet
        return None if run.is_mixed or is_other or run.outcome not in ("passed", "failed") else run.same_failure


def run_selection(selection: Selection, runner: VersionRunner) -> Evidence:
    """Run the example on the selected versions, and return the verdict without a bisection."""
    executions = {target.on: runner.run(target) for target in selection.targets}
    targets = list(selection.targets)
    main = executions[targets[-1].on][0].outcome
    if main in ("could-not-install", "could-not-run") and selection.newest:
        targets.append(selection.newest)
        executions[selection.newest.on] = runner.run(selection.newest)
    expected = selection.expected
    measure = choose_measure([one for runs in executions.values() for one in runs], expected)
    runs = [
        summarize(target.on, executions[target.on], expected, measure).model_copy(
            update={"commit": target.commit, "time": runner.times.get(target.on, "")}
        )
        for target in targets
    ]
    return Evidence(verdict=decide_verdict(selection, runs, measure), measure=measure, runs=runs)
