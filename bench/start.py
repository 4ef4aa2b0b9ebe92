"""Measures how long the action takes to skip an event, and a run by rules to reach its first agent.

Needs the standard library and git only, so that it also runs inside the image.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

SOURCE = "class Basket:\n    def total(self, prices):\n        return sum(prices[name] for name in self.names)\n"
ISSUE = '# Crash\n\nTraceback (most recent call last):\n  File "basket.py", line 3, in total\nKeyError: 1\n'


class Sample(NamedTuple):
    seconds: float
    cpu_seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--app", type=Path, default=Path(__file__).parents[1], help="folder of entrypoint.py")
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        prepare(work)
        print("until | seconds, least | median | of all cores, least | median")
        for name, measure in {"a push is skipped": measure_skip, "the first agent runs": measure_first_agent}.items():
            measure(options.app, work)
            samples = [measure(options.app, work) for _ in range(options.runs)]
            cells = [
                f"{least(column):.2f}" for column in zip(*samples, strict=True) for least in (min, statistics.median)
            ]
            print(" | ".join([name, *cells]), flush=True)


def prepare(work: Path) -> None:
    (work / "repo").mkdir()
    (work / "repo" / "basket.py").write_text(SOURCE)
    (work / "issue.md").write_text(ISSUE)
    (work / "event.json").write_text(json.dumps({"ref": "refs/heads/main"}))
    for name in ("output", "summary"):
        (work / name).touch()
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *who, *words], cwd=work / "repo", check=True)


def measure_skip(app: Path, work: Path) -> Sample:
    """Seconds from the start of the process to its end."""
    variables = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "push",
        "GITHUB_EVENT_PATH": str(work / "event.json"),
        "GITHUB_OUTPUT": str(work / "output"),
        "GITHUB_REPOSITORY": "bench/bench",
        "GITHUB_STEP_SUMMARY": str(work / "summary"),
        "INPUT_GITHUB-TOKEN": "none",
    }
    command = ["env", "--block-signal=INT,TERM", sys.executable, "-I", "-u", str(app / "entrypoint.py")]
    return measure(command, variables, work, lambda _: False)


def measure_first_agent(app: Path, work: Path) -> Sample:
    """Seconds from the start of the process until the first agent runs: the issue is read and the code is indexed."""
    words = ["run", "--repo", str(work / "repo"), "--issue", str(work / "issue.md"), "--engine", "rules", "--verbose"]
    command = [sys.executable, "-m", "triage", *words]
    return measure(command, {"PYTHONPATH": str(app)}, work, lambda line: line.endswith("investigator started"))


def measure(command: list[str], variables: dict[str, str], work: Path, is_end: Callable[[str], bool]) -> Sample:
    environment = {"PATH": os.environ["PATH"], "HOME": str(work), "LANG": "C.UTF-8"} | variables
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        command, env=environment, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if is_end(line.rstrip()):
                sample = Sample(time.perf_counter() - started, read_cpu_seconds(process.pid))
                process.communicate()
                return sample
        process.wait()
    assert process.returncode == 0, command
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Sample(time.perf_counter() - started, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def read_cpu_seconds(process: int) -> float:
    """Of the process and of its children that have ended (proc(5): utime, stime, cutime, cstime)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
