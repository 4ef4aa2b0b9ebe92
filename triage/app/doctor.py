"""The command `doctor`, and the job that tries on GitHub what no terminal can: the token of a workflow.

What is configured, what can be reached, what is missing; and what GitHub lets the token do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from triage.app.app import App
from triage.app.command_line import Repo
from triage.app.open_app import open_terminal_app
from triage.base.errors import TriageError
from triage.base.threads import in_thread
from triage.domain.code import IndexFacts
from triage.domain.effect import Annotate, SetOutputs, WriteJobPage
from triage.domain.run import Status
from triage.domain.skill import SKILL_FOLDER
from triage.domain.value import Value
from triage.outside.github.github_errors import (
    ErrorKind,
    GitHubError,
    github_errors,
    translate_read_errors,
    unless_gone,
)
from triage.outside.github.repository_connection import RepositoryConnection, delete_path
from triage.run.write.apply_job_effects import apply_job_effects
from triage.safety.safe_markdown import escape_markdown

if TYPE_CHECKING:
    from triage.run.job_context import JobContext

_MARKS = {"ok": ("✓", "green"), "missing": ("–", "yellow"), "broken": ("✗", "bold red")}
REF = "refs/triage/app/doctor/"
_MESSAGE = "Tried by bug-triage doctor: this commit may be deleted"
_EDITS = """query($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    issues(last: 1) { nodes { number userContentEdits(first: 1) { nodes { editor { login } } } } }
  }
}"""


class Check(Value):
    """`missing` is something that one may leave out; `broken` does not work as configured."""

    state: Literal["ok", "missing", "broken"]
    detail: str


@dataclass
class GitHubProbes(RepositoryConnection):
    """Each method asks one question of one repository on GitHub. Errors are those of reading GitHub."""

    def check_proposals(self) -> Check:
        """Store an empty commit on the default branch's newest one, below `refs/triage/`, and remove it."""
        with translate_read_errors(self.slug):
            with github_errors():
                newest = self.repository.get_git_ref(f"heads/{self.repository.default_branch}").object.sha
                head = self.repository.get_git_commit(newest)
                commit = self.writable.create_git_commit(_MESSAGE, head.tree, [head]).sha
            try:
                with github_errors():
                    self.writable.create_git_ref(REF + commit, commit)
            finally:  # a lost answer may have had its effect
                unless_gone(lambda: delete_path(self.writable, f"git/{REF}{commit}"))
        return Check(state="ok", detail="a commit below refs/triage/ was stored and removed")

    def check_pull_requests(self) -> Check:
        """Ask for a pull request of a branch into itself.

        GitHub refuses that as invalid whoever asks, and otherwise says that Actions may not.
        """
        problem = ""
        with translate_read_errors(self.slug):
            try:
                with github_errors():
                    branch = self.repository.default_branch
                    self.writable.create_pull(branch, branch, title=_MESSAGE, draft=True)
            except GitHubError as error:
                if error.kind is ErrorKind.NO_PULL_REQUESTS:
                    problem = "the setting is off"
                elif error.status == 403:
                    problem = "the job lacks `permissions: pull-requests: write`, or the setting is off"
                elif error.status != 422:
                    raise
        if not problem:
            return Check(state="ok", detail="the token may open pull requests")
        where = "Settings, Actions, General, Allow GitHub Actions to create and approve pull requests"
        return Check(state="broken", detail=f"{problem} ({where}); without it, the comment links a page to open one")

    def check_edits(self) -> Check:
        """Ask who has edited a text."""
        owner, _, name = self.slug.partition("/")
        with translate_read_errors(self.slug):
            data = self.query(_EDITS, {"owner": owner, "name": name})
        issues = ((data.get("repository") or {}).get("issues") or {}).get("nodes")
        if not issues:
            return Check(state="missing", detail="not tried: the repository has no issue")
        if issues[0].get("userContentEdits") is None:
            problem = "GitHub does not say who edited an issue, so no approval can be carried out"
            return Check(state="broken", detail=problem)
        return Check(state="ok", detail="GitHub says who edited an issue or a comment")


def run_checks(app: App, github: str = "") -> dict[str, Check]:
    """Run the checks; an error is a check that is broken. `github` is the `owner/name` to try the token on."""
    probes: Mapping[str, Callable[[], Check]] = {
        "checkout": lambda: _check_checkout(app),
        "project_settings": lambda: _check_project_settings(app),
        "skills": lambda: _check_skills(app),
        "github": lambda: _check_github(app, github),
        "model": lambda: _check_model(app),
    }
    return {name: _run_check(probe) for name, probe in probes.items()}


def run_write_checks(app: App) -> dict[str, Check]:
    """Run the checks that write to GitHub, and remove what they wrote."""
    probes = app.open_github(GitHubProbes)
    checks = {
        "edits": probes.check_edits,
        "proposals": probes.check_proposals,
        "pull_requests": probes.check_pull_requests,
    }
    return {name: _run_check(check) for name, check in checks.items()}


def _run_check(probe: Callable[[], Check]) -> Check:
    try:
        return probe()
    except TriageError as error:
        return Check(state="broken", detail=str(error))


def _check_checkout(app: App) -> Check:
    facts = app.open_codebase(None).index()
    if not facts.files:
        return Check(state="broken", detail=_explain_empty_index(facts))
    commit = f"commit {facts.commit[:12]}" if facts.commit else "no git history"
    return Check(state="ok", detail=f"{facts.log_line} {facts.passages:,} passages, {commit}")


def _explain_empty_index(facts: IndexFacts) -> str:
    if not facts.commit:
        return f"{facts.notes[0]} Commit the code first, or name a checkout with --repo"
    if not facts.left_out:
        return "there are no files here; name a checkout with --repo"
    reasons = ", ".join(f"{reason}: {number:,}" for reason, number in facts.left_out.items())
    return f"none of the files here can be indexed ({reasons})"


def _check_project_settings(app: App) -> Check:
    path, config = app.settings.config_file, app.read_project_config()
    if config is None:
        return Check(state="missing", detail=f"no {path} in the commit: defaults are used")
    keys = ", ".join(config.model_dump(by_alias=True, exclude_defaults=True)) or "nothing"
    return Check(state="ok", detail=f"{path} sets {keys}")


def _check_skills(app: App) -> Check:
    from triage.find.files.project_files import read_skills_at

    skills = read_skills_at(app.root)
    if skills.broken:
        return Check(state="broken", detail="; ".join(f"{one.path}: {one.problem}" for one in skills.broken))
    if not skills.skills:
        return Check(state="missing", detail=f"no skills in {SKILL_FOLDER}")
    return Check(state="ok", detail=f"{SKILL_FOLDER} has {', '.join(skill.id for skill in skills.skills)}")


def _check_github(app: App, github: str) -> Check:
    if not github:
        if app.settings.github_token.get_secret_value():
            return Check(state="ok", detail="a token is set; try it with --github owner/name")
        return Check(state="missing", detail="no token (github-token)")
    labels = app.github.list_labels()
    return Check(state="ok", detail=f"{github} can be read; it has {len(labels)} labels")


def _check_model(app: App) -> Check:
    settings = app.settings
    if settings.effective_engine == "rules":
        return Check(state="missing", detail="rules answer (no model-api-key, engine: rules, or max-cost-usd: 0)")
    from triage.outside.model.endpoint import check_endpoint

    names = list(dict.fromkeys(filter(None, [settings.model, settings.fast_model, settings.fallback_model])))
    return Check(state="ok", detail=check_endpoint(app.open_endpoint("doctor"), names))


def doctor(
    repo: Repo = Path(),
    github: Annotated[str, typer.Option(help="owner/name of a repository to try the token on.")] = "",
) -> None:
    """Check what is configured, what can be reached, and what is missing."""
    app, _ = open_terminal_app(repo)
    app = replace(app, repository=github or app.repository)
    checks = run_checks(app, github)
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    for name, check in checks.items():
        mark, style = _MARKS[check.state]
        console.print(f"{mark} ", style=style, end="")
        console.print(f"{name.replace('_', ' ')}: {check.detail}")
    if any(check.state == "broken" for check in checks.values()):
        raise SystemExit(1)


async def run_doctor(app: App, context: JobContext) -> Status:
    """Run all checks with the token of the job, and write them to its page. Failed if one is broken."""
    checks = await in_thread(run_checks, app, app.repository)
    checks |= await in_thread(run_write_checks, app)
    broken = [name for name, check in checks.items() if check.state == "broken"]
    status = Status.FAILED if broken else Status.COMPLETE
    outputs = SetOutputs(values={"status": status.value})
    apply_job_effects([WriteJobPage(markdown=render_checks(checks)), outputs], context.output)
    if broken:
        message = f"Not as it should be: {', '.join(broken)}. The summary of the job says what to do."
        apply_job_effects([Annotate(level="error", message=message)], context.output)
    return status


def render_checks(checks: dict[str, Check]) -> str:
    """Return a table for the page of the job."""
    words = {"ok": "✅ works", "missing": "➖ not there", "broken": "❌ **does not work**"}
    rows = [
        f"| {name.replace('_', ' ')} | {words[check.state]} | {escape_markdown(check.detail)} |"
        for name, check in checks.items()
    ]
    return "\n".join(["## Doctor", "", "| what | | |", "|---|---|---|", *rows, ""])
