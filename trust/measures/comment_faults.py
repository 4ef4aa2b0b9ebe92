"""Comments after faults: GitHub loses a response or shows comments late, or the run is killed; then the job runs again.

The server counts the comments.
"""

import functools
import json
import random
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace

from testing.runs.action_run import JobResult
from testing.servers.github_api import SLUG, ApiFault
from trust.concurrent_runs import NUMBER, ConcurrentRuns, KillPoint, RunPlan, serve_shared_issue
from trust.measure import Measure, MeasureResult, sample_evenly

SIDE_BY_SIDE = 10
"""Runs mostly wait."""
HANG_SECONDS = 90.0
LONG_SECONDS = 60
"""For a run that waits until its connection times out, and then reads the comments."""
SHORT_SECONDS = 3
SILENT = "stored, then no response"
COMMENT_FAULTS: dict[str, ApiFault | None] = {
    "no fault": None,
    "stored, then 502": ApiFault("", 502, stored=True),
    "stored, then 504": ApiFault("", 504, stored=True),
    "stored, then the connection drops": ApiFault("", stored=True),
    SILENT: ApiFault("", stored=True, delay_seconds=HANG_SECONDS),
    "502, not stored": ApiFault("", 502),
    "connection drops, not stored": ApiFault(""),
}
LAGGING_SCHEDULES = 24
MAX_LAG = 4
"""Lists of a run that lack a new comment. What a run does not see any more, the next one does."""
LATER_REQUESTS = 6
"""Number of requests after those of a plain run at which a run is killed. Even later ones only look again."""
SMALL = 0.05
"""Below this share, the schedules with kills are left out: they need the number of requests of each run."""


@dataclass(frozen=True)
class Schedule:
    fault: str
    runs: int
    kill: KillPoint | None = None
    seed: int | None = None
    """Three runs with lists that lag, each with a fault by chance."""

    @property
    def name(self) -> str:
        if self.seed is not None:
            return f"three runs at once, lost responses and lists that lag, number {self.seed}"
        killed = f", killed {'after' if self.kill.after else 'before'} request {self.kill.request}" if self.kill else ""
        return f"{self.fault}{', two runs at once' if self.runs > 1 else ''}{killed}"


def run(share: float) -> MeasureResult:
    chosen = sample_evenly(
        _list_schedules() if share >= SMALL else [Schedule(fault, 1) for fault in COMMENT_FAULTS], share
    )
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        problems = [words for found, _ in pool.map(run_schedule, chosen) for words in found]
    return MeasureResult(len(chosen), problems)


def _list_schedules() -> list[Schedule]:
    plain = [Schedule(fault, runs) for runs in (1, 2) for fault in COMMENT_FAULTS]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        asked = dict(zip(plain, (count for _, count in pool.map(run_schedule, plain)), strict=True))
    whole = [schedule for schedule in plain if schedule.fault != SILENT]
    killed = [
        Schedule(schedule.fault, schedule.runs, KillPoint(request, after))
        for schedule in whole  # A kill while it waits equals a kill after the comment is stored.
        for request in _list_kill_requests(schedule, asked[plain[0]], asked[schedule])
        for after in (False, True)
    ]
    return plain + killed + LAGGING


def _list_kill_requests(schedule: Schedule, asked_without_fault: int, asked: int) -> range:
    first = 1 if COMMENT_FAULTS[schedule.fault] is None else asked_without_fault - 1
    return range(first, min(asked, asked_without_fault + LATER_REQUESTS) + 1)


@functools.cache
def run_schedule(schedule: Schedule) -> tuple[list[str], int]:
    """Returns the problems, and the largest number of requests of a run."""
    if schedule.seed is not None:
        return _run_lagging_schedule(schedule), 0
    with serve_shared_issue() as issue:
        barrier = threading.Barrier(schedule.runs) if schedule.runs > 1 else None
        kills = [schedule.kill, *([None] * (schedule.runs - 1))]
        seconds = LONG_SECONDS if schedule.fault == SILENT else SHORT_SECONDS
        plans = [RunPlan(COMMENT_FAULTS[schedule.fault], kill, barrier, seconds) for kill in kills]
        done = issue.run(*plans)
        problems = [] if schedule.kill else _find_problems(issue, schedule, "at first", done)
        again = issue.run(RunPlan())
        asked = max(plan.request_count for plan in plans)
        return problems + _find_problems(issue, schedule, "after a re-run", again), asked


def _run_lagging_schedule(schedule: Schedule) -> list[str]:
    chance = random.Random(schedule.seed)
    faults = [fault for name, fault in COMMENT_FAULTS.items() if name != SILENT]
    with serve_shared_issue() as issue:
        issue.api.list_lag = lambda: chance.randint(0, MAX_LAG)
        barrier = threading.Barrier(schedule.runs)
        plans = [
            RunPlan(fault and replace(fault), None, barrier, LONG_SECONDS)
            for fault in chance.choices(faults, k=schedule.runs)
        ]
        issue.run(*plans)
        issue.api.hidden_comments.clear()
        issue.api.list_lag = lambda: 0
        return _find_problems(issue, schedule, "after a re-run", issue.run(RunPlan()))


def _find_problems(issue: ConcurrentRuns, schedule: Schedule, when: str, done: list[JobResult]) -> list[str]:
    count, others = len(issue.our_comments), len(issue.api.comments) - len(issue.our_comments)
    problems = [f"{schedule.name}: {count} comments {when}"] if count != 1 else []
    if others != 1:
        problems.append(f"{schedule.name}: somebody else's comment is gone {when}")
    failed = [one for one in done if one.exit_code or "Traceback (most recent call last)" in one.log]
    return problems + [f"{schedule.name}: exit code {one.exit_code} {when}" for one in failed]


LAGGING = [Schedule("", 3, seed=seed) for seed in range(LAGGING_SCHEDULES)]


def run_without_defence() -> MeasureResult:
    """Posts a comment as an HTTP library does that repeats each failed request."""
    cases = [
        Schedule(fault, 1) for fault in ("stored, then 502", "stored, then 504", "stored, then the connection drops")
    ]
    problems: list[str] = []
    for schedule in cases:
        with serve_shared_issue() as issue:
            _post_with_retries(issue, issue.add_run(RunPlan(COMMENT_FAULTS[schedule.fault])))
            problems += _find_problems(issue, schedule, "without a defence", [])
    return MeasureResult(len(cases), problems)


def _post_with_retries(issue: ConcurrentRuns, token: str) -> None:
    url = f"{issue.api.url}/repos/{SLUG}/issues/{NUMBER}/comments"
    headers = {"authorization": f"Bearer {token}", "user-agent": "naive"}
    request = urllib.request.Request(url, json.dumps({"body": "words"}).encode(), headers)
    for _ in range(3):
        with suppress(OSError), urllib.request.urlopen(request, timeout=5):
            return


MEASURE = Measure(
    "Comments after faults",
    "exactly 1",
    "Lost responses, kills, runs at the same time; with lists that lag, one run more: the server counts the comments.",
    run,
    run_without_defence,
)
