"""Tries on GitHub itself what the product relies on, with the token of a job. What it writes, it removes."""

import base64
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

from triage.base.processes import run_process
from triage.outside.github.github_errors import (
    ErrorKind,
    GitHubError,
    github_errors,
    translate_read_errors,
    unreadable_response,
)
from triage.outside.github.repository_connection import PREVIEWS, RepositoryConnection, delete_path

REF = "refs/triage/app/doctor/"
_MESSAGE = "Tried by bug-triage doctor: this commit may be deleted"
_FETCH_SECONDS = 60.0
_EDITS = """query($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    issues(last: 1) { nodes { number userContentEdits(first: 1) { nodes { editor { login } } } } }
  }
}"""
_SUGGESTIONS = """{ __type(name: "IssueStateUpdateInput") { inputFields { name } } }"""
_PASSED_ON = ("PATH", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE")


@dataclass
class GitHubProbes(RepositoryConnection):
    """Each method asks one question of one repository on GitHub. Errors are those of reading GitHub."""

    _: KW_ONLY
    server_url: str = "https://github.com"
    environ: Mapping[str, str] = field(default_factory=dict)
    """Of the process, for git."""

    def store_commit(self) -> str:
        """Store an empty commit on the default branch's newest one, below `refs/triage/`. Return its id."""
        with translate_read_errors(self.slug):
            with github_errors():
                branch = self.repository.default_branch
                newest = self.repository.get_git_ref(f"heads/{branch}").object.sha
                head = self.repository.get_git_commit(newest)
                commit = self.writable.create_git_commit(_MESSAGE, head.tree, [head]).sha
            try:
                with github_errors():
                    self.writable.create_git_ref(REF + commit, commit)
            except GitHubError:
                self._delete_ref(commit)  # a lost answer may have had its effect
                raise
            return commit

    def delete_commit(self, commit: str) -> None:
        with translate_read_errors(self.slug):
            self._delete_ref(commit)

    def _delete_ref(self, commit: str) -> None:
        try:
            with github_errors():
                delete_path(self.writable, f"git/{REF}{commit}")
        except GitHubError as error:
            if error.kind is not ErrorKind.GONE:
                raise

    def fetch_commit(self, commit: str) -> str:
        """Fetch a commit by its id with git, as actions/checkout does. Return what git says if it cannot, else ""."""
        if shutil.which("git") is None:
            return "git is not installed"
        secret = base64.b64encode(f"x-access-token:{self.token}".encode()).decode()
        known = {name: self.environ[name] for name in _PASSED_ON if name in self.environ}
        # In variables, because other processes of the machine see a command line.
        settings = {"GIT_CONFIG_KEY_0": "http.extraheader", "GIT_CONFIG_VALUE_0": f"AUTHORIZATION: basic {secret}"}
        fixed = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        with tempfile.TemporaryDirectory() as folder:
            environment = known | settings | fixed | {"HOME": folder}
            for command in (
                ["git", "init", "--quiet", "--bare", "."],
                ["git", "fetch", "--quiet", "--depth=1", f"{self.server_url}/{self.slug}", commit],
            ):
                done = run_process(command, Path(folder), environment, _FETCH_SECONDS, 500)
                if done.code:
                    said = done.output.decode("utf-8", "replace").strip()
                    return str(self.redactor.redactor_for("git")(said)) or "it hung"
        return ""

    def may_open_pull_requests(self) -> str:
        """Return why the token may not open pull requests, "" if it may.

        It asks for one of a branch into itself. GitHub refuses that as invalid whoever asks, and otherwise says that
        Actions may not.
        """
        with translate_read_errors(self.slug):
            try:
                with github_errors():
                    branch = self.repository.default_branch
                    self.writable.create_pull(branch, branch, title=_MESSAGE, draft=True)
            except GitHubError as error:
                if error.kind is ErrorKind.NO_PULL_REQUESTS:
                    return "the setting is off"
                if error.status == 403:
                    return "the job lacks `permissions: pull-requests: write`, or the setting is off"
                if error.status != 422:
                    raise
            return ""

    def shows_edits(self) -> bool | None:
        """Return whether GitHub says who has edited a text; None if there is no issue to ask about."""
        owner, _, name = self.slug.partition("/")
        with translate_read_errors(self.slug):
            data = self.query(_EDITS, {"owner": owner, "name": name})
            issues = _pick(data, "repository", "issues", "nodes")
            return issues[0].get("userContentEdits") is not None if issues else None

    def knows_close_suggestions(self) -> bool:
        """Return whether this GitHub has suggestions on issues, those to close one included."""
        with translate_read_errors(self.slug):
            fields = (self.query(_SUGGESTIONS, {}, PREVIEWS).get("__type") or {}).get("inputFields") or []
            return any(one.get("name") == "suggest" for one in fields)


def _pick(answer: Any, *keys: str) -> Any:
    for key in keys:
        if not isinstance(answer, dict) or key not in answer:
            raise unreadable_response()
        answer = answer[key]
    return answer
