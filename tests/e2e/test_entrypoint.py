"""The action as the runner starts it, without the container: one real process, real git, a GitHub on loopback."""

import importlib.util
import json
import os
import runpy
import subprocess
import sys

import pytest

from testing.runs import external_services, sample_bug
from testing.runs.job import ROOT, Job
from testing.servers.github_api import serve_issue
from testing.servers.scripted_server import chat_completion
from testing.servers.scripted_server import serve_script as endpoint_serving

needs_action = pytest.mark.skipif(importlib.util.find_spec("triage.action") is None, reason="no triage/action.py")


@pytest.fixture
def job(tmp_path):
    with serve_issue(sample_bug.TITLE, sample_bug.BODY) as github:
        yield Job(tmp_path, github)


@needs_action
def test_no_file_of_the_workspace_is_imported_or_executed(job):
    sample_bug.write_hostile_checkout(job.workspace)
    job.commit()
    sample_bug.add_git_config_traps(job.workspace)
    done = job.run_here()
    assert sample_bug.find_executed_traps(job.workspace) == []
    sample_bug.assert_report(job, done)


PROBE = """
import json, runpy, sys
from pathlib import Path
entrypoint = runpy.run_path({entrypoint!r}, run_name="probe")
sys.path[:0] = ["", {workspace!r}]
entrypoint["leave_the_workspace"]()
print(json.dumps([sys.path, str(Path.cwd())]))
"""


def test_the_working_directory_is_not_on_the_import_path(tmp_path):
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


AS_MAIN = """
import os, runpy, signal, sys
{before}
sys.argv = [{entrypoint!r}]
runpy.run_path({entrypoint!r}, run_name="__main__")
"""


def bootstrap(before: str) -> list[str]:
    """Python that does something, and then what the image does."""
    return [sys.executable, "-c", AS_MAIN.format(before=before, entrypoint=str(ROOT / "entrypoint.py"))]


@pytest.mark.parametrize(
    "before",
    [
        "again = os.execve; os.execve = lambda *all: (os.kill(os.getpid(), signal.SIGTERM), again(*all))",
        "go = os.chdir; os.chdir = lambda harness: (os.kill(os.getpid(), signal.SIGTERM), go(harness)); del os.execve",
    ],
    ids=["starting anew", "not able to"],
)
def test_an_early_signal_is_handled_later(tmp_path, before):
    before = before.replace("del os.execve", "os.execve = lambda *all: os.stat('/no/such/file')")
    done = subprocess.run(bootstrap(before), cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (128 + 15, b"")


class TestStartingAnew:
    ENTRYPOINT = runpy.run_path(str(ROOT / "entrypoint.py"), run_name="probe")

    def test_variables_are_passed_handed_over_or_dropped(self):
        gone = ["GITHUB_TOKEN", "GITHUB_PAT", "GH_TOKEN", "RUNNER_PASSWORD", "ACTIONS_RUNTIME_TOKEN", "AWS_SECRET"]
        gone += [
            "GITHUB_ENV",
            "GITHUB_PATH",
            "GITHUB_STATE",
            "PYTHONSTARTUP",
            "GIT_DIR",
            "LD_PRELOAD",
            "OPENAI_API_KEY",
        ]
        held = ["INPUT_GITHUB-TOKEN", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"]
        kept = [
            "GITHUB_REPOSITORY",
            "RUNNER_TEMP",
            "PATH",
            "LANG",
            "OTEL_SERVICE_NAME",
            "no_proxy",
            "SSL_CERT_FILE",
            "DOCKER_HOST",
            "DOCKER_CERT_PATH",
        ]
        environ = {name.encode(): b"x" for name in [*gone, *held, *kept]}
        environ |= {b"ACTIONS_ID_TOKEN_REQUEST_TOKEN": b"value", b"HTTPS_PROXY": b"u:p@h", b"HTTP_PROXY": b"http://h:1"}
        environ |= {b"OTEL_EXPORTER_OTLP_ENDPOINT": b"https://u:p@h", b"TAVILY_BASE_URL": b"https://h?key=1"}
        environ |= {b"LANGSMITH_TRACING": b"true"}
        on, over = self.ENTRYPOINT["split_environment"](environ)
        fixed = {name.encode(): value.encode() for name, value in self.ENTRYPOINT["FIXED_VARIABLES"].items()}
        assert on == {name.encode(): b"x" for name in kept} | {b"HTTP_PROXY": b"http://h:1"} | fixed
        assert over == {name.encode(): b"x" for name in held} | {
            b"ACTIONS_ID_TOKEN_REQUEST_TOKEN": b"granted",
            b"HTTPS_PROXY": b"u:p@h",
            b"OTEL_EXPORTER_OTLP_ENDPOINT": b"https://u:p@h",
            b"TAVILY_BASE_URL": b"https://h?key=1",
        }

    @pytest.mark.parametrize(
        ("folder", "is_passed"), [(f"{sys.base_prefix}/lib", True), ("build/lib", False), ("", False)]
    )
    def test_libraries_are_taken_from_our_own_python_only(self, folder, is_passed):
        on, over = self.ENTRYPOINT["split_environment"]({b"LD_LIBRARY_PATH": folder.encode()})
        assert (b"LD_LIBRARY_PATH" in on) == is_passed
        assert not over

    def test_unusual_values_arrive_unchanged(self):
        held = {b"INPUT_A": b"a\nb=c\n\n", b"INPUT_B": b"\xff\xfe", b"INPUT_C": "😀".encode() * 9_000, b"INPUT_D": b""}
        content = b"".join(b"%b=%b\0" % pair for pair in held.items())
        descriptor = self.ENTRYPOINT["_write_to_descriptor"](content)
        assert os.get_inheritable(descriptor)
        assert self.ENTRYPOINT["read_secrets"](descriptor) == held
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)

    def test_without_memfd_create_the_secrets_are_in_a_file_that_has_no_name(self, tmp_path, monkeypatch):
        monkeypatch.delattr(os, "memfd_create", raising=False)  # as on macOS
        monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
        descriptor = self.ENTRYPOINT["_write_to_descriptor"](b"INPUT_A=a\0")
        assert list(tmp_path.iterdir()) == []
        assert os.fstat(descriptor).st_mode & 0o777 == 0o600
        assert self.ENTRYPOINT["read_secrets"](descriptor) == {b"INPUT_A": b"a"}

    def test_what_libraries_print_reaches_no_log(self):
        """The runner reads commands from both streams."""
        code = (
            f"import os, runpy; log = runpy.run_path({str(ROOT / 'entrypoint.py')!r})['open_log']()\n"
            "print('::error::x', flush=True); os.write(2, b'::error::y'); os.write(log, b'ours')"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert (done.stdout, done.stderr) == (b"ours", b"")

    def test_python_keeps_its_flags(self, tmp_path):
        shown = tmp_path / "shown.py"
        shown.write_text(f"import runpy\nprint(runpy.run_path({str(ROOT / 'entrypoint.py')!r})['_python_flags']())\n")
        for flags in (["-I", "-u"], [], ["-B", "-X", "dev", "-W", "error"]):
            command = [sys.executable, *flags, str(shown)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            assert done.stdout == f"{flags}\n"


def test_variables_of_the_workflow_do_not_change_the_run(tmp_path):
    """Libraries' own settings, keys under other names, git's and Python's: nobody is asked but whom inputs name."""
    with (
        external_services.serve_all(tmp_path / "job") as (servers, job),
        endpoint_serving([chat_completion("x")]) as trap,
    ):
        (job.folder / "home" / ".netrc").write_text("machine 127.0.0.1 login x password trapped\n", encoding="utf-8")
        startup = job.folder / "startup.py"
        startup.write_text(sample_bug.TRAP, encoding="utf-8")
        job.variables |= {
            **dict.fromkeys(
                ("OPENAI_BASE_URL", "OPENAI_API_BASE", "LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT"), trap.url
            ),
            **dict.fromkeys(("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "LANGCHAIN_VERBOSE", "OPENAI_LOG"), "true"),
            **dict.fromkeys(
                ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY", "TAVILY_API_KEY", "OPENAI_API_KEY"), "trapped-key"
            ),
            **dict.fromkeys(("PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONBREAKPOINT"), str(startup)),
            **dict.fromkeys(("GIT_DIR", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY"), "/no/such/folder"),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "core.fsmonitor",
            "GIT_CONFIG_VALUE_0": str(startup),
            "NETRC": str(job.folder / "home" / ".netrc"),
            "HTTPX_LOG_LEVEL": "trace",
            "TAVILY_PROXY": trap.url,
            "GITHUB_TOKEN": "trapped-token",
            "GH_TOKEN": "trapped-token",
            "GITHUB_GRAPHQL_URL": trap.url,
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "trapped-id",
            "ACTIONS_ID_TOKEN_REQUEST_URL": trap.url,
            **{name: str(job.folder / "temp" / name) for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE")},
        }
        done = job.run_here()
        assert done.outputs["status"] == "complete", done.log
        assert trap.requests == []
        assert {asked.what for asked in servers.requests} >= {"search", "embeddings", "model CritiqueFinding"}
    assert "trapped" not in done.log + done.summary + json.dumps(servers.request_bodies)
    assert "::warning::The job grants `id-token: write`" in done.log
    assert not [name for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE") if (job.folder / "temp" / name).exists()]
    assert not startup.with_suffix(".py.imported").exists()
