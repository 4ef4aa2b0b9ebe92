"""An issue is triaged, fixed and closed, and the scorecard says whether the comment was right."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit
from testing.runs.action_run import job_variables, run_on_event
from testing.servers.github_api import JOB_TOKEN, SLUG, GitHubApi, serve_github_api

FILES = {
    "shop/cart.py": "def total(prices):\n    return sum(prices) / len(prices)\n",
    "shop/till.py": "def open_till(name):\n    return name.lower()\n",
}
TRACE = """It fails with version 1.4 when I run `shop total`:

```
Traceback (most recent call last):
  File "shop/cart.py", line 2, in total
    return sum(prices) / len(prices)
ZeroDivisionError: division by zero
```
"""


@dataclass
class Shop:
    folder: Path
    api: GitHubApi

    def run(self, event: str, payload: object, **inputs: str) -> str:
        """Run a job, and return its summary."""
        given = {"github_token": JOB_TOKEN, "engine": "rules"} | inputs
        variables = job_variables(self.api.url, event, self.folder, self.folder / "checkout", **given)
        done = run_on_event(self.folder, payload, variables)
        assert done.exit_code == 0
        return done.summary

    def triage(self, number: int, body: str) -> None:
        self.api.add_issue(number, title="Total of an empty cart", body=body, created_at=now(), updated_at=now())
        before = len(self.api.comments)
        self.run("issues", {"action": "opened", "issue": self.api.issues[number], "repository": {"full_name": SLUG}})
        assert len(self.api.comments) == before + 1

    def close(self, number: int, *files: str) -> None:
        later = now(minutes=30)
        fix = {"number": number + 50, "at": later, "files": [*files, "tests/test_cart.py"]}
        self.api.issues[number] |= {"state": "closed", "closed_at": later, "updated_at": later, "fixes": [fix]}


def now(minutes: int = 0) -> str:
    return f"{datetime.now(UTC) + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}"


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    (tmp_path / "checkout").mkdir()
    commit(tmp_path / "checkout", FILES)
    with serve_github_api() as api:
        yield Shop(tmp_path, api)


def test_a_comment_that_named_the_right_file_and_one_that_did_not(shop: Shop) -> None:
    shop.triage(8, TRACE)
    shop.triage(9, TRACE.replace("empty", "full") + "\nAlso with two carts.")
    shop.close(8, "shop/cart.py")
    shop.close(9, "shop/till.py")
    summary = shop.run("schedule", {"schedule": "17 5 * * 1"}, task="scorecard")
    assert "2 of them have a comment of this action, and 2 of these were closed by a fix" in summary
    assert "was edited by the fix: 1 of 2.**" in summary
