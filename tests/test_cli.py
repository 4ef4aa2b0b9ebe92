"""The command line as a person uses it: what needs a process of its own has one."""

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from testing import command_line
from testing.checkouts.git_repositories import commit
from testing.each_row import each_row
from testing.runs.forked_process import ForkedProcess, run_command
from testing.servers.github_api import SLUG, serve_issue
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, serve_script
from triage.cli import COMMANDS, load_command

ROOT = Path(__file__).parents[1]
REPORT = (
    '# total fails\n\nTraceback (most recent call last):\n  File "cart.py", line 2, in total\nZeroDivisionError: x\n'
)


def triage(*words: str, stdin: str = "", **environ: str) -> "subprocess.CompletedProcess[str]":
    """The command in this process."""
    return command_line.run_command([*words], environ, ROOT, stdin)


def triage_alone(*words: str, stdin: str = "", **environ: str) -> "subprocess.CompletedProcess[str]":
    """The command as a process."""
    return subprocess.run(
        [sys.executable, "-m", "triage", *words],
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "COLUMNS": "120", **environ},
    )


def triage_in_a_fork(words: list[str], stdin: Path, stdout: Path, stderr: Path, **environ: str) -> ForkedProcess:
    """The command as a process that has imported all of it already."""
    variables = {"PATH": "/usr/bin:/bin:/usr/local/bin", "COLUMNS": "120", **environ}
    return ForkedProcess(run_command, words, variables, ROOT, [stdin, stdout, stderr])


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "cart.py").write_text("def total(prices):\n    return 1 / len(prices)\n")
    (tmp_path / "other.py").write_text("def unrelated():\n    return 2\n")
    commit(tmp_path)
    return tmp_path


def test_run_prints_the_report_and_nothing_else(checkout: Path):
    done = triage_alone("run", "--repo", str(checkout), "--issue", "-", stdin=REPORT)
    assert (done.returncode, done.stderr) == (0, "")
    assert "cart.py:2" in done.stdout
    assert "❱ 2     return 1 / len(prices)" in done.stdout
    assert "\x1b" not in done.stdout, "no colours into a pipe"


def test_a_key_under_another_name_is_said_to_be_unused(checkout: Path):
    done = triage("run", "--repo", str(checkout), "--issue", "-", stdin=REPORT, OPENAI_API_KEY="sk-x")
    assert done.stderr == "notice: OPENAI_API_KEY is not read: set TRIAGE_MODEL_API_KEY to have a model answer.\n"


def test_our_own_key_in_the_shown_code_is_masked(tmp_path: Path):
    key = "sk-our-own-key-0123456789"
    commit(tmp_path, {"cart.py": f"def total(prices):\n    return 1 / len(prices)  # {key}\n"})
    done = triage(
        "run", "--repo", str(tmp_path), "--issue", "-", "--engine", "rules", stdin=REPORT, TRIAGE_MODEL_API_KEY=key
    )
    assert "return 1 / len(prices)" in done.stdout
    assert key not in done.stdout


def test_lines_do_not_end_in_blanks_and_a_folder_is_no_project(tmp_path: Path):
    done = triage(
        "run", "--repo", str(tmp_path), "--issue", "-", stdin="# it is broken\n\nsince yesterday it does not work\n"
    )
    assert not [line for line in done.stdout.splitlines() if line != line.rstrip()]
    assert tmp_path.name not in done.stdout
    assert "the folder has no file" in done.stdout
    assert "the folder has no file" in done.stderr


def test_run_shows_steps_and_decisions_on_stderr_if_verbose(checkout: Path):
    done = triage("run", "-v", "--repo", str(checkout), "--issue", "-", stdin=REPORT)
    assert "read_and_index success" in done.stderr
    assert "Decision 1: investigator" in done.stderr
    assert "Decision" not in done.stdout


def test_run_prints_json_and_writes_the_report_when_asked(checkout: Path, tmp_path: Path):
    issue, path = tmp_path / "bug.md", tmp_path / "report.json"
    issue.write_text(REPORT)
    done = triage("run", "--repo", str(checkout), "--issue", str(issue), "--json", "--report", str(path))
    report = json.loads(done.stdout)
    assert report["suspects"][0]["path"] == "cart.py"
    assert json.loads(path.read_text()) == report


def test_run_answers_as_for_an_issue_that_was_just_opened(tmp_path: Path):
    code = "def total{}(prices):\n    return 1 / len(prices)\n"
    commit(tmp_path, {f"shop{number}.py": code.format(number) for number in range(9)})
    frame = 'Traceback (most recent call last):\n  File "shop3.py", line 2, in total3\n    return 1 / len(prices)\n'
    issue = f"Total fails\n\n```\n{frame}ZeroDivisionError: division by zero\n```\n"
    command = ["run", "--repo", str(tmp_path), "--json", "--issue", "-"]
    report = json.loads(triage(*command, stdin=issue).stdout)
    assert report["speaks"] == "found"
    assert report["comment"].startswith("**The innermost line of this repository in the error is in `shop3.py`")
    report = json.loads(triage(*command, stdin=issue, TRIAGE_COMMENT="never").stdout)
    assert (report["speaks"], report["comment"]) == (None, None)
    assert report["found"]["span"]["path"] == "shop3.py"
    feature = "Feature request: totals in euros\n\nIt would be nice if totals could be shown in euros. Please add this."
    assert json.loads(triage(*command, stdin=feature).stdout)["comment"] is None
    answer = json.loads(triage(*command, stdin=feature, TRIAGE_COMMENT="true").stdout)
    assert answer["speaks"] == "always"
    assert answer["comment"].startswith("**This reads as a feature request.**")


def test_read_prints_what_a_report_says(tmp_path: Path):
    path = tmp_path / "bug.md"
    path.write_text(REPORT)
    done = triage("read", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "  - path: cart.py\n    line: 2\n" in done.stdout
    assert json.loads(triage("read", "--json", stdin=REPORT).stdout)["traces"][0]["exception"] == "ZeroDivisionError"


def test_read_answers_each_line():
    records = [
        {"title": "Please add dark mode", "body": "It would be nice.", "repo": "a/b"},
        {"title": "App crashes", "body": None},
        {"title": "How do I\u2028change the port?"},
    ]
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    answers = [json.loads(line) for line in triage("read", "--lines", stdin=lines).stdout.splitlines()]
    assert [answer["kind"] for answer in answers] == ["feature_request", "bug", "question"]
    assert triage("read", "--lines", "--kind-only", "-", stdin=lines).stdout == "feature\nbug\nquestion\n"


@pytest.mark.parametrize(
    ("line", "problem"), [("{", "is not JSON."), ("[1]", "is not a JSON object with `title` and `body`.")]
)
def test_read_names_a_wrong_line(line: str, problem: str):
    done = triage("read", "--lines", stdin=f'{{"title": "x"}}\n\n{line}\n')
    assert (done.returncode, done.stderr) == (1, f"bug-triage: Line 3 {problem}\n")
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize("data", [bytes(range(128, 256)) * 20, "UTF-16 text".encode("utf-16")])
def test_an_issue_that_is_not_text_is_refused(checkout: Path, tmp_path: Path, data: bytes):
    (tmp_path / "issue.bin").write_bytes(data)
    done = triage("run", "--repo", str(checkout), "--issue", str(tmp_path / "issue.bin"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "bug-triage: The issue is not a text. Give Markdown, plain text or GitHub's JSON, in UTF-8.\n"


def test_an_endless_file_is_refused():
    done = triage("read", "/dev/zero")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("bug-triage: The issue is not a text.")


def test_odd_characters_in_the_issue_cause_no_traceback(checkout: Path, tmp_path: Path):
    issue, out, errors = (tmp_path / name for name in ("issue", "out", "errors"))
    issue.write_text('{"title": "\\ud800 \\u0000 x", "body": "\\udfff"}')
    code = triage_in_a_fork(["run", "--repo", str(checkout), "--issue", "-", "--json"], issue, out, errors).wait(60)
    assert code == 0, errors.read_text()
    json.loads(out.read_text())


def test_a_tracing_service_of_the_shell_gets_nothing():
    code = "import atexit, sys; from langsmith.utils import tracing_is_enabled as ask; atexit.register(lambda: print(ask()))"
    code += "; from triage.__main__ import main; sys.argv[1:] = ['--help']; main()"
    environ = {"PATH": "/usr/bin:/bin", "LANGSMITH_TRACING": "true", "LANGCHAIN_TRACING_V2": "true"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "False"


def test_the_help_imports_no_command_and_has_the_first_line_of_each():
    code = "import sys; from triage import cli; cli.commands(['--help'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    modules = done.stdout.splitlines()[-1].split()
    assert [name for name in modules if name in {module for module, _ in COMMANDS.values()} | {"pydantic"}] == []
    for name, (_, line) in COMMANDS.items():
        assert " ".join(load_command(name).help.split("\n\n")[0].split()) == line
        assert line in " ".join(done.stdout.split())


def test_locate_prints_ranked_paths(checkout: Path):
    done = triage("locate", str(checkout), stdin=REPORT)
    assert done.stdout.splitlines()[0] == "cart.py"
    report = json.loads(triage("locate", str(checkout), "--json", stdin=REPORT).stdout)
    assert report["files"][0] == "cart.py"
    assert report["index_seconds"] >= 0
    assert report["query_seconds"] >= 0


@each_row(
    ("words", "said", "complaint", "code"),
    [
        (["run", "--issue", "no-such-file.md"], "", "cannot be read", 2),
        (["run", "--issue", "-"], "", "The issue is empty", 1),
        (["run", "--issue", "12"], "", "--github owner/name", 2),
        (["run", "--issue", "https://github.com/a/b/issues/1", "--github", "a/c"], "", "leads to a/b", 2),
        (["run", "--issue", "12", "--github", "nonsense"], "", "owner/name, at a terminal with --github", 2),
        (["run", "--repo", "/no/such/folder", "--issue", "-"], "x", "is not a folder", 2),
        (["run", "--issue", "-", "--engine", "modle"], "x", "engine: Input should be 'auto', 'model' or 'rules'", 2),
        (["run", "--issue", "-", "--engine", "model"], "x", "model-api-key", 1),
        (
            ["run", "--issue", "-", "--report", "/no/such/folder/r.json"],
            "x",
            "--report: /no/such/folder is not a folder",
            2,
        ),
        (["locate", "/no/such/folder"], "x", "is not a folder", 2),
    ],
)
def test_an_error_is_one_line_and_wrong_usage_has_a_code_of_its_own(
    words: list[str], said: str, complaint: str, code: int
):
    done = triage(*words, stdin=said)
    assert done.returncode == code
    assert complaint in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["locate", "--help"], ["doctor", "--help"]])
def test_help(words: list[str]):
    done = triage(*words)
    assert done.returncode == 0
    assert "Usage" in done.stdout
    assert "<bool>" not in done.stdout


def test_doctor_says_what_is_missing(checkout: Path):
    done = triage("doctor", "--repo", str(checkout))
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == [
        "✓ checkout",
        "– project settings",
        "– skills",
        "– github",
        "– model",
    ]


def test_a_folder_without_git_is_read_and_said_to_be_none(tmp_path: Path):
    (tmp_path / "cart.py").write_text("def total(prices):\n    return 1 / len(prices)\n")
    done = triage("doctor", "--repo", str(tmp_path))
    assert done.stdout.splitlines()[0].endswith(" passages, no git history")
    done = triage("locate", str(tmp_path), stdin=REPORT)
    assert (done.returncode, done.stdout) == (0, "cart.py\n")
    assert "The folder has no commit" in done.stderr


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("labels: {allow: [bug]}\nignore: [docs]", 0, "✓ project settings: .github/triage.yml sets ignore, labels\n"),
        ("", 0, "✓ project settings: .github/triage.yml sets nothing\n"),
        ("ingore: []", 1, "✗ project settings: .github/triage.yml cannot be used: line 1: 'ingore' is not a known key"),
    ],
)
def test_doctor_reads_the_projects_settings(checkout: Path, text: str, code: int, said: str):
    commit(checkout, {".github/triage.yml": text})
    done = triage("doctor", "--repo", str(checkout), PYTHONIOENCODING="utf-8")
    assert done.returncode == code
    assert said in done.stdout


@pytest.mark.parametrize("words", [["run", "--issue", "-", "--json", "--repo"], ["locate", "--json"]])
def test_the_projects_settings_apply_at_the_terminal(checkout: Path, words: list[str]):
    commit(checkout, {"own.yml": "ignore: [cart.py]"})
    done = triage(*words, str(checkout), stdin=REPORT, TRIAGE_CONFIG_FILE="own.yml")
    assert done.returncode == 0, done.stderr
    assert "cart.py" in triage(*words, str(checkout), stdin=REPORT).stdout
    report = json.loads(done.stdout)
    assert "cart.py" not in (report["files"] if "files" in report else [one["path"] for one in report["suspects"]])
    commit(checkout, {"own.yml": "ingore: [cart.py]"})
    refused = triage(*words, str(checkout), stdin=REPORT, TRIAGE_CONFIG_FILE="own.yml")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "line 1: 'ingore' is not a known key (did you mean ignore?)" in refused.stderr


def test_doctor_fails_on_what_is_broken(checkout: Path):
    settings = {"TRIAGE_MODEL_API_KEY": "sk-x", "TRIAGE_MODEL_BASE_URL": "http://127.0.0.1:9/v1"}
    done = triage("doctor", "--repo", str(checkout), **settings)
    assert done.returncode == 1
    assert "model: cannot be used: connection failed" in done.stdout


def test_an_issue_is_named_by_its_url(checkout: Path):
    with serve_issue("total fails", REPORT) as github:
        url = f"{github.url}/{SLUG}/issues/7"
        server = {"GITHUB_API_URL": github.url, "GITHUB_SERVER_URL": github.url}
        done = triage("run", "--repo", str(checkout), "--issue", url, "--json", **server)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["repository"], report["issue"]["number"]) == (SLUG, 7)
    assert report["suspects"][0]["path"] == "cart.py"


def test_a_misspelt_variable_is_a_warning(checkout: Path):
    done = triage("locate", str(checkout), stdin=REPORT, TRIAGE_MODEL_APIKEY="sk-secret", TRIAGE_ZZZ="kept")
    assert done.returncode == 0
    assert done.stderr == (
        "warning: TRIAGE_MODEL_APIKEY is not a setting; did you mean TRIAGE_MODEL_API_KEY?\n"
        "warning: TRIAGE_ZZZ is not a setting.\n"
    )


def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m triage read | true"
    environ = {"PATH": "/usr/bin:/bin"}  # no PYTHONUNBUFFERED, with which another place would notice
    call = ["bash", "-c", command]
    done = subprocess.run(call, cwd=ROOT, env=environ, input=REPORT, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_a_full_disk_is_one_line(checkout: Path, tmp_path: Path):
    issue, errors = tmp_path / "bug.md", tmp_path / "errors"
    issue.write_text(REPORT)
    assert triage_in_a_fork(["locate", str(checkout)], issue, Path("/dev/full"), errors).wait(60) == 1
    assert errors.read_text().splitlines() == ["bug-triage: the result cannot be written (no space left on device)"]


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_prints_the_partial_report(checkout: Path, tmp_path: Path, sent: signal.Signals, code: int):
    issue, out, errors = (tmp_path / name for name in ("bug.md", "out", "errors"))
    issue.write_text(REPORT)
    there = threading.Event()

    def hang(_: ReceivedRequest) -> ScriptedReply:
        there.set()
        return ScriptedReply(delay_seconds=3600)

    with serve_script(hang) as endpoint:
        words = ["run", "--repo", str(checkout), "--issue", "-"]
        running = triage_in_a_fork(words, issue, out, errors, TRIAGE_MODEL_BASE_URL=f"{endpoint.url}/v1")
        assert there.wait(60)
        running.send_signal(sent)
        assert running.wait(60) == code
    assert "The run was cancelled." in " ".join(out.read_text().split())
    assert "Traceback" not in errors.read_text()
