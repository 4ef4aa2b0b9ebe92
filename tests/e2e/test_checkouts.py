"""Odd checkouts through the whole action: what is told, what is written, and that nothing runs but git."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, write
from testing.checkouts.hostile import CHECKOUTS, trap_was_run
from testing.checkouts.hostile_base import SOURCES
from testing.checkouts.hostile_names import odd_names
from testing.runner_grammar import parse_commands
from testing.runs import sample_bug
from testing.runs.job import MOUNTS, ROOT, Job, JobResult
from testing.servers.github_server import GitHubServer, serve_github


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    with serve_github(GitHubServer(sample_bug.TITLE, sample_bug.BODY)) as github:
        yield Job(tmp_path, github)


def written(job: Job, done: JobResult) -> str:
    """Returns all output of a run."""
    report = job.workspace / ".triage" / "report.json"
    told = report.read_text(encoding="utf-8") if report.is_file() else ""
    comments = [comment["body"] for comment in job.github.comments]
    return "\n".join([done.log, done.summary, *done.outputs.values(), *comments, told])


def test_a_checkout_with_a_path_is_read_and_named_in_the_log(job: Job):
    write(job.workspace / "code", SOURCES)
    commit(job.workspace / "code")
    done = job.run_forked()
    assert done.outputs["status"] == "complete", done.log
    assert "The repository is read in code/, below the workspace." in done.log
    assert "/shop/basket.py#L" in job.github.comments[0]["body"]
    assert (job.workspace / ".triage/report.json").is_file()
    assert not (job.workspace / "code/.triage").exists()


def test_file_names_are_inert_everywhere(job: Job):
    odd_names(job.workspace)
    job.github.body += "It happens in `basket.py`, `red`, `link`, `width.py`, `line.py` and `tag.py` too."
    done = job.run_forked()
    assert done.exit_code == 0, done.log
    (comment,) = job.github.comments
    everything = written(job, done)
    assert {command.name for command in parse_commands(done.log)} <= {
        "group",
        "endgroup",
        "add-mask",
        "warning",
        "notice",
    }
    for odd in ("\x1b", "\u202e", "\u200b", "\U000e0041", "\x07"):
        assert odd not in done.log + done.summary + comment["body"] + done.outputs["suspect-files"]
    links = re.findall(r"https://github\.com/octo/shop/blob/[^\s)\"]+", comment["body"] + done.summary)
    assert links
    assert all(re.fullmatch(r"[A-Za-z0-9_./:%~#?=-]+", link) and "/../" not in link for link in links)
    assert all(isinstance(path, str) for path in json.loads(done.outputs["suspect-files"]))
    assert "Traceback (most recent call last)" not in everything.replace(sample_bug.BODY, "")


WATCHED = """
import json, os, sys
seen = []
def watch(event, args):
    if event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "socket.connect", "open"):
        told = args[1] if event in ("socket.connect", "subprocess.Popen") else args[0]
        flags = args[2] if event == "open" else 0
        seen.append((event, told if isinstance(told, (str, int, list, tuple)) else repr(told), flags))
sys.addaudithook(watch)
sys.path.insert(0, {ours!r})
from triage.action import main
from triage.base.os_signals import SignalHandler
code = main(dict(os.environ), SignalHandler(), sys.stdout)
found = list(seen)
with open({told!r}, "w") as file:
    json.dump(found, file, default=repr)
os._exit(code)
"""


def watched(job: Job) -> list[tuple[str, object, int]]:
    """Returns programs, connections and files of a run, from Python's audit hook."""
    told = job.folder / "told.json"
    seen_as = {name: str(job.folder / name) for name in MOUNTS}
    environment = job.environment(seen_as) | {"PATH": os.environ["PATH"]}
    script = WATCHED.format(ours=str(ROOT), told=str(told))
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", script], env=environment, cwd="/", capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [(event, what, flags) for event, what, flags in json.loads(told.read_text())]


def _is_ours(job: Job, place: str) -> bool:
    """Whether it is our code, a library, a folder of the job, or a temporary file."""
    homes = [
        str(ROOT),
        sys.prefix,
        sys.base_prefix,
        str(job.folder),
        "/usr/lib",
        "/usr/share",
        "/lib",
        "/tmp",
        "/dev/null",
    ]
    system = r"/proc/(?:self|\d+)/(?:stat|status|cgroup|maps|mountinfo|cmdline)|/proc/(?:cpuinfo|meminfo|stat)|/etc/.*|/sys/.*"
    return place.startswith(tuple(homes)) or re.fullmatch(system, place) is not None


def test_git_is_the_only_program_and_github_the_only_server(job: Job):
    CHECKOUTS["programs"](job.workspace)
    seen = watched(job)
    programs = [
        what for event, what, _ in seen if event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system")
    ]
    assert {str(words[0]).rpartition("/")[2] for words in programs if isinstance(words, list)} == {"git"}
    assert {tuple(what) for event, what, _ in seen if event == "socket.connect" and isinstance(what, list)} == {
        ("127.0.0.1", int(job.github.url.rpartition(":")[2]))
    }
    opened = {
        str(what) for event, what, _ in seen if event == "open" and isinstance(what, str) and what.startswith("/")
    }
    assert sorted(place for place in opened if not _is_ours(job, place)) == []
    in_workspace = {place for place in opened if place.startswith(str(job.workspace)) and ".triage" not in place}
    assert {str(Path(place).relative_to(job.workspace)) for place in in_workspace} == {"."}, (
        "only git reads files, and the report is written"
    )
    assert not trap_was_run(job.workspace)
