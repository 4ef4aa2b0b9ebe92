"""Counts the examples of fixed issues for the backtest, which may not import this feature."""

from functools import cached_property

from triage.app.app import App
from triage.base.errors import BadInput
from triage.domain.issue import Issue
from triage.reproduce.project_checkout import NothingToRun, ProjectCheckout


class PastExamples:
    """The examples of the project's issues. The project is what it is today."""

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
