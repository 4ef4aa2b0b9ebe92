"""Comments after each schedule of faults: the whole program before a GitHub that loses answers, killed at each request.

Counted at the server, after the same job was run once more.
"""

import functools
import json
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from testing.runs.job import JobResult
from testing.servers.github_api import SLUG, ApiFault
from trust.concurrent_runs import NUMBER, ConcurrentRuns, KillPoint, RunPlan, serve_shared_issue
from trust.measure import Measure, MeasureResult
from trust.sampling import sample_evenly

SIDE_BY_SIDE = 10
"""Runs wait far more than they work."""
HANG_SECONDS = 90.0
PATIENT_SECONDS = 60
"""For a run that waits for an answer until its connection gives up, and then looks."""
HASTY_SECONDS = 3
SILENT = "stored, then no answer"
COMMENT_FAULTS: dict[str, ApiFault | None] = {
    "no fault": None,
    "stored, then 502": ApiFault("", 502, stored=True),
    "stored, then 504": ApiFault("", 504, stored=True),
    "stored, then the line drops": ApiFault("", stored=True),
    SILENT: ApiFault("", stored=True, delay_seconds=HANG_SECONDS),
    "502, not stored": ApiFault("", 502),
    "a dropped line, not stored": ApiFault(""),
}
SMALL = 0.05
"""Below this share the requests of each schedule are not counted out first."""


@dataclass(frozen=True)
class Schedule:
    """One case."""

    lost: str
    runs: int
    kill: KillPoint | None = None

    @property
    def name(self) -> str:
        """In words."""
        killed = f", killed {'after' if self.kill.after else 'before'} request {self.kill.request}" if self.kill else ""
        return f"{self.lost}{', two runs at once' if self.runs > 1 else ''}{killed}"


def run(share: float) -> MeasureResult:
    """Try a share of the schedules."""
    chosen = sample_evenly(_all() if share >= SMALL else [Schedule(lost, 1) for lost in COMMENT_FAULTS], share)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        complaints = [words for wrong, _ in pool.map(run_schedule, chosen) for words in wrong]
    return MeasureResult(len(chosen), complaints)


def _all() -> list[Schedule]:
    """No fault and each fault, one run and two, undisturbed and killed at each request from the fault on."""
    plain = [Schedule(lost, runs) for runs in (1, 2) for lost in COMMENT_FAULTS]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        asked = dict(zip(plain, (count for _, count in pool.map(run_schedule, plain)), strict=True))
    whole = [schedule for schedule in plain if schedule.lost != SILENT]
    killed = [
        Schedule(schedule.lost, schedule.runs, KillPoint(request, after))
        for schedule in whole  # killed while it waits is the same as killed after it was stored
        for request in range(1 if COMMENT_FAULTS[schedule.lost] is None else asked[plain[0]] - 1, asked[schedule] + 1)
        for after in (False, True)
    ]
    return plain + killed


@functools.cache
def run_schedule(schedule: Schedule) -> tuple[list[str], int]:
    """What is wrong at the end, and how many requests the longest run made."""
    with serve_shared_issue() as issue:
        meeting = threading.Barrier(schedule.runs) if schedule.runs > 1 else None
        kills = [schedule.kill, *([None] * (schedule.runs - 1))]
        seconds = PATIENT_SECONDS if schedule.lost == SILENT else HASTY_SECONDS
        fates = [RunPlan(COMMENT_FAULTS[schedule.lost], kill, meeting, seconds) for kill in kills]
        done = issue.run(*fates)
        complaints = [] if schedule.kill else _wrong(issue, schedule, "at first", done)
        again = issue.run(RunPlan())
        asked = max(fate.request_count for fate in fates)
        return complaints + _wrong(issue, schedule, "after a re-run", again), asked


def _wrong(issue: ConcurrentRuns, schedule: Schedule, when: str, done: list[JobResult]) -> list[str]:
    count, others = len(issue.our_comments), len(issue.api.comments) - len(issue.our_comments)
    complaints = [f"{schedule.name}: {count} comments {when}"] if count != 1 else []
    if others != 1:
        complaints.append(f"{schedule.name}: somebody else's comment is gone {when}")
    bad = [one for one in done if one.exit_code or "Traceback (most recent call last)" in one.log]
    return complaints + [f"{schedule.name}: exit code {one.exit_code} {when}" for one in bad]


def run_without_defence() -> MeasureResult:
    """A writer that sends again whatever was not answered well, as HTTP libraries do."""
    cases = [Schedule(lost, 1) for lost in ("stored, then 502", "stored, then 504", "stored, then the line drops")]
    complaints: list[str] = []
    for schedule in cases:
        with serve_shared_issue() as issue:
            _naive(issue, issue.add_run(RunPlan(COMMENT_FAULTS[schedule.lost])))
            complaints += _wrong(issue, schedule, "of a naive writer", [])
    return MeasureResult(len(cases), complaints)


def _naive(issue: ConcurrentRuns, token: str) -> None:
    url = f"{issue.api.url}/repos/{SLUG}/issues/{NUMBER}/comments"
    headers = {"authorization": f"Bearer {token}", "user-agent": "naive"}
    request = urllib.request.Request(url, json.dumps({"body": "words"}).encode(), headers)
    for _ in range(3):
        with suppress(OSError), urllib.request.urlopen(request, timeout=5):
            return


MEASURE = Measure(
    "Comments after faults",
    "exactly 1",
    "The whole program by rules before a GitHub that stores a comment and loses the answer (502, 504, a dropped line, "
    "silence), alone and two at once, killed before and after each request, and then run again; the comments at the "
    "server are counted.",
    run,
    run_without_defence,
)
