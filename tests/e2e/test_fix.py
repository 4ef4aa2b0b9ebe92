"""The whole fix flow over HTTP: from `/triage fix` to a draft pull request, job by job, with real git behind GitHub."""

import contextlib
import io
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from testing.checkouts.git_repositories import git as run_git
from testing.runner_grammar import parse_outputs
from testing.runs import external_services
from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import JOB_TOKEN, SLUG, GitHubApi, serve_github_api
from testing.servers.issue_writes_api import IssueWritesApi
from testing.servers.pull_requests_api import PullRequestsApi
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion, serve_script
from triage.action import main

BASKET = "class Basket:\n    def total(self, prices):\n        return sum(prices[name] for name in self.names)\n"
FIXED = BASKET.replace("prices[name]", "prices.get(name, 0)")
OLD_TEST = "from shop.basket import Basket\n\n\ndef test_nothing():\n    assert Basket\n"
ISSUE: dict[str, Any] = {
    "title": "KeyError when a price is missing",
    "body": "It crashes.\n\n```\n  File \"shop/basket.py\", line 3, in total\nKeyError: 'pear'\n```\n",
}
NO_FILE = {"is_new_file": False, "new_content": None}
ANSWERS: dict[str, dict[str, Any]] = {
    "TicketClass": {
        "confirmed_type": "Bug",
        "technical_summary": "`Basket.total` fails if a price is missing",
        "affected_components": ["Basket.total"],
        "complexity": "low",
        "acceptance_criteria": ["A missing price counts as nothing."],
        "error": None,
    },
    "ModuleChoice": {
        "affected_modules": [{"name": "shop/", "reason": "It sums the prices."}],
        "files_likely_to_change": ["shop/basket.py"],
        "error": None,
    },
    "CodeChanges": {
        "root_cause": "`Basket.total` looks every name up, also one without a price.",
        "summary": "Count a missing price as nothing",
        "changes": [
            NO_FILE
            | {
                "file_path": "shop/basket.py",
                "description": "A missing price is 0.",
                "edits": [{"search": "prices[name]", "replace": "prices.get(name, 0)"}],
            }
        ],
        "look_at": [],
        "unverified": ["Whether a missing price should be an error elsewhere."],
        "error": None,
    },
    "TestChanges": {
        "tests": [
            NO_FILE
            | {
                "file_path": "tests/test_basket.py",
                "description": "A missing price.",
                "edits": [
                    {
                        "search": "    assert Basket\n",
                        "replace": "    assert Basket\n\n\ndef test_a_missing_price():\n    basket = Basket()\n"
                        "    basket.names = ['pear']\n    assert basket.total({}) == 0\n",
                    }
                ],
            }
        ],
        "no_test_reason": None,
        "error": None,
    },
}


@dataclass
class FixWorkflow:
    """The workflow of `examples/workflows/fix.yml`: one method per job, each with the token that the job has."""

    folder: Path
    api: GitHubApi
    git: GitDataApi
    pulls: PullRequestsApi
    writes: IssueWritesApi
    model_url: str
    requests: list[ReceivedRequest] = field(default_factory=list)
    event: dict[str, Any] = field(default_factory=dict)

    def say(self, body: str, by: str = "mona") -> None:
        """Somebody comments on the issue."""
        comment = self.api.add_comment(body, by)
        user = {"login": by, "type": "User"}
        issue = self.api.issues[7]
        self.event = {"action": "created", "issue": issue, "comment": dict(comment), "sender": user}

    def run(self, stage: str, **inputs: str) -> dict[str, str]:
        """Runs one job. Returns its outputs."""
        (self.folder / "event.json").write_text(json.dumps(self.event | {"repository": {"full_name": SLUG}}))
        for name in ("output", "summary"):
            (self.folder / name).write_text("")
        log = io.StringIO()
        given = {"fix": stage, "github-token": JOB_TOKEN} | {key.replace("_", "-"): v for key, v in inputs.items()}
        with contextlib.redirect_stdout(log):
            code = main(self.environment() | {f"INPUT_{name.upper()}": value for name, value in given.items()})
        self.log = log.getvalue()
        assert code == 0, self.log
        return parse_outputs((self.folder / "output").read_bytes())

    def propose(self, **inputs: str) -> dict[str, str]:
        key = {"model-api-key": "sk-" + "y2" * 20, "model-base-url": f"{self.model_url}/v1"}
        return self.run("propose", **key, **inputs)

    def environment(self) -> dict[str, str]:
        return {
            "GITHUB_REPOSITORY": SLUG,
            "GITHUB_EVENT_NAME": "issue_comment",
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_WORKSPACE": str(self.folder / "checkout"),
            "GITHUB_API_URL": self.api.url,
            "GITHUB_SERVER_URL": "https://github.com",
            "HOME": str(self.folder),
        }

    @property
    def summary(self) -> str:
        return (self.folder / "summary").read_text()

    @property
    def our_comment(self) -> str:
        (comment,) = [one["body"] for one in self.api.comments if one["body"].startswith("<!-- bug-triage:")]
        return str(comment)

    @property
    def reactions(self) -> list[str]:
        return [content for _, _, content in self.writes.reactions]

    def show(self, commit: str, path: str) -> str:
        command = ["git", "-C", str(self.git.folder), "show", f"{commit}:{path}"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def workflow(tmp_path: Path) -> Iterator[FixWorkflow]:
    requests: list[ReceivedRequest] = []

    def reply(request: ReceivedRequest) -> ScriptedReply:
        requests.append(request)
        schema = request.body.get("response_format", {}).get("json_schema", {}).get("name", "")
        if schema in ANSWERS:
            return chat_completion(json.dumps(ANSWERS[schema]))
        return external_services.default_reply(request)[1]

    with serve_github_api() as api, serve_script(reply) as model:
        api.add_issue(**ISSUE)
        api.roles["mona"] = {"role_name": "write", "permission": "write"}
        api.viewer = "github-actions"
        git = GitDataApi(api, tmp_path / "remote")
        files: dict[str, str | bytes] = {"shop/basket.py": BASKET, "tests/test_basket.py": OLD_TEST}
        git.set_ref("refs/heads/main", git.commit(files))
        run_git(tmp_path, "clone", "-q", str(git.folder), "checkout")
        yield FixWorkflow(tmp_path, api, git, PullRequestsApi(git), IssueWritesApi(api), model.url, requests)


def test_from_a_comment_to_a_draft_pull_request(workflow: FixWorkflow) -> None:
    workflow.say("/triage fix")
    assert workflow.run("gate")["fix-task"] == "propose"

    proposed = workflow.propose()
    assert (proposed["proposal-status"], proposed["proposal-file"]) == ("awaiting", ".triage/proposal.json")
    assert int(proposed["tokens"]) > 0
    assert "## Proposed changes" in workflow.summary
    assert workflow.api.request_lines("POST /repos") == []

    frozen = workflow.run("freeze")
    assert frozen["proposal-status"] == "awaiting"
    assert workflow.show(frozen["proposal-sha"], "shop/basket.py") == FIXED
    assert workflow.show(frozen["proposal-test-sha"], "shop/basket.py") == BASKET
    assert "test_a_missing_price" in workflow.show(frozen["proposal-test-sha"], "tests/test_basket.py")
    assert list(workflow.git.refs) == ["refs/heads/main", "refs/triage/proposals/7/1"]

    workflow.run("report", proposal_tests="proved")
    comment = workflow.our_comment
    assert f"`/triage approve {frozen['proposal-id']}`" in comment
    assert "fails without this change" in comment
    assert "+        return sum(prices.get(name, 0) for name in self.names)" in comment
    assert workflow.reactions == ["rocket"]

    workflow.say(f"/triage approve {frozen['proposal-id']}")
    assert workflow.run("gate")["fix-task"] == "apply"
    applied = workflow.run("apply")
    assert applied["proposal-status"] == "approved"
    (pull,) = workflow.pulls.pulls
    assert pull["draft"] is True
    assert pull["head"]["ref"] == "triage/7-keyerror-when-a-price-is-missing"
    assert workflow.git.refs["refs/heads/triage/7-keyerror-when-a-price-is-missing"] == frozen["proposal-sha"]
    assert "refs/triage/proposals/7/1" not in workflow.git.refs
    assert pull["title"] == "[#7] KeyError when a price is missing"
    assert "fails without the change" in pull["body"]
    assert applied["pull-request-url"] == pull["html_url"]
    assert pull["html_url"] in workflow.our_comment


def test_a_person_without_write_access_gets_an_answer_and_nothing_runs(workflow: FixWorkflow) -> None:
    workflow.say("/triage", "mona")
    workflow.api.roles["stranger"] = {"role_name": "read", "permission": "read"}
    workflow.say("/triage fix", "stranger")
    assert workflow.run("gate")["fix-task"] == "answer"
    assert workflow.propose()["status"] == "skipped"
    workflow.run("report")
    assert workflow.reactions == ["confused"]
    assert workflow.requests == []
    assert list(workflow.git.refs) == ["refs/heads/main"]


def test_the_token_may_not_store_commits(workflow: FixWorkflow) -> None:
    workflow.say("/triage fix")
    workflow.propose()
    workflow.api.denied[JOB_TOKEN] = {"contents"}
    with pytest.raises(AssertionError, match="contents: write"):
        workflow.run("freeze")
    workflow.run("report")
    assert "git apply" in workflow.our_comment
    assert "`contents: write`" in workflow.our_comment


def test_a_revision_replaces_the_proposal(workflow: FixWorkflow) -> None:
    workflow.say("/triage fix")
    workflow.propose()
    first = workflow.run("freeze")
    workflow.run("report")
    workflow.say(f"/triage revise {first['proposal-id']}\nSay it in the docstring as well.")
    assert workflow.run("gate")["fix-task"] == "propose"
    workflow.propose()
    assert any("Say it in the docstring" in json.dumps(request.body) for request in workflow.requests)
    second = workflow.run("freeze")
    workflow.run("report")
    assert second["proposal-id"] != first["proposal-id"]
    assert first["proposal-id"] not in workflow.our_comment
    workflow.say(f"/triage approve {first['proposal-id']}")
    assert workflow.run("apply")["proposal-status"] == "none"
    assert workflow.pulls.pulls == []


def test_a_moved_base_is_a_no(workflow: FixWorkflow) -> None:
    workflow.say("/triage fix")
    workflow.propose()
    frozen = workflow.run("freeze")
    main_before = workflow.git.refs["refs/heads/main"]
    files: dict[str, str | bytes] = {"shop/basket.py": "# moved\n" + BASKET, "tests/test_basket.py": OLD_TEST}
    workflow.git.set_ref("refs/heads/main", workflow.git.commit(files, main_before))
    workflow.say(f"/triage approve {frozen['proposal-id']}")
    workflow.run("apply")
    assert workflow.pulls.pulls == []
    assert workflow.reactions[-1] == "confused"


def test_github_lets_nobody_open_pull_requests(workflow: FixWorkflow) -> None:
    workflow.say("/triage fix")
    workflow.propose()
    frozen = workflow.run("freeze")
    workflow.run("report")
    workflow.pulls.lets_actions_open = False
    workflow.say(f"/triage approve {frozen['proposal-id']}")
    assert workflow.run("apply")["proposal-status"] == "approved"
    assert "/compare/" in workflow.our_comment
    assert "Allow GitHub Actions to create and approve pull requests" in workflow.our_comment
