"""Unusual and hostile checkouts: a whole run over each, and each command over those that lead elsewhere."""

import contextlib
import json
import os
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from testing import command_line
from testing.checkouts.hostile import CANARY, CHECKOUTS, trap_was_run
from testing.runs import sample_bug
from testing.runs.action_run import JobResult
from testing.runs.external_services import ExternalServices, serve_all
from testing.runs.forked_process import ForkedProcess, run_command
from testing.runs.job import Job
from trust.forked_runs import wait_for_run
from trust.measure import Measure, MeasureResult, sample_evenly

MAX_SECONDS = 120.0
SETUP_ERRORS = frozenset({"settings as link"})
"""These end with exit code 1, an error message and no comment."""
SIDE_BY_SIDE = 2
ISSUE = f"# {sample_bug.TITLE}\n\n{sample_bug.BODY}\n\n```python\nimport shop\n\nshop.total([])\n```\n"
COMMANDS = {
    "run": "run --engine rules --issue - --repo",
    "reproduce": "reproduce --issue - --repo",
    "fix": "fix --issue - --repo",
    "backtest": "backtest --last 1 --repo",
    "locate": "locate",
    "doctor": "doctor --repo",
}
TRAPS = (
    *("programs", "hooks", "promisor", "includes", "work tree elsewhere", "embedded bare", "git entries", "alternates"),
    *("git is a link", "git is a file", "common folder elsewhere", "neighbours", "links"),
)
"""Checkouts that lead to programs, or to files and repositories outside of them."""
DOCKER = f'#!/bin/sh\nfor last; do :; done\ngrep -rqs {CANARY} "$last" && echo {CANARY} >>"$0.told"\nexit 0\n'
"""A program that does nothing, and remembers whether it got what is private."""


def run(share: float) -> MeasureResult:
    cases = [*((name, "") for name in CHECKOUTS), *((name, command) for name in TRAPS for command in COMMANDS)]
    chosen = sample_evenly(cases, share)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        results = list(pool.map(lambda case: _try_command(*case) if case[1] else _run_once(case[0]), chosen))
    failures = [
        f"{' '.join(case).strip()}: {problem}"
        for case, (found, _) in zip(chosen, results, strict=True)
        for problem in found
    ]
    return MeasureResult(len(chosen), failures, f"{max(seconds for _, seconds in results):.0f} s at most")


def _try_command(name: str, command: str) -> tuple[list[str], float]:
    with TemporaryDirectory() as folder, serve_all(Path(folder) / "job") as (_, job):
        words, environment = _prepare(name, command, job)
        streams = [job.folder / stream for stream in ("in", "out", "err")]
        streams[0].write_text(ISSUE, encoding="utf-8")
        began = time.monotonic()
        process = ForkedProcess(run_command, words, environment, job.folder, streams)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(MAX_SECONDS)
        process.kill()
        code, seconds = process.wait(), time.monotonic() - began
        told = "".join(one.read_text(errors="replace") for one in [*streams[1:], *job.folder.glob("docker.told")])
        problems = {
            f"exit code {code}, {seconds:.0f} s": code not in (0, 1, 2),
            "a traceback": "Traceback (most recent call last)" in told,
            "a program of the checkout ran": trap_was_run(job.workspace),
            "private text": CANARY in told,
        }
        return [problem for problem, is_wrong in problems.items() if is_wrong], seconds


def _prepare(name: str, command: str, job: Job) -> tuple[list[str], dict[str, str]]:
    """Returns the words of a command over a checkout, and its variables."""
    shutil.rmtree(job.workspace)
    CHECKOUTS[name](job.workspace)
    docker = job.folder / "docker"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    (job.folder / "home" / ".gitconfig").write_text("[user]\nname = mona\nemail = mona@example.com\n")
    environment = {
        "PATH": f"{job.folder}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(job.folder / "home"),
        "TRIAGE_MODEL_API_KEY": job.inputs["model-api-key"],
        "TRIAGE_MODEL_BASE_URL": job.inputs["model-base-url"],
    }
    return [*COMMANDS[command].split(), str(job.workspace)], environment


def _run_once(name: str) -> tuple[list[str], float]:
    with TemporaryDirectory() as folder, serve_all(Path(folder) / "job") as (servers, job):
        shutil.rmtree(job.workspace)
        CHECKOUTS[name](job.workspace)
        began = time.monotonic()
        done = wait_for_run(job, job.start_forked(), MAX_SECONDS)
        seconds = time.monotonic() - began
        return _find_problems(name, job, servers, done, seconds), seconds


def _find_problems(name: str, job: Job, servers: ExternalServices, done: JobResult, seconds: float) -> list[str]:
    comments = json.dumps(servers.github.comments)
    texts = {"the comment": comments, "the page": done.summary, "the log": done.log, "the outputs": str(done.outputs)}
    with contextlib.suppress(OSError):
        report = job.workspace / done.outputs.get("report-file", "")
        texts["the report"] = report.read_text(encoding="utf-8", errors="replace")
    texts |= {f"a request ({what})": json.dumps(body) for what, body in servers.request_bodies}
    is_setup_error = name in SETUP_ERRORS
    problems = {
        f"exit code {done.exit_code}": done.exit_code != int(is_setup_error),
        f"{len(servers.github.comments)} comments": len(servers.github.comments) != int(not is_setup_error),
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
    """A program that runs git with its configuration and reads all files, and a command that opens git without care.

    Returns no failure unless a program ran for this command.
    """
    failures: list[str] = []
    for name in WITHOUT_DEFENCE:
        with TemporaryDirectory() as folder, serve_all(Path(folder) / "job") as (servers, job):
            shutil.rmtree(job.workspace)
            CHECKOUTS[name](job.workspace)
            done = JobResult(0, _run_naively(job.workspace), {}, "")
            failures += [
                f"{name}: {words}" for words in _find_problems(name, job, servers, done, 0.0) if "comments" not in words
            ]
    careless = {
        "triage.git.git._SAFE_SETTINGS": (),
        "triage.reproduce.environments.source.isolate": lambda git: git,
    }
    with (
        TemporaryDirectory() as folder,
        serve_all(Path(folder) / "job") as (_, job),
        contextlib.ExitStack() as stack,
    ):
        for defence, replacement in careless.items():
            stack.enter_context(patch(defence, replacement))
        command_line.run_command(*_prepare("programs", "reproduce", job), job.folder, ISSUE)
        if not trap_was_run(job.workspace):
            return MeasureResult(len(WITHOUT_DEFENCE))
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
    "Shallow, sparse, links, hooks, programs, large files: no end in two minutes, a program of it that ran, a file "
    "that is not in the commit.",
    run,
    run_without_defence,
)
