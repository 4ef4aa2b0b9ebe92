"""The whole action on a repository with three hundred past issues, tags and history: what it remembers, and what not."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from testing.runs.action_run import job_variables, run_on_event
from testing.servers.github_api import JOB_TOKEN, SLUG, GitHubApi, serve_github_api
from tests.find.test_code_history import git
from tests.say.sample_reports import EVIL

CODE = '''"""Baskets."""


def total(basket):
    return sum(item.price for item in basket)


def parse_amount(text):
    return float(text.replace(",", "."))
'''
ROUNDED = CODE.replace("sum(item.price for item in basket)", "round(sum(item.price for item in basket), 2)")
TRACE = """Traceback (most recent call last):
  File "{home}/run.py", line {line}, in main
    show(load(path))
  File "{home}/shop/basket.py", line {place}, in parse_amount
    return float(text.replace(",", "."))
ValueError: could not convert string to float: '{amount}'"""
THINGS = [
    "invoice",
    "receipt",
    "voucher",
    "customer",
    "address",
    "currency",
    "discount",
    "warehouse",
    "courier",
    "calendar",
]
FAILURES = ["missing", "duplicated", "truncated", "misaligned", "untranslated", "outdated"]
WHERE = ["printing", "exporting", "searching", "sorting", "archiving"]


@dataclass
class Shop:
    """The checkout, GitHub, and one run."""

    folder: Path
    api: GitHubApi

    def run(self, title: str, body: str, **inputs: str) -> str:
        """Opens an issue, runs the action, and returns the comment; empty without one."""
        self.api.add_issue(
            900, title=title, body=body, created_at="2026-11-20T09:00:00Z", updated_at="2026-11-20T09:00:00Z"
        )
        event = {"action": "opened", "issue": self.api.issues[900], "repository": {"full_name": SLUG}}
        given = {"github_token": JOB_TOKEN, "engine": "rules"} | inputs
        variables = job_variables(self.api.url, "issues", self.folder, self.folder / "shop", **given)
        sent = event | {"sender": {"login": "mona", "type": "User"}}
        done = run_on_event(self.folder, sent, variables | {"HOME": str(self.folder)})
        assert done.exit_code == 0, done.log
        bodies = [comment["body"] for comment in self.api.comments if comment["issue"] == 900]
        assert len(bodies) <= 1
        return bodies[0] if bodies else ""

    @property
    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads((self.folder / "shop" / ".triage" / "report.json").read_text())
        return report

    @property
    def questions(self) -> int:
        """Requests for past issues; one other asks what could be suggested."""
        return len([line for line in self.api.request_lines("POST") if "graphql" in line]) - 1


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    root = tmp_path / "shop"
    (root / "shop").mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    for thing in THINGS:
        (root / "shop" / f"{thing}.py").write_text(f"def print_{thing}({thing}):\n    print({thing}.lines)\n")
    for text, subject, tag, at in (
        (CODE, "Baskets", "v1.0", "2025-01-01T00:00:00Z"),
        (ROUNDED, "Round the total of a basket (#31)", "v1.1", "2026-06-01T00:00:00Z"),
        (ROUNDED.replace("float(", "float(0 or "), "Accept an empty amount", "v1.2", "2026-09-01T00:00:00Z"),
    ):
        (root / "shop" / "basket.py").write_text(text)
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", subject, at=at)
        git(root, "tag", tag)
    with serve_github_api() as api:
        api.labels = ["bug", "printing"]
        for number, (thing, failure, where) in enumerate(product(THINGS, FAILURES, WHERE), 100):
            api.add_issue(
                number,
                title=f"The {thing} is {failure} while {where}",
                body=f"When {where} a {thing} of order {number}, it is {failure}. I expected the {thing} as it was.",
                state="closed" if number % 2 else "open",
                labels=[{"name": "bug"}, {"name": where}],
                created_at="2026-03-01T00:00:00Z",
                updated_at="2026-03-01T00:00:00Z",
            )
        add_past_crash(api)
        yield Shop(tmp_path, api)


def add_past_crash(api: GitHubApi, **changes: Any) -> None:
    trace = TRACE.format(home="/srv/till", line=12, place=9, amount="1.234,50")
    fields = {
        "title": "ValueError in parse_amount for amounts with a thousands separator",
        "body": f"Amounts such as 1.234,50 stop the import:\n\n```\n{trace}\n```\n",
        "state": "closed",
        "state_reason": "completed",
        "created_at": "2026-05-01T00:00:00Z",
        "updated_at": "2026-05-02T00:00:00Z",
        "fixes": [
            {
                "number": 61,
                "oid": "d" * 40,
                "title": "Read separators",
                "at": "2026-05-02T00:00:00Z",
                "milestone": "1.4",
            }
        ],
    }
    api.add_issue(50, **(fields | changes))


def crash(amount: str = "2.000,00") -> str:
    trace = TRACE.format(home="/home/ada/app", line=88, place=9, amount=amount)
    return f"Amounts with a thousands separator such as {amount} stop the import of my shop:\n\n```\n{trace}\n```\n"


CRASH_TITLE = "ValueError in parse_amount: thousands separator in amounts"
DUPLICATE = "**Probably the same as [`#50`](https://redirect.github.com/octo/shop/issues/50)**"


def test_a_duplicate_with_the_same_trace(shop: Shop):
    comment = shop.run(CRASH_TITLE, crash())
    assert comment.rpartition("-->\n")[2].startswith(DUPLICATE)
    assert "(closed, fixed in 1.4): same " in comment
    assert shop.report["speaks"] == "duplicate"
    assert shop.report["past_issues"] == 301
    assert shop.questions == 6
    assert "Similar issues (" in (shop.folder / "summary").read_text()
    writes = [line for line in shop.api.request_lines() if not line.startswith("GET") and "graphql" not in line]
    assert writes == ["POST /repos/octo/shop/issues/900/comments"]


class TestHostilePast:
    def test_orders_and_hidden_text_change_nothing(self, shop: Shop):
        plain = shop.run(CRASH_TITLE, crash())
        shop.api.comments.clear()
        shop.api.issues[50] |= {"title": EVIL[:250], "body": crash() + EVIL * 20}
        for number in range(100, 300):
            shop.api.issues[number] |= {"title": EVIL[:200], "body": EVIL * 5, "labels": [{"name": EVIL[:90]}] * 20}
        comment = shop.run(CRASH_TITLE, crash())
        assert not re.search(r"https?://(?!(redirect\.)?github\.com/octo/shop/)", re.sub(r"`[^`]*`", "", comment))
        assert plain.partition("**The stack")[2].partition("Suggested")[0] in comment
