"""A checkout as a project with versions: what the command and the jobs select from, and run."""

import os
from collections.abc import Callable, Iterator, Sequence

from triage.app.app import App
from triage.base.errors import BadInput, TriageError
from triage.domain.issue import Issue
from triage.reproduce.bisect_versions import Bisection
from triage.reproduce.environments.environment import Environments
from triage.reproduce.environments.package_index import list_releases
from triage.reproduce.environments.source import Source
from triage.reproduce.evidence import Evidence, Selection
from triage.reproduce.example.example import NoExample
from triage.reproduce.run_example import VersionRunner, run_selection
from triage.reproduce.select_example import Versions, open_project, select_example

_REFUSALS = {
    "no-block": "the {where} has no block of code",
    "does-not-parse": "no block of the {where} is code that runs",
    "does-not-import-the-project": "no block of the {where} imports {package}",
    "calls-nothing": "the {where}'s code uses {package}, but calls nothing",
    "undefined-names": "the {where}'s code uses names that nothing defines: {names}",
}


class NothingToRun(TriageError):
    """There is no example. The message is the end of a sentence, with its full stop."""


class ProjectCheckout:
    def __init__(self, app: App) -> None:
        """Read the project and its versions, from the registry too if its settings name the package.

        Raises:
            BadInput: There is no commit, or no project.
            TriageError: The registry does not answer.
        """
        self.source = Source(app.root)
        head = self.source.resolve("HEAD")
        if head is None:
            raise BadInput("The repository has no commit.")
        self.head, config = head, app.config.reproduce
        self.project = open_project(self.source, config, head)
        # Who has uploaded a package of this name is not known, unless the project's own settings say that it is theirs.
        asks = config.package and not config.languages
        wheels = list_releases(self.project, os.environ) if asks else []
        self.versions = Versions(self.source, self.project, wheels, head)

    def select(self, issue: Issue, on: Sequence[str], own: str = "") -> Selection:
        """Return what is run, of `own` if it is not empty. Raises NothingToRun, and WrongUsage for no version."""
        found = select_example(issue, self.source, self.project, self.versions, on, own)
        if isinstance(found, NoExample):
            where, names = "command" if own else "report", ", ".join(found.names)
            words = _REFUSALS[found.reason].format(where=where, package=self.project.package, names=names)
            raise NothingToRun(f"{words}.")
        return found

    def run(
        self,
        selection: Selection,
        environments: Environments,
        bisect: Callable[[Evidence], bool],
        log_step: Callable[[str], None],
    ) -> Iterator[Evidence]:
        """Yield the evidence; if `bisect` wants it, again after the search for the first version with the change."""
        runner = VersionRunner(environments, selection, log_step)
        evidence = run_selection(selection, runner)
        yield evidence
        if bisect(evidence):
            yield Bisection(selection, evidence, runner, self.versions).search(self.source)
