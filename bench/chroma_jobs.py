"""Measures jobs that share one Chroma server: 20 batches of a backlog begin at the same time.

python -m bench.chroma_jobs REPO --jobs 20 --issues 2
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Annotated

import typer

from testing.runs.backlog_simulation import simulate_backlog
from tests.code.chroma_server import run_chroma_server


def main(
    repo: Annotated[Path, typer.Argument(help="Checkout or bare repository.")],
    jobs: Annotated[int, typer.Option()] = 20,
    issues: Annotated[int, typer.Option(help="Issues of each job.")] = 2,
) -> None:
    with tempfile.TemporaryDirectory() as folder, simulate_backlog(repo, Path(folder, "backlog")) as backlog:
        backlog.add_issues(jobs * issues)
        backlog.list("--query", "is:open", "--batch-size", str(issues))
        for has_server in (False, True):
            for file in backlog.folder.glob("results-*"):
                file.unlink()
            with run_chroma_server(Path(folder, "chroma")) if has_server else nullcontext("") as url:
                variables = {**os.environ, **backlog.environment, **({"TRIAGE_CHROMA_URL": url} if url else {})}
                print(
                    f"{'one Chroma server' if url else 'vectors in memory'}: {_run(backlog.folder, repo, jobs, variables)}"
                )


def _run(folder: Path, repo: Path, jobs: int, variables: dict[str, str]) -> str:
    started = time.perf_counter()
    command = [sys.executable, "-m", "triage", "backlog", "run", str(folder), "--repo", str(repo), "--batch"]
    running = [
        subprocess.Popen([*command, str(batch)], env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for batch in range(1, jobs + 1)
    ]
    peak = 0
    while any(process.poll() is None for process in running):
        peak = max(peak, _read_server_kilobytes())
        time.sleep(0.2)
    seconds = time.perf_counter() - started
    done = sum(json.loads(process.communicate()[0] or b'{"done": 0}')["done"] for process in running)
    reports = [
        record["report"]
        for file in folder.glob("results-*.jsonl")
        for record in map(json.loads, filter(None, file.read_text(encoding="utf-8").splitlines()))
        if "report" in record
    ]
    notes = sum(bool((report.get("index") or {}).get("notes")) for report in reports)
    failed = sum(process.returncode != 0 for process in running)
    return (
        f"{jobs} jobs, {done} issues, {seconds:.0f} s, {failed} jobs failed, {notes} reports with a note on the index"
        + (f", server {peak / 1e3:.0f} MB" if peak else "")
    )


def _read_server_kilobytes() -> int:
    """Peak memory of Chroma's server on this machine; 0 without one."""
    peak = 0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if b"chromadb_rust_bindings" in (process / "cmdline").read_bytes():
                found = re.search(r"^VmHWM:\s+(\d+)", (process / "status").read_text(encoding="ascii"), re.M)
                peak = max(peak, int(found[1]) if found else 0)
    return peak


if __name__ == "__main__":
    typer.run(main)
