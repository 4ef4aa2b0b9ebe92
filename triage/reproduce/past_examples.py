"""The examples of fixed issues for the backtest, which may not import this feature."""

from functools import cached_property
from typing import Literal

from triage.app.app import App
from triage.base.errors import BadInput, GitError, SetupError, TriageError
from triage.domain.issue import Issue
from triage.reproduce.evidence import Evidence
from triage.reproduce.project_checkout import NothingToRun, ProjectCheckout
from triage.reproduce.reproduce_command import open_environments
from triage.reproduce.run_example import VersionRunner, run_selection

PastResult = Literal["not run", "no failure", "fails after the fix", "fixed"]


class PastExamples:
    """The examples of the project's issues, for a backtest. The project is what it is today."""

    def __init__(self, app: App) -> None:
        self._app = app

    @cached_property
    def _checkout(self) -> ProjectCheckout | None:
        """None if this is no package of Python or Node."""
        try:
            return ProjectCheckout(self._app.root, self._app.config.reproduce)
        except BadInput:
            return None

    def has_example(self, issue: Issue) -> bool:
        try:
            return self._checkout is not None and bool(self._checkout.read(issue))
        except NothingToRun:
            return False

    def check_can_run(self, *, in_container: bool) -> None:
        """Raise SetupError without Docker, and BadInput if this is no package of Python or Node."""
        if self._checkout is None:
            raise BadInput("--reproduce: this is no package of Python or Node.")
        with open_environments(self._app, no_container=not in_container):
            pass

    def run(self, issue: Issue, base: str, fix: str, *, in_container: bool) -> PastResult:
        """Run the example of an issue on the commit before its fix and on the fix. Raises SetupError."""
        assert self._checkout
        try:
            with open_environments(self._app, no_container=not in_container) as environments:
                found = self._checkout.select(issue, [base, fix])
                selection = found.model_copy(update={"targets": found.targets[:2], "newest": None})
                evidence = run_selection(selection, VersionRunner(environments, selection, self._app.progress.info))
        except SetupError:
            raise
        except (GitError, TriageError) as problem:
            self._app.progress.info(f"The example of issue {issue.number} was not run to its end: {problem}")
            return "not run"
        result = judge(evidence)
        if result == "not run":
            reason = next(run.reason for run in evidence.runs if run.outcome not in ("passed", "failed"))
            self._app.progress.info(f"The example of issue {issue.number} could not be run: {reason}")
        return result


def judge(evidence: Evidence) -> PastResult:
    before, after = evidence.runs
    if not {before.outcome, after.outcome} <= {"passed", "failed"}:
        return "not run"
    if not before.same_failure:
        return "no failure"
    return "fixed" if evidence.verdict in ("fixed", "changed") else "fails after the fix"
