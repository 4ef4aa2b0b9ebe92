"""Webhook payloads: GitHub's examples and mutated ones, through the real action with a GitHub on loopback."""

import json
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from testing.runner_grammar import parse_commands
from testing.runs import sample_bug
from testing.servers.github_api import SLUG, serve_issue
from testing.webhooks.event_runner import EventResult, EventRunner
from testing.webhooks.example_payloads import Example, load_examples, load_payload, mutate_event_file
from trust.measure import Measure, MeasureResult, sample_evenly

MUTATED = 2_000
SIDE_BY_SIDE = 3
TOGETHER = 40
"""Payloads per task of a process."""
OURS = {"add-mask", "error", "warning", "notice"}
MANUAL_EVENTS = frozenset({"workflow_dispatch", "repository_dispatch", "schedule"})
STATUSES = {"complete", "degraded", "skipped", "failed"}
BODIES: dict[str, str | None] = {
    "null": None,
    "empty": "",
    "blanks": " \t\n" * 1_000,
    "262,144 bytes of emoji": "😀" * 65_536,
    "Windows' line ends": "It fails.\r\n\r\n```\r\nKeyError: 'pear'\r\n```\r\n",
    "returns alone": "It fails.\rKeyError: 'pear'\r" * 2_000,
    "line separators": "It fails.\u2028KeyError: 'pear'\u2029" * 2_000,
    "nulls": "It fails.\0\0\0KeyError" * 1_000,
    "lone surrogates": "It \ud800fails\udfff." * 5_000,
    "right to left": "\u202eלא עובד\u202c \u2066KeyError\u2069 " * 1_000,
    "marks without end": "e" + "\u0301" * 65_535,
    "one picture": "![](https://example.com/a.png)",
    "an unanswered form": "### Version\n\n_No response_\n\n### Steps\n\n_No response_\n",
}
"""Bodies of an opened issue, at GitHub and in the payload."""
Case = Example | int | str
"""An example, the seed of a mutated one, or the name of a body."""


def run(share: float) -> MeasureResult:
    chosen = sample_evenly([*BODIES, *load_examples(), *range(MUTATED)], share)
    groups = [chosen[at : at + TOGETHER] for at in range(0, len(chosen), TOGETHER)]
    if len(groups) == 1:
        return MeasureResult(len(chosen), run_cases(groups[0]))
    with ProcessPoolExecutor(SIDE_BY_SIDE, mp_context=get_context("spawn")) as pool:
        return MeasureResult(len(chosen), [problem for found in pool.map(run_cases, groups) for problem in found])


def run_cases(cases: list[Case]) -> list[str]:
    failures: list[str] = []
    with TemporaryDirectory() as folder, serve_issue(sample_bug.TITLE, sample_bug.BODY) as github:
        runner = EventRunner(Path(folder), github)
        for case in cases:
            name, event, content = _payload(case)
            github.comments.clear()
            github.issues.clear()
            body = BODIES[case] if isinstance(case, str) else sample_bug.BODY
            github.add_issue(_number(content) or 7, title=sample_bug.TITLE, body=body)
            failures += [
                f"{name}: {problem}" for problem in find_problems(event, content, partial(runner.run, event, content))
            ]
    return failures


def _payload(case: Case) -> tuple[str, str, bytes]:
    if isinstance(case, int):
        return f"mutated, seed {case}", *mutate_event_file(case)
    if isinstance(case, str):
        opened = load_payload("issues.opened", issue__body=BODIES[case])
        return f"a body: {case}", "issues", json.dumps(opened).encode()
    return f"{case.event}.{case.payload.get('action')}", case.event, json.dumps(case.payload).encode()


def _read(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _number(content: bytes) -> int | None:
    issue = _read(content).get("issue")
    number = issue.get("number") if isinstance(issue, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def may_send_requests(event: str, content: bytes) -> bool:
    """Whether the action may send requests: for an event of an issue that is no pull request, or a manual event."""
    payload = _read(content)
    issue = payload.get("issue")
    if event in MANUAL_EVENTS:
        return True
    if not isinstance(issue, dict) or issue.get("pull_request") is not None or _number(content) is None:
        return False
    starting = {"issues": {"opened", "reopened", "edited", "labeled"}, "issue_comment": {"created"}}
    action = payload.get("action")
    return isinstance(action, str) and action in starting.get(event, set())


def find_problems(event: str, content: bytes, started: Callable[[], EventResult]) -> list[str]:
    done = started()
    below = re.compile(rf"(?:GET|POST|PATCH|DELETE) /repos/{SLUG}(?:/|$)|POST /graphql$")
    of_issue = re.compile(rf"/issues/(?:{_number(content) or 0}|comments/\d+)(?:/|$)")
    writes = [asked for asked in done.requests if not asked.startswith(("GET", "POST /graphql"))]
    commands = parse_commands(done.log)
    problems = {
        f"exit code {done.exit_code}": done.exit_code not in (0, 1),
        "a traceback": "Traceback (most recent call last)" in done.log,
        "an internal error": "Internal error" in done.log,
        f"{len(done.errors)} errors with exit code {done.exit_code}": len(done.errors) != done.exit_code,
        f"{len(done.requests)} requests": bool(done.requests) and not may_send_requests(event, content),
        "a request to another repository": not all(below.match(asked) for asked in done.requests),
        "a write to another issue": not all(of_issue.search(asked) for asked in writes),
        f"{len(writes)} writes": len(writes) > 1,
        "not exactly one summary": done.summary.count("## Bug triage") != 1,
        f"status {done.outputs.get('status')}": done.outputs.get("status") not in STATUSES,
        "an unexpected runner command": any(command.name not in OURS for command in commands),
    }
    return [problem for problem, is_wrong in problems.items() if is_wrong]


def run_without_defence() -> MeasureResult:
    """A program that trusts the payload and sends requests before it checks."""
    cases: list[tuple[str, Any]] = [("issues", {"action": "labeled"}), ("push", {}), ("issues", {"issue": None})]
    failures = [
        problem
        for event, event_payload in cases
        for problem in find_problems(event, json.dumps(event_payload).encode(), partial(_run_naively, event_payload))
    ]
    return MeasureResult(len(cases), failures)


def _run_naively(event_payload: dict[str, Any]) -> EventResult:
    asked = [f"GET /repos/{SLUG}/labels"]
    try:
        asked.append(f"POST /repos/{SLUG}/issues/{event_payload['issue']['number']}/comments")
    except (KeyError, TypeError) as error:
        return EventResult(1, f"Traceback (most recent call last)\n{error!r}", {}, "", asked)
    return EventResult(0, "", {}, "", asked)


MEASURE = Measure(
    "Webhook payloads",
    "all handled",
    "Mutated and unusual payloads: a traceback, a request about another issue, no page, no status.",
    run,
    run_without_defence,
)
