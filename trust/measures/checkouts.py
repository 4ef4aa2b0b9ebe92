"""Unusual and hostile checkouts: a whole run over each, which must not disclose files that are not in the commit."""

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
from trust.forked_runs import wait_for_run
from trust.measure import Measure, MeasureResult, sample_evenly

MAX_SECONDS = 120.0
SETUP_ERRORS = frozenset({"settings as link"})
"""These end with exit code 1, an error message and no comment."""
SIDE_BY_SIDE = 2


def run(share: float) -> MeasureResult:
    chosen = sample_evenly(list(CHECKOUTS), share)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        results = list(pool.map(_run_once, chosen))
    failures = [f"{name}: {problem}" for name, (found, _) in zip(chosen, results, strict=True) for problem in found]
    return MeasureResult(len(chosen), failures, f"{max(seconds for _, seconds in results):.0f} s at most")


def _run_once(name: str) -> tuple[list[str], float]:
    with TemporaryDirectory() as folder, serve_all(Path(folder) / "job") as (servers, job):
        shutil.rmtree(job.workspace)
        CHECKOUTS[name](job.workspace)
        began = time.monotonic()
        done = wait_for_run(job, job.start_forked(), MAX_SECONDS)
        seconds = time.monotonic() - began
        return _find_problems(name, job, servers, done, seconds), seconds


def _find_problems(name: str, job: Job, servers: ExternalServices, done: JobResult, seconds: float) -> list[str]:
    comments = json.dumps(servers.comments)
    texts = {"the comment": comments, "the page": done.summary, "the log": done.log, "the outputs": str(done.outputs)}
    with contextlib.suppress(OSError):
        report = job.workspace / done.outputs.get("report-file", "")
        texts["the report"] = report.read_text(encoding="utf-8", errors="replace")
    texts |= {f"a request ({what})": json.dumps(body) for what, body in servers.request_bodies}
    is_setup_error = name in SETUP_ERRORS
    problems = {
        f"exit code {done.exit_code}": done.exit_code != int(is_setup_error),
        f"{len(servers.comments)} comments": len(servers.comments) != int(not is_setup_error),
        "no error message": is_setup_error and done.log.count("::error") != 1,
        "a traceback": "Traceback (most recent call last)" in done.log,
        f"{seconds:.0f} s": seconds > MAX_SECONDS,
        "a program of the checkout ran": trap_was_run(job.workspace),
        "an exception that nobody expected": '"error": "unexpected ' in texts.get("the report", ""),
    }
    disclosed = [f"private text in {where}" for where, text in texts.items() if CANARY in text]
    return [problem for problem, is_wrong in problems.items() if is_wrong] + list(dict.fromkeys(disclosed))


WITHOUT_DEFENCE = ("programs", "links", "neighbours")


def run_without_defence() -> MeasureResult:
    """A program that runs git with its configuration and reads all files."""
    failures: list[str] = []
    for name in WITHOUT_DEFENCE:
        with TemporaryDirectory() as folder, serve_all(Path(folder) / "job") as (servers, job):
            shutil.rmtree(job.workspace)
            CHECKOUTS[name](job.workspace)
            done = JobResult(0, _run_naively(job.workspace), {}, "")
            failures += [
                f"{name}: {words}" for words in _find_problems(name, job, servers, done, 0.0) if "comments" not in words
            ]
    return MeasureResult(len(WITHOUT_DEFENCE), failures)


def _run_naively(root: Path) -> str:
    for command in (["git", "status"], ["git", "log", "-p"], ["git", "diff", "HEAD"]):
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, cwd=root, capture_output=True, timeout=5, check=False)
    texts: list[str] = []
    for path in root.rglob("*"):
        with contextlib.suppress(OSError):
            texts.append(path.read_text(encoding="utf-8", errors="replace") if path.is_file() else "")
    return "\n".join(texts)


MEASURE = Measure(
    "Odd checkouts",
    "all pass",
    "A hostile or unusual checkout: shallow, sparse, links, hooks, damaged objects, bombs. A run must end within two "
    "minutes, run no program of it, and disclose no file that is not in the commit.",
    run,
    run_without_defence,
)
