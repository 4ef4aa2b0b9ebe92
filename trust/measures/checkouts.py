"""Odd and hostile checkouts: a whole run over each, with a model that must not be shown what is not of the commit."""

import contextlib
import json
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from testing.checkouts.hostile import CANARY, CHECKOUTS, trap_was_run
from testing.runs.external_services import ExternalServices, serve_all
from testing.runs.job import Job, JobResult
from trust.forked_runs import start_run, wait_for_run
from trust.measure import Measure, MeasureResult
from trust.sampling import sample_evenly

MAX_SECONDS = 120.0
SETUP_ERRORS = frozenset({"settings as link"})
"""What somebody must mend ends with exit code 1 and a line that says so, and no comment."""
SIDE_BY_SIDE = 2


def run(share: float) -> MeasureResult:
    """Each checkout once."""
    chosen = sample_evenly(list(CHECKOUTS), share)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        tried = list(pool.map(_tried, chosen))
    failures = [f"{name}: {words}" for name, (found, _) in zip(chosen, tried, strict=True) for words in found]
    return MeasureResult(len(chosen), failures, f"{max(seconds for _, seconds in tried):.0f} s at most")


def _tried(name: str) -> tuple[list[str], float]:
    with TemporaryDirectory() as folder, serve_all(Path(folder) / "job") as (servers, job):
        shutil.rmtree(job.workspace)
        CHECKOUTS[name](job.workspace)
        began = time.monotonic()
        done = wait_for_run(job, start_run(job), MAX_SECONDS)
        seconds = time.monotonic() - began
        return _wrong(name, job, servers, done, seconds), seconds


def _wrong(name: str, job: Job, servers: ExternalServices, done: JobResult, seconds: float) -> list[str]:
    comments = json.dumps(servers.comments)
    told = {"the comment": comments, "the page": done.summary, "the log": done.log, "the outputs": str(done.outputs)}
    told["the report"] = _report(job, done)
    told |= {f"a request ({what})": json.dumps(body) for what, body in servers.request_bodies}
    to_mend = name in SETUP_ERRORS
    complaints = {
        f"exit code {done.exit_code}": done.exit_code != int(to_mend),
        f"{len(servers.comments)} comments": len(servers.comments) != int(not to_mend),
        "nothing is said to mend": to_mend and done.log.count("::error") != 1,
        "a traceback": "Traceback (most recent call last)" in done.log,
        f"{seconds:.0f} s": seconds > MAX_SECONDS,
        "a program of the checkout was run": trap_was_run(job.workspace),
    }
    leaks = [f"private words in {where}" for where, text in told.items() if CANARY in text]
    return [words for words, is_wrong in complaints.items() if is_wrong] + list(dict.fromkeys(leaks))


def _report(job: Job, done: JobResult) -> str:
    with contextlib.suppress(OSError):
        return (job.workspace / done.outputs.get("report-file", "")).read_text(encoding="utf-8", errors="replace")
    return ""


BLIND = ("programs", "links", "neighbours")


def run_without_defence() -> MeasureResult:
    """A program that asks git as it is configured, and reads every file that it comes by."""
    failures: list[str] = []
    for name in BLIND:
        with TemporaryDirectory() as folder, serve_all(Path(folder) / "job") as (servers, job):
            shutil.rmtree(job.workspace)
            CHECKOUTS[name](job.workspace)
            done = JobResult(0, _naive(job.workspace), {}, "")
            failures += [
                f"{name}: {words}" for words in _wrong(name, job, servers, done, 0.0) if "comments" not in words
            ]
    return MeasureResult(len(BLIND), failures)


def _naive(root: Path) -> str:
    for command in (["git", "status"], ["git", "log", "-p"], ["git", "diff", "HEAD"]):
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, cwd=root, capture_output=True, timeout=5, check=False)
    read: list[str] = []
    for place in root.rglob("*"):
        with contextlib.suppress(OSError):
            read.append(place.read_text(encoding="utf-8", errors="replace") if place.is_file() else "")
    return "\n".join(read)


MEASURE = Measure(
    "Odd checkouts",
    "all pass",
    "A whole run with a model over an odd or hostile checkout: none, shallow, sparse, submodules, worktrees, links, "
    "configuration and hooks that want programs run, damaged objects, bombs; it must end within two minutes with one "
    "comment (or a line that says what to mend), run no program of the checkout, and show nobody what is not of the "
    "commit.",
    run,
    run_without_defence,
)
