"""The first step: which bytes are run, on which versions. Runs nothing."""

from collections.abc import Sequence
from datetime import datetime

from triage.base.errors import BadInput, WrongUsage
from triage.domain.issue import Issue
from triage.domain.project_config import ReproduceConfig
from triage.read.kind.issue_kind import read_kind
from triage.read.read_issue import read_issue
from triage.read.report_facts import find_facts
from triage.reproduce.environments.releases import (
    DEPENDENCIES_AFTER,
    Release,
    find_release,
    merge_tags,
    normalize_version,
    order_pythons,
)
from triage.reproduce.environments.source import Source
from triage.reproduce.evidence import Selection, Target
from triage.reproduce.example import python_code
from triage.reproduce.example.example import NoExample, Project
from triage.reproduce.example.read_example import read_example, restore_blanks
from triage.reproduce.expected import find_expected

IN_REGISTRY = "If it is on PyPI or npm, set reproduce: package: in .github/triage.yml."


class Versions:
    """Makes a target of a version's name."""

    def __init__(self, source: Source, project: Project, wheels: Sequence[Release], head: str) -> None:
        """Take the releases of the registry, oldest first. Tags of further versions are releases too."""
        self._source, self._project, self.head = source, project, head
        self._has_registry = bool(wheels) or project.language == "other"
        self.tags = source.list_version_tags()
        until = source.read_time(head) + DEPENDENCIES_AFTER
        self.releases = [release for release in merge_tags(wheels, self.tags) if release.time <= until]

    def make_release_target(self, release: Release, like: Target | None = None) -> Target:
        """Return the target of a release, on the Python of another one if it can run there."""
        if release.commit:
            return self._make_target(release.version, release.commit, like)
        time, pythons = release.time + DEPENDENCIES_AFTER, self._order_pythons(release.time, release.pythons, like)
        return Target(on=release.version, version=release.version, time=time, pythons=pythons)

    def make_commit_target(self, name: str, on: str, like: Target | None = None) -> Target:
        """Return the target of a commit, tag or branch. Raises WrongUsage if there is none."""
        commit = self._source.resolve(name)
        if commit is None:
            more = "" if self._has_registry else f" {IN_REGISTRY}"
            raise WrongUsage(f"{on} is neither a release nor a tag, branch or commit of this repository.{more}")
        return self._make_target(on, commit, like)

    def _make_target(self, on: str, commit: str, like: Target | None) -> Target:
        time = self._source.read_time(commit) + DEPENDENCIES_AFTER
        pythons = self._order_pythons(time, self._source.list_pythons(commit), like)
        version = self._source.describe_version(commit)
        return Target(on=on, commit=commit, time=time, pythons=pythons, source_version=version)

    def _order_pythons(self, time: datetime, supported: Sequence[str], like: Target | None) -> list[str]:
        if self._project.language != "python":
            return []
        return order_pythons(time, supported, "".join(like.pythons[:1]) if like else "")

    def find(self, written: str, like: Target | None = None) -> Target:
        """Return the target of what somebody wrote: a version, a tag, a branch or a commit. Raises WrongUsage."""
        release = find_release(self.releases, written) if normalize_version(written) else None
        return self.make_release_target(release, like) if release else self.make_commit_target(written, written, like)


def select_example(
    issue: Issue,
    source: Source,
    project: Project,
    versions: Versions,
    named: Sequence[str],
    own: str = "",
) -> Selection | NoExample:
    """Return what is to be run, or why there is no example.

    Args:
        issue: The report.
        source: The repository.
        project: What it is.
        versions: Of the project.
        named: The versions that a person named; empty for the version of the report, else the newest of its time.
        own: Markdown that the example and what it shows are taken from instead of the report; empty for the report.

    Raises:
        WrongUsage: There is no such version.
    """
    parsed = read_issue(issue)
    shown = restore_blanks(read_issue(Issue(title="", body=own)) if own else parsed, own or issue.body)
    example = read_example(shown, project)
    if isinstance(example, NoExample):
        return example
    wheels = [release for release in versions.releases if not release.commit]
    releases = wheels or versions.releases  # a tag may have to be compiled
    newest = next(reversed(releases), None)
    of_its_time = next((one for one in reversed(releases) if issue.opened_at and one.time <= issue.opened_at), newest)
    facts = find_facts(parsed, project.package)
    reported = [facts.version.text if facts.version else "", facts.regression.broken_in if facts.regression else ""]
    of_report = next(filter(None, (find_release(versions.releases, one) for one in reported)), None)
    targets: list[Target] = []
    for one in named:
        targets.append(versions.find(one, *targets[:1]))
    if not named and (chosen := of_report or of_its_time):
        targets.append(versions.make_release_target(chosen))
    targets.append(versions.make_commit_target(versions.head, source.name_head(), *targets[:1]))
    if project.language == "python":
        imported = python_code.find_imports(python_code.parse(example.code)) - {*project.modules}
        project = project.model_copy(update={"companions": source.find_companions(versions.head, imported)})
    if project.languages:
        recipe = {example.language: project.languages[example.language]}
        project = project.model_copy(update={"languages": recipe})
    return Selection(
        project=project,
        example=example,
        expected=find_expected(shown, example),
        is_feature=read_kind(parsed, issue.labels).kind == "feature_request",
        targets=targets,
        newest=newest and versions.make_release_target(newest, targets[0]),
        releases=[release.version for release in versions.releases],
    )


def open_project(source: Source, config: ReproduceConfig, head: str) -> Project:
    """Return the project of a repository. Raises BadInput if it is neither a package of Python nor of Node."""
    project = source.find_project(head, config)
    if project is None:
        raise BadInput(
            "This is no package of Python or Node: no pyproject.toml, setup.py or package.json names one. "
            "Set reproduce: package: or languages: in .github/triage.yml."
        )
    return project
