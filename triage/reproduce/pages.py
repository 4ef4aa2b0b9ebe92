"""Looks places and commits up in the checkout, for links to GitHub and for what the rest of the triage learns."""

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from posixpath import basename

from triage.domain.code import ExecutedCode, Span
from triage.domain.issue import Frame, Repository
from triage.reproduce.environments.source import Source
from triage.reproduce.evidence import Evidence, Run
from triage.reproduce.runner.read_output import find_file
from triage.safety.safe_markdown import escape_markdown, format_code_span
from triage.safety.secrets.likely_secrets import shorten_text
from triage.say.links import build_permalink, build_reference_url

MAX_CELL_CHARS = 200
_MAX_SUBJECT_CHARS = 200


class Pages:
    """The checkout, which places are looked up in, and where it is on GitHub: at a terminal nowhere."""

    def __init__(self, source: Source, repository: Repository | None = None) -> None:
        self._source, self._repository = source, repository or Repository(slug="")
        self._head, self._tags = source.resolve("HEAD") or "", source.list_version_tags()
        self._paths: dict[str, defaultdict[str, list[str]]] = {}
        """At each commit the files by their names."""
        self.find_path = cache(self._find_path)

    @property
    def links(self) -> list[str]:
        """What every link begins with."""
        slug, server = self._repository.slug, self._repository.server_url
        return [f"{host}/{slug}/" for host in (server, "https://redirect.github.com")] if server else []

    def _find_path(self, path: str, commit: str = "") -> str:
        """Return the file of the repository that an installed file came from; empty if there is not exactly one."""
        commit = commit or self._head
        if commit not in self._paths:
            self._paths[commit] = defaultdict(list)
            for one in self._source.list_paths(commit):
                self._paths[commit][basename(one)].append(one)
        return find_file(self._paths[commit][basename(path)], path)

    def find_commit(self, run: Run) -> str:
        """Return the commit of a run's version; empty for a release without a tag."""
        return run.commit or (self._tags[run.on].commit if run.on in self._tags else "")

    def format_place(self, run: Run) -> str:
        """Return the place for a table, as a link if the file has such a line at the version's commit or tag."""
        place = run.place
        if place is None:
            return "–"
        commit = self.find_commit(run)
        path = self.find_path(place.path, commit)
        if not path and self._repository.slug:  # in a comment stands only what was looked up
            return "–"
        shown = format_cell(f"{path or place.path}:{place.line}")
        if commit and path and 1 <= place.line <= len((self._source.read(commit, path) or "").splitlines()):
            span = Span(path=path, start=place.line, end=place.line)
            link = build_permalink(self._repository.server_url, self._repository.slug, commit, span)
            shown = f"[{shown}]({link})" if link and "|" not in link else shown
        return (
            shown if place.function.startswith("<") or not place.function else f"{shown}, {format_cell(place.function)}"
        )

    def format_commit(self, commit: str) -> str:
        """Return a commit as a link, with its subject; empty if there is no such commit."""
        if self._source.resolve(commit) != commit:
            return ""
        link = build_reference_url(self._repository.server_url, self._repository.slug, f"commit/{commit}")
        code = format_code_span(commit[:7])
        subject = escape_markdown(self._source.read_subject(commit)[:_MAX_SUBJECT_CHARS].rstrip("."))
        return f"{f'[{code}]({link})' if link else code} *{subject}*"


def format_cell(text: str) -> str:
    code = format_code_span(shorten_text(text, MAX_CELL_CHARS))
    return code.replace("|", "\\|")


def find_executed_code(evidence: Evidence, find_path: Callable[[str], str]) -> ExecutedCode | None:
    """Return what the last version executed that could be run; None without one.

    `find_path` returns the repository's file that an installed file came from; empty if it is not known.
    """
    run = next((run for run in reversed(evidence.runs) if run.executed), None)
    if run is None:
        return None
    shown = run.place if run.same_failure and find_path(run.place.path if run.place else "") else None
    place = shown and Frame(path=find_path(shown.path), line=shown.line, function=shown.function)
    functions = [
        Frame(path=path, line=one.line, function=one.function) for one in run.executed if (path := find_path(one.path))
    ]
    return ExecutedCode(functions=functions, place=place, error=run.error if place else "")
