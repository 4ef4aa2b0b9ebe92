"""The label for an open question, from the first run to the answer, over HTTP."""

import asyncio
from typing import Any

import pytest

from testing import factories
from testing.fakes import FakeProgressLog, fake_job
from testing.servers.github_api import JOB_TOKEN, SLUG, GitHubApi, serve_github_api
from triage.domain.effect import Policy
from triage.domain.project_config import ProjectConfig
from triage.domain.run import Status
from triage.domain.task import TriageTask, Trigger
from triage.outside.github.issue_tracker import IssueTracker
from triage.run.triage_issue import NO_SUCH_LABEL, run_task

VAGUE = "It crashes when I save."


def run(api: GitHubApi, trigger: Trigger, **policy: Any) -> list[str]:
    """Runs once, and returns the log."""
    progress = FakeProgressLog()
    tracker = IssueTracker(JOB_TOKEN, SLUG, api.url, seconds_between_writes=0.0, reread_seconds=0.0)
    context = fake_job(
        tracker,
        progress=progress,
        policy=Policy(**{"labels": "apply", "comment": "always"} | policy),
        config=ProjectConfig(needs_info_label="Waiting"),
    )
    result = asyncio.run(run_task(TriageTask(number=7, trigger=trigger, actor="mona"), context))
    assert result is Status.COMPLETE
    return progress.lines


def labels(api: GitHubApi) -> list[str]:
    return [label["name"] for label in api.issues[7]["labels"]]


def answer(api: GitHubApi) -> None:
    """The reporter edits the report."""
    complete = f"Version 2.1.0 on Linux, Python 3.12.\n\n{factories.TRACEBACK}\nI expected a date.\n\n"
    api.issues[7]["body"] = complete + "Steps to reproduce:\n\n1. Run `parse('02-29')`\n"


@pytest.mark.parametrize("policy", [{}, {"labels": "suggest"}, {"labels": "off"}, {"dry_run": True}])
def test_the_label_comes_with_the_question_and_goes_with_the_answer(policy: dict[str, Any]):
    with serve_github_api() as api:
        api.labels = ["Waiting"]
        api.add_issue(title="Saving crashes", body=VAGUE)
        run(api, Trigger.OPENED, **policy)
        assert labels(api) == ([] if policy else ["Waiting"])
        run(api, Trigger.REQUESTED, **policy)
        assert labels(api) == ([] if policy else ["Waiting"])
        answer(api)
        run(api, Trigger.EDITED, **policy)
        assert labels(api) == []
        writes = [line for line in api.request_lines() if "/labels" in line and not line.startswith("GET")]
        below = f"/repos/{SLUG}/issues/7/labels"
        assert writes == ([] if policy else [f"POST {below}", f"DELETE {below}/Waiting"])


@pytest.mark.parametrize("existing", [["bug"], ["bug", "WAITING"]])
def test_a_label_that_the_repository_lacks_is_not_created_and_the_log_says_so(existing: list[str]):
    with serve_github_api() as api:
        api.labels = existing
        api.add_issue(title="Saving crashes", body=VAGUE)
        log = run(api, Trigger.OPENED)
        assert (labels(api), api.created_labels) == (existing, [])
        assert (NO_SUCH_LABEL in log) == (len(existing) == 1)
