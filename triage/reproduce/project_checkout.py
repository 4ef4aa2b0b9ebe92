"""A checkout as a project with versions: what is selected from it, and run. Only `run` runs a stranger's code."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from triage.base.errors import BadInput, TriageError, WrongUsage
from triage.domain.issue import Issue
from triage.domain.project_config import ReproduceConfig
from triage.read.issue_facts import find_facts
from triage.read.kind.issue_kind import read_kind
from triage.read.read_issue import read_issue
from triage.reproduce.bisect_versions import Bisection
from triage.reproduce.environments.environment import Environments
from triage.reproduce.environments.releases import Release, find_number, find_release_before
from triage.reproduce.environments.source import Source, Versions
from triage.reproduce.evidence import Evidence, Expected, Selection, Target
from triage.reproduce.example import python_code
from triage.reproduce.example.example import Example, NoExample
from triage.reproduce.example.read_example import read_example
from triage.reproduce.example.sessions import fence_code
from triage.reproduce.expected import find_expected
from triage.reproduce.run_example import VersionRunner, run_selection

_REFUSALS = {
    "no-block": "the {where} has no block of code",
    "does-not-parse": "no block of the {where} is code that runs",
    "does-not-import-the-project": "no block of the {where} imports {package}",
    "calls-nothing": "the {where}'s code uses {package}, but calls nothing",
    "undefined-names": "the {where}'s code uses names that it does not define: {names}",
}


_TRACED = re.compile(r"^[ \t]+\S.*?\b([a-z]\w*)\.\w+\(", re.M)
"""Code in a traceback that calls a module: without an optional one another line fails, in other words."""


class NothingToRun(TriageError):
    """There is no example. The message is the end of a sentence, with its full stop."""


class ProjectCheckout:
    def __init__(self, root: Path, config: ReproduceConfig, revision: str = "HEAD") -> None:
        """Read the project at a commit.

        Raises BadInput if there is no commit, WrongUsage if it is no package of Python or Node, GitError if git fails.
        """
        self.source, self._config = Source(root), config
        head = self.source.resolve(revision)
        if head is None:
            raise BadInput("The repository has no commit.")
        project = self.source.find_project(head, config)
        if project is None:
            raise WrongUsage(
                "This is no package of Python or Node: no pyproject.toml, setup.py or package.json names one. "
                "Set package or languages under reproduce in .github/triage.yml."
            )
        self.head, self.project = head, project

    @cached_property
    def versions(self) -> Versions:
        # Who has uploaded a package of this name is not known, unless the project's own settings say that it is theirs.
        is_theirs = bool(self._config.package and not self._config.languages)
        return Versions(self.source, self.project, self.head, from_registry=is_theirs)

    def read(self, issue: Issue, instead: str = "") -> tuple[Example, Expected]:
        """Return the example, and what the report says that happens.

        `instead` is Markdown that both are taken from, not from the report, if it is not empty. Raises NothingToRun.
        """
        report = (Issue(title="") if instead else issue).model_copy(update={"body": instead or issue.body})
        parsed = read_issue(report)
        if not parsed.code:  # many forget the fence
            report = report.model_copy(update={"body": fence_code(report.body, parsed.prose)})
            parsed = read_issue(report)
        example = read_example(parsed, self.project)
        if isinstance(example, NoExample):
            where, names = "command" if instead else "report", ", ".join(example.names)
            words = _REFUSALS[example.reason].format(where=where, package=self.project.package, names=names)
            raise NothingToRun(f"{words}.")
        return example, find_expected(parsed, example)

    def select(self, issue: Issue, on: Sequence[str], own: str = "") -> Selection:
        """Return what is to be run, of `own` if it is not empty. Runs nothing.

        `on` are the versions that a person named; empty for the version of the report, else the newest of its time.

        Raises NothingToRun if there is no example, WrongUsage if there is no such version.
        """
        example, expected = self.read(issue, own)
        versions, project, parsed = self.versions, self.project, read_issue(issue)
        finals = [release for release in versions.releases if release.is_final]
        newest = next(reversed(finals), None)
        targets, missing = list[Target](), ""
        for one in on:
            targets.append(versions.find(one, *targets[:1]))
        if not on:
            chosen, missing = self._find_reported(issue, finals)
            targets += [versions.make_release_target(chosen)] if chosen else []
        missing = missing or next((one.on for one in targets if versions.is_untagged(one.on)), "")
        targets.append(versions.make_commit_target(self.head, self.source.name_head(), *targets[:1]))
        if project.language == "python":
            imported = python_code.find_imports(python_code.parse(example.code)) - {*project.modules}
            imported |= {*_TRACED.findall(expected.report)} if expected.errors else set()
            project = project.model_copy(update={"companions": self.source.find_companions(self.head, imported)})
        if project.languages:
            recipe = {example.language: project.languages[example.language]}
            project = project.model_copy(update={"languages": recipe})
        return Selection(
            project=project,
            example=example,
            expected=expected,
            is_feature=read_kind(parsed, issue.labels).kind == "feature_request",
            targets=targets,
            newest=newest and versions.make_release_target(newest, targets[0]),
            releases=[release.version for release in versions.releases],
            missing=missing,
        )

    def _find_reported(self, issue: Issue, finals: Sequence[Release]) -> tuple[Release | None, str]:
        """Return the version of the report, else the newest final one of its time, and the number that is none here."""
        facts = find_facts(read_issue(issue), self.project.package)
        reported = [facts.version.text if facts.version else "", facts.regression.broken_in if facts.regression else ""]
        if found := next(filter(None, map(self.versions.find_release, filter(None, reported))), None):
            return found, ""
        then = [one for one in finals if issue.opened_at is None or one.time <= issue.opened_at] or finals[:1]
        missing = next(filter(None, map(find_number, reported)), "")
        chosen = find_release_before(then, missing) or next(reversed(then), None)
        return chosen, missing if chosen else ""

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
