"""The whole fix flow over HTTP: from `/triage fix` to a draft pull request, job by job, with real git behind GitHub."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.runs.fix_workflow import (
    BASKET,
    EXAMPLE,
    EXAMPLE_FILES,
    FIXED,
    FixWorkflow,
    serve_fix_workflow,
)
from tests.e2e.test_security_reports import BODY, TITLE, WORDS
from triage.say.comment import compose_comment
from triage.say.hidden_state import CommentState, Reproduced, hash_example


@pytest.fixture
def workflow(tmp_path: Path) -> Iterator[FixWorkflow]:
    with serve_fix_workflow(tmp_path) as running:
        yield running


def test_from_a_comment_to_a_draft_pull_request(workflow: FixWorkflow) -> None:
    workflow.say("/triage fix")
    assert workflow.run("gate")["next-job"] == "propose"

    proposed = workflow.propose()
    assert (proposed["next-job"], proposed["result-file"]) == ("store", ".triage/propose-result.json")
    assert int(proposed["tokens"]) > 0
    assert "## Proposed changes" in workflow.summary
    assert workflow.api.request_lines("POST /repos") == []

    frozen = workflow.run("store")
    assert frozen["proposal-status"] == "awaiting"
    assert workflow.show(frozen["proposal-sha"], "shop/basket.py") == FIXED
    assert workflow.show(frozen["proposal-test-sha"], "shop/basket.py") == BASKET
    assert "test_a_missing_price" in workflow.show(frozen["proposal-test-sha"], "tests/test_basket.py")
    assert list(workflow.git.refs) == ["refs/heads/main", f"refs/triage/proposals/7/{frozen['proposal-id']}"]

    workflow.run("report", proposal_tests="proved")
    comment = workflow.our_comment
    assert f"`/triage approve {frozen['proposal-id']}`" in comment
    assert "fails without this change" in comment
    assert "+        return sum(prices.get(name, 0) for name in self.names)" in comment
    assert workflow.reactions == ["rocket"]

    workflow.say(f"/triage approve {frozen['proposal-id']}")
    assert workflow.run("gate")["next-job"] == "apply"
    applied = workflow.run("apply")
    assert applied["proposal-status"] == "approved"
    branch = "triage/7-keyerror-when-a-price-is-missing"
    assert f"Approved: branch {branch} at commit {frozen['proposal-sha']}." in workflow.log, "it passed the gate"
    (pull,) = workflow.pulls.pulls
    assert pull["draft"] is True
    assert pull["head"]["ref"] == branch
    assert workflow.git.refs[f"refs/heads/{branch}"] == frozen["proposal-sha"]
    assert not [name for name in workflow.git.refs if name.startswith("refs/triage/")]
    assert pull["title"] == "[#7] KeyError when a price is missing"
    assert "fails without this change" in pull["body"]
    assert pull["body"].startswith("**Count a missing price as nothing**\n\n`Basket.total` looks every name up")
    assert "\n- `shop/basket.py` - A missing price" in pull["body"]
    assert applied["pull-request-url"] == pull["html_url"]
    assert pull["html_url"] in workflow.our_comment
    kept = workflow.our_comment.partition("<summary>The change as it was approved</summary>")[2]
    assert "```diff" in kept
    assert "/triage approve" not in kept


def show_example(workflow: FixWorkflow, example: str) -> None:
    workflow.api.issues[7]["body"] = f"It crashes.\n\n```python\n{example}```\n\n```\nKeyError: 'pear'\n```\n"


@pytest.fixture
def with_example(tmp_path: Path) -> Iterator[FixWorkflow]:
    with serve_fix_workflow(tmp_path, EXAMPLE_FILES) as running:
        show_example(running, EXAMPLE)
        yield running


def list_prompts(workflow: FixWorkflow, schema: str) -> list[str]:
    """What the model was asked in this form."""
    asked = [json.dumps(request.body) for request in workflow.requests]
    return [text for text in asked if f'"name": "{schema}"' in text]


def add_reproduction(workflow: FixWorkflow, code: str) -> None:
    """Our comment says what a run of this code did."""
    state = CommentState(reproduced=Reproduced(example=hash_example(code), fails=True))
    said = "**Still happens on `main`.**\n\n| ends in | [`shop/basket.py:3`](x) |\n\n<details>the code</details>"
    workflow.api.add_comment(compose_comment("", state, {"reproduction": said}, ["x"]), "github-actions[bot]")


def test_of_a_security_report_the_job_with_the_model_says_nothing(workflow: FixWorkflow) -> None:
    workflow.api.issues[7] |= {"title": TITLE, "body": BODY}
    workflow.say("/triage fix")
    workflow.run("gate")
    outputs = workflow.propose()
    report = (workflow.folder / "checkout" / ".triage" / "report.json").read_text()
    assert (outputs["severity"], outputs["suspect-files"]) == ("", "[]")
    said = [str(outputs), workflow.summary, workflow.log, report]
    assert [word for text in said for word in WORDS if word in text] == []


def test_the_example_of_the_report_is_what_the_model_starts_from_and_what_verify_runs(
    with_example: FixWorkflow,
) -> None:
    workflow = with_example
    add_reproduction(workflow, "import shop\nshop.other()\n")
    workflow.say("/triage fix")
    workflow.propose()
    for schema in ("CodeChanges", "TestChanges"):
        (prompt,) = list_prompts(workflow, schema)
        shown = prompt.partition("<<the report's example")[2]
        assert "print(basket.total({}))" in shown
        assert "The report shows:\\nKeyError: 'pear'" in shown
        assert "Still happens on" not in shown, "it ran other code"
    assert (workflow.folder / "checkout/.triage/example.txt").read_text() == EXAMPLE
    stored = workflow.run("store")
    assert workflow.verify(stored) == "proved"
    assert not list(workflow.folder.rglob("pwned")), "no shell has read it"
    workflow.run("report", proposal_tests="proved")
    sentence = "The report's example failed before and passes with this change."
    assert f"\n**Example.** {sentence}" in workflow.our_comment
    workflow.say(f"/triage approve {stored['proposal-id']}")
    workflow.run("apply")
    assert f"\n- **Example:** {sentence}" in workflow.pulls.pulls[0]["body"]


def test_what_a_run_on_the_default_branch_said_is_known_to_the_model(with_example: FixWorkflow) -> None:
    workflow = with_example
    add_reproduction(workflow, EXAMPLE)
    workflow.say("/triage fix")
    workflow.propose()
    (prompt,) = list_prompts(workflow, "TestChanges")
    assert "Still happens on `main`." in prompt
    assert "shop/basket.py:3" in prompt
    assert "the code</details>" not in prompt
