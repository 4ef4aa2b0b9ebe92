"""The action as the runner starts it, without the container: one real process, real git, a GitHub on loopback."""

import importlib.util
import json
import subprocess
import sys

import pytest

from tests.e2e import scenes
from tests.e2e.github_server import SLUG, GitHubServer, serving
from tests.e2e.job import ROOT, Job
from tests.index.chroma_server import serving as chroma_serving
from triage.index.chroma import server

needs_action = pytest.mark.skipif(importlib.util.find_spec("triage.action") is None, reason="no triage/action.py")


@pytest.fixture
def job(tmp_path):
    with serving(GitHubServer(scenes.TITLE, scenes.BODY)) as github:
        yield Job(tmp_path, github)


@needs_action
def test_an_opened_issue_is_answered_once(job):
    scenes.plain_checkout(job.workspace)
    job.commit()
    scenes.check_report(job, job.run_here())

    again = job.run_here()
    assert again.exit_code == 0, again.log
    assert len(job.github.comments) == 1


@needs_action
def test_nothing_of_the_workspace_is_imported_run_or_obeyed(job):
    scenes.hostile_checkout(job.workspace)
    job.commit()
    scenes.trap_git(job.workspace)
    done = job.run_here()
    assert scenes.sprung(job.workspace) == []
    scenes.check_report(job, done)


@needs_action
def test_the_vectors_go_to_a_chroma_server_that_is_named(job, tmp_path):
    scenes.plain_checkout(job.workspace)
    job.commit()
    with chroma_serving(tmp_path / "chroma") as url:
        job.inputs["chroma-url"] = url
        scenes.check_report(job, job.run_here())
        (stored,) = server(url).list_collections()
        assert stored.metadata["repository"] == SLUG


PROBE = """
import json, runpy, sys
from pathlib import Path
entrypoint = runpy.run_path({entrypoint!r}, run_name="probe")
sys.path[:0] = ["", {workspace!r}]
entrypoint["leave_the_workspace"]()
print(json.dumps([sys.path, str(Path.cwd())]))
"""


def test_the_working_directory_is_left_and_off_the_import_path(tmp_path):
    probe = PROBE.format(entrypoint=str(ROOT / "entrypoint.py"), workspace=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", probe], cwd=tmp_path, capture_output=True, text=True, check=True)
    path, here = json.loads(done.stdout)
    assert path[0] == here == str(ROOT)
    assert "" not in path
    assert str(tmp_path) not in path


def test_started_inside_our_own_checkout_it_still_finds_itself(tmp_path):
    probe = PROBE.format(entrypoint=str(ROOT / "entrypoint.py"), workspace=str(ROOT))
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    path, _ = json.loads(done.stdout)
    assert path[0] == str(ROOT)
    assert path.count(str(ROOT)) == 1


EARLY = """
import os, runpy, signal, sys
go = os.chdir
os.chdir = lambda place: (os.kill(os.getpid(), signal.SIGTERM), go(place))
sys.argv = [{entrypoint!r}]
runpy.run_path({entrypoint!r}, run_name="__main__")
"""


def test_a_signal_that_comes_before_anybody_listens_waits(tmp_path):
    early = EARLY.format(entrypoint=str(ROOT / "entrypoint.py"))
    done = subprocess.run([sys.executable, "-c", early], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (128 + 15, b"")
