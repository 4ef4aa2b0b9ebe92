"""The examples of fixed issues for the backtest, which may not import this feature."""

from functools import cached_property
from typing import Literal

from triage.app.app import App
from triage.base.errors import BadInput, GitError, SetupError, TriageError
from triage.domain.issue import Issue
from triage.read.read_issue import read_issue
from triage.reproduce.environments.source import Source
from triage.reproduce.evidence import Evidence
from triage.reproduce.example.example import NoExample, Project
from triage.reproduce.example.read_example import read_example, restore_blanks
from triage.reproduce.project_checkout import ProjectCheckout
from triage.reproduce.reproduce_command import open_environments
from triage.reproduce.run_example import VersionRunner, run_selection
from triage.reproduce.select_example import select_example


class PastExamples:
    """The examples of the project's issues, for a backtest. The project is what it is today."""

    def __init__(self, app: App) -> None:
        self._app = app

    @cached_property
    def _project(self) -> Project | None:
        source = Source(self._app.root)
        head = source.resolve("HEAD")
        return source.find_project(head, self._app.config.reproduce) if head else None

    @cached_property
    def _checkout(self) -> ProjectCheckout:
        return ProjectCheckout(self._app)

    def has_example(self, issue: Issue) -> bool:
        parsed = restore_blanks(read_issue(issue), issue.body)
        return self._project is not None and not isinstance(read_example(parsed, self._project), NoExample)

    def check_can_run(self, *, in_container: bool) -> None:
        """Raise SetupError without Docker, and BadInput if this is no package of Python or Node."""
        if self._project is None:
            raise BadInput("--reproduce: this is no package of Python or Node.")
        with open_environments(self._app, keep=False, no_container=not in_container):
            pass

    def run(
        self, issue: Issue, base: str, fix: str, *, in_container: bool
    ) -> Literal["not run", "no failure", "fails after the fix", "fixed"]:
        """Run the example of an issue on the commit before its fix and on the fix. Raises SetupError."""
        try:
            with open_environments(self._app, keep=False, no_container=not in_container) as environments:
                checkout = self._checkout
                found = select_example(issue, checkout.source, checkout.project, checkout.versions, [base, fix])
                if isinstance(found, NoExample):
                    return "not run"
                selection = found.model_copy(update={"targets": found.targets[:2], "newest": None})
                runner = VersionRunner(environments, selection, self._app.progress.info)
                evidence = run_selection(selection, runner)
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


def judge(evidence: Evidence) -> Literal["not run", "no failure", "fails after the fix", "fixed"]:
    before, after = evidence.runs
    if not {before.outcome, after.outcome} <= {"passed", "failed"}:
        return "not run"
    if not before.same_failure:
        return "no failure"
    return "fixed" if evidence.verdict in ("fixed", "changed") else "fails after the fix"
