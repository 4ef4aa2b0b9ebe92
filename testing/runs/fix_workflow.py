"""The jobs of `examples/workflows/fix.yml` on loopback, with real git behind GitHub and a model that answers by a script."""

import contextlib
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testing.checkouts.git_repositories import git as run_git
from testing.runs import external_services
from testing.runs.jobs_on_loopback import JobsOnLoopback
from testing.runs.verify_job import RUNNING_DOCKER, run_verify
from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import serve_github_api
from testing.servers.issue_writes_api import IssueWritesApi
from testing.servers.pull_requests_api import PullRequestsApi
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion, serve_script

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
        "acceptance_criteria": ["A missing price counts as nothing."],
        "error": None,
    },
    "ModuleChoice": {
        "affected_modules": ["shop/"],
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
        "needs_to_see": [],
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


@dataclass(kw_only=True)
class FixWorkflow(JobsOnLoopback):
    """The workflow of `examples/workflows/fix.yml`: one method per job, each with the token that the job has."""

    git: GitDataApi
    pulls: PullRequestsApi
    model_url: str
    requests: list[ReceivedRequest]

    def run(self, stage: str, **inputs: str) -> dict[str, str]:
        """Runs one job. Returns its outputs."""
        return self.run_task(f"fix-{stage}", **inputs)

    def propose(self, **inputs: str) -> dict[str, str]:
        key = {"model_api_key": "sk-" + "y2" * 20, "model_base_url": f"{self.model_url}/v1"}
        return self.run("propose", **key, **inputs)

    def verify(self, stored: Mapping[str, str]) -> str:
        """Runs the script of the job `verify`, and leaves what it uploads where `report` downloads it. Returns its outcome."""
        own, checkout = self.folder / f"verify-{stored['proposal-id']}", self.folder / "checkout"
        folders = {"base": "proposal-base", "after": "proposal-sha", "test-only": "proposal-test-sha"}
        for name, output in folders.items():
            run_git(self.folder, "clone", "-q", "--no-checkout", str(self.git.folder), str(own / name))
            run_git(own / name, "fetch", "-q", "origin", "refs/triage/proposals/7/*:refs/remotes/origin/p/*")
            run_git(own / name, "checkout", "-q", stored[output])
            shutil.rmtree(own / name / ".git")
        shutil.copytree(checkout / ".triage", own / ".triage")
        command = f"{sys.executable} -m pytest -q -p no:cacheprovider --junit-xml=/tmp/reports/tests.xml"
        outcome, _ = run_verify(own, RUNNING_DOCKER, TEST_COMMAND=command, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
        for path in (own / ".triage").glob("example-*.json"):
            shutil.copy(path, checkout / ".triage")
        return outcome.removeprefix("tests=")

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


FILES: Mapping[str, str | bytes] = {"shop/basket.py": BASKET, "tests/test_basket.py": OLD_TEST}


@contextlib.contextmanager
def serve_fix_workflow(
    folder: Path,
    files: Mapping[str, str | bytes] = FILES,
    answers: Mapping[str, Sequence[Mapping[str, Any]]] = {name: [answer] for name, answer in ANSWERS.items()},
) -> Iterator[FixWorkflow]:
    """Yields the workflow on a repository with an open issue, and stops the servers afterwards.

    `answers` are those of the model by schema, in turn; the last one is repeated.
    """
    requests: list[ReceivedRequest] = []
    asked: Counter[str] = Counter()

    def reply(request: ReceivedRequest) -> ScriptedReply:
        requests.append(request)
        schema = request.body.get("response_format", {}).get("json_schema", {}).get("name", "")
        if schema in answers:
            asked[schema] += 1
            return chat_completion(json.dumps(answers[schema][min(asked[schema], len(answers[schema])) - 1]))
        return external_services.default_reply(request)[1]

    with serve_github_api() as api, serve_script(reply) as model:
        api.add_issue(**ISSUE)
        api.roles["mona"] = {"role_name": "write", "permission": "write"}
        api.viewer = "github-actions[bot]"
        git = GitDataApi(api, folder / "remote")
        git.set_ref("refs/heads/main", git.commit(dict(files)))
        run_git(folder, "clone", "-q", str(git.folder), "checkout")
        jobs: dict[str, Any] = {
            "folder": folder,
            "api": api,
            "writes": IssueWritesApi(api),
            "variables": {"HOME": str(folder)},
        }
        yield FixWorkflow(**jobs, git=git, pulls=PullRequestsApi(git), model_url=model.url, requests=requests)


EXAMPLE = """from shop.basket import Basket  # $(touch pwned) `touch pwned` '; touch pwned #

basket = Basket()
basket.names = ["pear"]
print(basket.total({}))
"""
EXAMPLE_FILES: Mapping[str, str | bytes] = {
    **FILES,
    "shop/__init__.py": "",
    "pyproject.toml": '[project]\nname = "shop"\n',
}
