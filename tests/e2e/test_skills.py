"""The whole action on a checkout with skills."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testing import factories
from testing.checkouts.git_repositories import write
from testing.runs.external_services import MODEL_ANSWERS
from testing.runs.in_process_job import InProcessJob, set_up_job
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion

PATH = ".github/triage/skills/prices.md"
SKILL = """\
---
description: Prices of fruit
when:
  {when}
---
# Prices and baskets

Look at [the list](../../../docs/prices.md), never at `.env` or `../../../../etc/passwd`.

## Steps
1. Ask which fruit has no price.
"""
FILES = {
    "docs/prices.md": "A pear has no price in winter.\n",
    ".env": "API_KEY=canary-of-the-env-file\n",
    ".github/triage/skills/broken.md": "---\nwhat: x\n---\ny\n",
}


@pytest.fixture
def job(tmp_path: Path) -> Iterator[InProcessJob]:
    with set_up_job(tmp_path) as job:
        yield job


def commit_skill(job: InProcessJob, when: str, header: str = "") -> None:
    write(job.job.workspace, FILES | {PATH: SKILL.format(when=when).replace("\n---\n#", f"\n{header}---\n#")})
    job.job.commit()
    write(job.job.workspace, {PATH: SKILL.format(when="words: [nothing]").replace("Prices and", "Not committed")})


def test_a_security_report_shows_no_skill(job: InProcessJob):
    commit_skill(job, "words: [basket]")
    job.github.add_issue(
        title="Security vulnerability: basket allows remote code execution",
        body="CVE-2026-1234: an attacker can execute arbitrary code through the basket. Proof of concept below.",
    )
    job.job.write_event()
    done = job.run(engine="rules")
    assert job.report["security"]
    assert job.report["skills"] == []
    for text in (job.comment, done.summary):
        assert "Prices and baskets" not in text


def test_a_model_that_asks_for_a_skill_gets_it_on_the_wire(job: InProcessJob):
    commit_skill(job, "labels: [fruit]")
    seen: list[tuple[str, list[dict[str, Any]]]] = []

    def answer(request: ReceivedRequest) -> ScriptedReply | None:
        schema = request.body.get("response_format", {}).get("json_schema", {}).get("name", "other")
        seen.append((schema, request.body["messages"]))
        if schema == "CritiqueFinding" and [name for name, _ in seen].count(schema) == 1:
            return chat_completion(factories.critique("UNCERTAIN", summary="SKILL_SELECT:{prices}").model_dump_json())
        return chat_completion(MODEL_ANSWERS[schema].model_dump_json()) if schema in MODEL_ANSWERS else None

    job.model = answer
    done = job.run()
    assert done.exit_code == 0, done.log
    first, second = [messages for name, messages in seen if name == "CritiqueFinding"]
    assert second[: len(first)] == first, "the first prompt is its head, which a provider has cached"
    assert "- prices: Prices of fruit" in first[1]["content"]
    skill = second[-1]["content"]
    assert skill.startswith("=== Skill Activated: prices ===\n\n<<project's skill ")
    assert "## Reference: docs/prices.md\nA pear has no price in winter." in skill
    assert "## Context\nSuspects so far:\n- shop/basket.py:5-6 (Basket)" in skill
    everything = repr(seen)
    assert "canary-of-the-env-file" not in everything
    assert "root:" not in everything
    assert job.report["active_skills"] == {"prices": 3}
    assert job.report["injected_skill_ids"] == ["prices"]
    assert job.report["verdict"] == "CONFIRMED"
    assert "asked for by the critic" in done.summary
