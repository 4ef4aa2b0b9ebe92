"""An issue with a patch that waits for a person, on a strict GitHub; and runs that answer commands.

What is on GitHub is read from the server: nothing comes from the code that is judged, but our comment itself.
"""

import atexit
import contextlib
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

from testing.checkouts.git_repositories import commit
from testing.runs import sample_bug
from testing.runs.action_run import run_here
from testing.runs.job import Job
from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import SLUG, GitHubApi, serve_github_api
from testing.servers.issue_writes_api import IssueWritesApi
from testing.servers.pull_requests_api import PullRequestsApi
from triage.fix.proposal_store import GitHubProposalStore
from triage.outside.github.issue_tracker import IssueTracker
from triage.say.comment import compose_comment
from triage.say.hidden_state import CommentState, parse_state

NUMBER = 7
BOT = "github-actions[bot]"
MAINTAINER = "mona"
TOKEN = "ghs_" + "Vb7Kq2Xn" * 4
FILE, TEST = "shop/basket.py", "tests/test_basket.py"
FILES: dict[str, str | bytes] = {FILE: sample_bug.BASKET, "README.md": "Shop\n", "shop/__init__.py": ""}
FIXED = sample_bug.BASKET.replace("sum(prices", "sum(0 if name not in prices else prices")
WRITES = {"seconds_between_writes": 0.0, "backoff_seconds": 0.0, "reread_seconds": 0.0, "max_wait_seconds": 0.0}
"""There are thousands of runs, none of which waits."""


@dataclass(frozen=True)
class Effects:
    """What is on GitHub, but for our comment, reactions and refs of proposals."""

    labels: tuple[str, ...]
    issue_type: str
    assignees: tuple[str, ...]
    refs: Mapping[str, str]
    """Branches and tags."""
    pull_requests: tuple[tuple[str, str, bool], ...]
    """Branch, its commit when it was opened, and whether it is a draft."""
    others: tuple[Any, ...]
    """Comments of others that are no commands, titles and bodies of issues, and labels of the repository."""


@dataclass
class ApprovalWorld:
    api: GitHubApi
    git: GitDataApi
    pulls: PullRequestsApi
    writes: IssueWritesApi
    folder: Path
    runs: int = 0
    comment: dict[str, Any] = field(default_factory=dict)
    """Ours."""
    base: str = ""
    patch_commit: str = ""
    patch_id: str = ""
    before: "Effects | None" = None
    """When the first command was given."""

    def write_event(self, command: dict[str, Any], **changes: Any) -> dict[str, Any]:
        """Returns the payload of a new comment."""
        return {
            "action": "created",
            "issue": self.api.issues[NUMBER],
            "comment": command,
            "sender": command["user"],
            "repository": {"full_name": SLUG, "name": "shop", "owner": {"login": "octo"}},
        } | changes

    def say(self, text: str, by: str = MAINTAINER, **fields: Any) -> dict[str, Any]:
        """Adds a comment a minute later."""
        self.api.seconds += 60
        return self.api.add_comment(text, by, NUMBER, **fields)

    def run(self, payload: Mapping[str, Any], event: str = "issue_comment", **inputs: str) -> str:
        """Runs the whole action with the rules engine, and returns its log."""
        self.runs += 1
        job = Job(self.folder / f"job{self.runs}", self.api)
        job.inputs |= {"github-token": TOKEN, "labels": "off"}
        job.inputs |= {name.replace("_", "-"): value for name, value in inputs.items()}
        job.write_event(dict(payload))
        folders = {"workspace": str(_checkout()), "temp": str(job.folder / "temp"), "home": str(job.folder / "home")}
        return run_here(job.environment(folders) | {"GITHUB_EVENT_NAME": event})[1]

    def read_effects(self) -> Effects:
        issue = self.api.issues[NUMBER]
        others = [one for one in self.api.comments if one["user"]["login"] != BOT and "/triage" not in one["body"]]
        texts = [(number, one["title"], one["body"]) for number, one in sorted(self.api.issues.items())]
        return Effects(
            labels=tuple(sorted(label["name"] for label in issue["labels"])),
            issue_type=issue.get("type", ""),
            assignees=tuple(issue.get("assignees", [])),
            refs={name: sha for name, sha in self.git.refs.items() if not name.startswith("refs/triage/")},
            pull_requests=tuple((one["head"]["ref"], one["head"]["sha"], one["draft"]) for one in self.pulls.pulls),
            others=(*((one["id"], one["body"]) for one in others), *texts, *self.api.labels, *self.api.created_labels),
        )

    def store_patch(
        self,
        ref: str,
        *,
        with_test: bool = True,
        more: Mapping[str, str | bytes] = MappingProxyType({}),
        hidden: Mapping[str, str | bytes] = MappingProxyType({}),
        written: str = "[#7] Round totals",
        **trailers: Any,
    ) -> str:
        """Stores a patch under a ref, lets our comment show it, and returns its id.

        The base has `more` files, and the first commit files that the last one does not have. `written` is the last
        message before its trailers.
        """
        given: dict[str, Any] = {
            "issue": NUMBER,
            "issue_text_hash": read_comment_state(self.comment["body"]).text_hash,
            "revision": 0,
            "commits": 1 + with_test,
        } | trailers
        parent, subject = self.base, written.partition("\n")[0].removeprefix("[#7] ")
        tests: dict[str, str | bytes] = {TEST: "def test_total():\n    assert False\n"} if with_test else {}
        if with_test:
            told = (
                f"[#7] Add a failing test: {subject}\n\nThe test fails on this commit and passes with the next one.\n"
            )
            parent = self.git.commit({**FILES, **more, **tests, **hidden}, parent, message=told)
        message = (
            f"{written}\n\nTriage-Issue: {given['issue']}\nTriage-Issue-Text: {given['issue_text_hash']}\n"
            f"Triage-Revision: {given['revision']}\n"
            f"Triage-Commits: {given['commits']}\n"
        )
        commit = self.git.commit({**FILES, **more, **tests, FILE: FIXED}, parent, message=message)
        self.patch_commit = self.git.set_ref(ref, commit)
        self.patch_id = commit[:12]
        self.comment["body"] = show_patch(self.comment["body"], commit)
        return self.patch_id


def read_comment_state(body: str) -> CommentState:
    return parse_state(body) or CommentState()


CHANGED, HARMLESS = "+    return sum(0 if name not in prices else prices", "+    # Sums the prices."
"""A line of the patch as our comment shows it, and what somebody would rather have approved."""


def write_part(commit: str) -> str:
    return f"### Proposed patch\n\n```diff\n{CHANGED}\n```\n\n`/triage approve {commit[:12]}`"


def show_patch(body: str, commit: str) -> str:
    """Returns our comment with a patch."""
    state = read_comment_state(body).model_copy(update={"proposal_commit": commit})
    return compose_comment(body, state, {"proposal": write_part(commit), "reply": ""}, [])


@functools.cache
def _checkout() -> Path:
    # Nothing is written into it: all runs share it.
    folder = TemporaryDirectory(prefix="trust-")
    atexit.register(folder.cleanup)
    job = Job(Path(folder.name) / "checkout", GitHubApi())
    commit(job.workspace, {path: str(text) for path, text in FILES.items()})
    return job.workspace


@functools.cache
def _write_comment() -> str:
    """Returns the comment that a run of the action writes on the issue."""
    with _serve() as world:
        world.run({"action": "opened", "issue": world.api.issues[NUMBER], "sender": {"login": "ann"}}, "issues")
        (comment,) = [one for one in world.api.comments if one["user"]["login"] == BOT]
        return str(comment["body"])


@contextlib.contextmanager
def _serve() -> Iterator[ApprovalWorld]:
    with TemporaryDirectory(prefix="trust-") as name, serve_github_api() as api, _without_waits():
        api.logins = {TOKEN: BOT}
        git = GitDataApi(api, Path(name) / "git")
        world = ApprovalWorld(api, git, PullRequestsApi(git), IssueWritesApi(api), Path(name))
        api.add_issue(NUMBER, title=sample_bug.TITLE, body=sample_bug.BODY, user={"login": "ann", "type": "User"})
        api.roles = {MAINTAINER: {"role_name": "write", "permission": "write"}}
        world.base = git.set_ref("refs/heads/main", git.commit(FILES))
        yield world


@contextlib.contextmanager
def serve_world() -> Iterator[ApprovalWorld]:
    """Yields an issue with our comment, and no patch yet."""
    body = _write_comment()
    with _serve() as world:
        world.comment = world.api.add_comment(body, BOT, NUMBER)
        yield world


@contextlib.contextmanager
def _without_waits() -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for client in (IssueTracker, GitHubProposalStore):
            stack.enter_context(patch.dict(client.__init__.__kwdefaults__, WRITES))
        yield
