"""The command `fix` as a person uses it: at a pseudo terminal or a pipe, a real repository, a scripted model."""

import json
import os
import pty
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from testing import command_line
from testing.checkouts.git_repositories import commit, git, write
from testing.runs.external_services import default_reply
from testing.runs.forked_process import ForkedProcess, run_command
from testing.servers.scripted_server import (
    ReceivedRequest,
    ScriptedReply,
    ScriptedServer,
    chat_completion,
    serve_script,
)

ROOT = Path(__file__).parents[2]
CART = "def total(prices):\n    return sum(prices) / len(prices)\n"
FILES = {"shop/cart.py": CART, "shop/__init__.py": "", "tests/test_cart.py": "from shop.cart import total\n"}
ISSUE = "# Total of an empty cart\n\n`total([])` in `shop/cart.py` raises ZeroDivisionError: division by zero\n"
BRANCH = "triage/total-of-an-empty-cart"
SECONDS = 60
"""A process that has not printed what is waited for by then is stuck."""
CHECK = f'"{sys.executable}" -c "import tests.test_cart as t; [test() for name, test in vars(t).items() if name.startswith(\'test\')]"'


def edit(search: str, replace: str, path: str = "shop/cart.py") -> dict[str, Any]:
    return {
        "file_path": path,
        "description": "an empty cart costs nothing",
        "is_new_file": False,
        "edits": [{"search": search, "replace": replace}],
        "new_content": None,
    }


def changes(line: str) -> dict[str, Any]:
    return {
        "root_cause": "The list of prices may be empty.",
        "summary": "An empty cart costs nothing",
        "changes": [edit("    return sum(prices) / len(prices)\n", line)],
        "needs_to_see": [],
        "unverified": [],
        "error": None,
    }


GOOD = "    return sum(prices) / len(prices) if prices else 0\n"
BAD = "    return sum(prices) / len(prices) if prices else 1\n"
TESTS = {
    "tests": [
        edit(
            "from shop.cart import total\n",
            "from shop.cart import total\n\n\ndef test_empty():\n    assert total([]) == 0\n",
            "tests/test_cart.py",
        )
    ],
    "no_test_reason": None,
    "error": None,
}


@dataclass
class Author:
    """A model that writes one version of the change after the other, and repeats the last one."""

    versions: list[str] = field(default_factory=lambda: [GOOD])
    prompts: list[str] = field(default_factory=list)
    """Of the requests for a change."""

    def __call__(self, request: ReceivedRequest) -> ScriptedReply:
        name = request.body.get("response_format", {}).get("json_schema", {}).get("name", "")
        answers: Mapping[str, Callable[[], Any]] = {
            "TicketClass": lambda: {
                "confirmed_type": "Bug",
                "technical_summary": "total divides by zero",
                "acceptance_criteria": [],
                "error": None,
            },
            "ModuleChoice": lambda: {
                "affected_modules": ["shop/"],
                "files_likely_to_change": ["shop/cart.py"],
                "error": None,
            },
            "CodeChanges": lambda: self._change(request),
            "TestChanges": lambda: TESTS,
        }
        return chat_completion(json.dumps(answers[name]())) if name in answers else default_reply(request)[1]

    def _change(self, request: ReceivedRequest) -> dict[str, Any]:
        self.prompts.append(json.dumps(request.body["messages"]))
        return changes(self.versions[min(len(self.prompts), len(self.versions)) - 1])


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    commit(folder, FILES)
    write(folder, {"shop/cart.py": CART + "# not committed\n", "notes.txt": "mine\n"})
    write(tmp_path, {"issue.md": ISSUE})
    write(tmp_path / "home", {".gitconfig": "[user]\n\tname = Ada\n\temail = ada@example.org\n"})
    (tmp_path / "temporary").mkdir()
    return folder


@pytest.fixture(autouse=True)
def _only_branches_change(checkout: Path, tmp_path: Path) -> Iterator[None]:
    status = git(checkout, "--no-optional-locks", "status", "--porcelain")
    yield
    assert git(checkout, "--no-optional-locks", "status", "--porcelain") == status
    assert len(git(checkout, "worktree", "list").splitlines()) == 1
    assert not [path for path in (tmp_path / "temporary").iterdir() if path.name.startswith("triage-check-")]


def build_words(checkout: Path, *words: str) -> list[str]:
    issue = [] if "--issue" in words else ["--issue", str(checkout.parent / "issue.md")]
    return ["fix", "--repo", str(checkout), *issue, *words]


def build_environment(checkout: Path, server: ScriptedServer | None, **more: str) -> dict[str, str]:
    model = {"TRIAGE_MODEL_BASE_URL": f"{server.url}/v1", "TRIAGE_MODEL_API_KEY": "sk-" + "y2" * 20} if server else {}
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(checkout.parent / "home"),
        "TMPDIR": str(checkout.parent / "temporary"),
        "TERM": "xterm-256color",
        "COLUMNS": "120",
        "GIT_CONFIG_NOSYSTEM": "1",
        **model,
        **more,
    }


def run(checkout: Path, server: ScriptedServer | None, *words: str, stdin: str = "", **more: str) -> Any:
    return command_line.run_command(
        build_words(checkout, *words), build_environment(checkout, server, **more), ROOT, stdin
    )


class Terminal:
    """A process at a pseudo terminal, and the person in front of it."""

    def __init__(self, process: ForkedProcess, keyboard: int, screen: int) -> None:
        self._process, self._keyboard, self._own_screen = process, keyboard, screen
        self.screen = ""

    def wait_for(self, text: str, times: int = 1) -> str:
        deadline = time.monotonic() + SECONDS
        while self.text.count(text) < times:
            assert select.select([self._keyboard], [], [], max(0.0, deadline - time.monotonic()))[0], self.screen
            self.screen += self._read()
        return self.text

    def _read(self) -> str:
        try:
            data = os.read(self._keyboard, 65_536)
        except OSError:  # the process has closed its end
            data = b""
        assert data, self.screen
        return data.decode()

    @property
    def text(self) -> str:
        """What the screen shows, without colours."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.screen).replace("\r\n", "\n")

    def type(self, text: str) -> None:
        os.write(self._keyboard, text.encode())

    def wait_for_end(self) -> int:
        os.close(self._own_screen)  # the terminal ends when nobody has it
        while select.select([self._keyboard], [], [], SECONDS)[0]:
            try:
                data = os.read(self._keyboard, 65_536)
            except OSError:
                break
            if not data:
                break
            self.screen += data.decode()
        return self._process.wait(SECONDS)

    def interrupt(self) -> None:
        self.type("\x03")

    def hang_up(self) -> None:
        """Closes the terminal, as the end of a connection does."""
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123
            os.dup2(nothing.fileno(), self._keyboard)


@contextmanager
def open_terminal(checkout: Path, server: ScriptedServer, *words: str) -> Iterator[Terminal]:
    keyboard, screen = pty.openpty()
    # The first terminal that the leader of a session opens is its own. Otherwise Ctrl-C would be a character like any other.
    environment, streams = build_environment(checkout, server), [Path(os.ttyname(screen))] * 3
    process = ForkedProcess(run_command, build_words(checkout, *words), environment, ROOT, streams)
    try:
        yield Terminal(process, keyboard, screen)
    finally:
        process.kill()
        process.wait()
        os.close(keyboard)


def branches(checkout: Path) -> list[str]:
    return git(checkout, "for-each-ref", "--format=%(refname:short)", "refs/heads/triage").split()


QUESTION = "Answer approve, reject: why, or revise: what to change.\n> "


def test_an_approved_change_becomes_a_branch(checkout: Path) -> None:
    base = git(checkout, "rev-parse", "HEAD")
    with serve_script(Author()) as server, open_terminal(checkout, server) as terminal:
        shown = terminal.wait_for(QUESTION)
        assert branches(checkout) == []
        assert "Proposed changes: Total of an empty cart\n" in shown
        assert "The list of prices may be empty." in shown
        assert f"-{CART.splitlines()[1]}\n+{GOOD}" in shown
        assert "\x1b[32m+    return" in terminal.screen
        assert "No test of the project was run with this change." in shown
        terminal.type("approve\n")
        assert terminal.wait_for_end() == 0
    assert branches(checkout) == [BRANCH]
    assert re.sub(r"took .*", "took …", terminal.text.partition(f"{QUESTION}approve\n")[2]) == (
        "notice: The model took …\n\n"
        f"The branch {BRANCH} has the change. Nothing was pushed, and your files are as they were. Next:\n\n"
        f"  git switch {BRANCH}\n  git push -u origin {BRANCH}\n"
    )
    assert git(checkout, "show", f"{BRANCH}:shop/cart.py") == (CART.replace(CART.splitlines()[1] + "\n", GOOD)).strip()
    assert git(checkout, "log", "--format=%an %B", f"{base}..{BRANCH}") == (
        "Ada An empty cart costs nothing\n\nThe list of prices may be empty.\n- shop/cart.py - an empty cart costs nothing\n\n"
        "Ada Add a failing test: An empty cart costs nothing\n\n"
        "The test fails on this commit and passes with the next one."
    )


def test_neither_what_was_typed_before_the_proposal_nor_the_end_of_the_input_is_an_approval(checkout: Path) -> None:
    with serve_script(Author([BAD, GOOD])) as server, open_terminal(checkout, server) as terminal:
        terminal.wait_for(QUESTION)
        terminal.type("revise: Return zero.\napprove\n")  # a paste of two lines
        terminal.wait_for(QUESTION, 2)
        assert terminal.text.rindex(GOOD) > terminal.text.rindex(BAD)
        terminal.type("\n\x04")
        assert terminal.wait_for_end() == 0
    assert terminal.text.count(QUESTION) == 3, "a blank line is no answer"
    assert "Rejected: there is no branch." in terminal.text
    assert branches(checkout) == []


@pytest.mark.parametrize(
    ("words", "stdin"), [((), "approve\n"), (("--issue", "-", "--change", "only in total"), ISSUE)]
)
def test_nobody_at_a_terminal(checkout: Path, words: Sequence[str], stdin: str) -> None:
    with serve_script(Author()) as server:
        done = run(checkout, server, *words, stdin=stdin)
    assert done.returncode == 0, done.stderr
    assert f"+{GOOD}" in done.stdout
    assert "\x1b" not in done.stdout
    assert branches(checkout) == []
    found = re.search(rf"git switch -c {BRANCH} ([0-9a-f]{{40}})\n", done.stdout)
    assert found
    assert "if prices else 0" in git(checkout, "show", f"{found[1]}:shop/cart.py")
    assert git(checkout, "log", "--format=%s", f"HEAD..{found[1]}").count("An empty cart costs nothing") == 2


def test_a_check_that_fails_goes_back_to_the_model_and_gets_no_key_of_ours(checkout: Path) -> None:
    author = Author([BAD, GOOD])
    check = f"env > '{checkout.parent}/seen'; {CHECK}"
    with serve_script(author) as server:
        done = run(checkout, server, "--check", check, OPENAI_API_KEY="sk-" + "y2" * 20, DATABASE_URL="pg://a:b@c/d")
    assert done.returncode == 0, done.stderr
    assert len(author.prompts) == 2
    assert "AssertionError" in author.prompts[1]
    assert "The check passes with this change and fails without it." in done.stdout
    assert f"+{GOOD}" in done.stdout
    seen = (checkout.parent / "seen").read_text(encoding="utf-8")
    assert "y2y2" not in seen
    assert "TRIAGE_" not in seen
    assert "DATABASE_URL=pg://a:b@c/d" in seen


PROJECT = "[project]\nname = 'shop'\n"
EXAMPLE = "from shop.cart import total\n\nprint(total([]))\n"


def add_project(checkout: Path) -> None:
    write(checkout, {"pyproject.toml": PROJECT})
    git(checkout, "add", "pyproject.toml")
    git(checkout, "commit", "-q", "-m", "x")


def test_the_model_is_told_the_example_of_the_report_and_nobody_runs_it(checkout: Path) -> None:
    add_project(checkout)
    write(checkout.parent, {"issue.md": f"{ISSUE}\n```python\n{EXAMPLE}open('{checkout.parent}/seen', 'w')\n```\n"})
    author = Author()
    with serve_script(author) as server:
        done = run(checkout, server, "--check", CHECK)
    assert done.returncode == 0, done.stderr
    assert "print(total([]))" in author.prompts[0]
    assert "The report's example" not in done.stdout
    assert not (checkout.parent / "seen").exists()


def test_a_check_that_cannot_run_costs_no_model_call(checkout: Path) -> None:
    with serve_script(Author()) as server:
        done = run(checkout, server, "--check", "no-such-program")
        assert server.requests == []
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == (
        "bug-triage: The check's command was not found. Try it yourself in the checkout."
    )


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("the check", signal.SIGHUP),
        ("the question", signal.SIGINT),
    ],
)
def test_ctrl_c_and_the_end_of_the_terminal(checkout: Path, moment: str, number: int) -> None:
    check = ["--check", f"touch '{checkout.parent}/begun'; sleep 1000"] if moment == "the check" else []
    with serve_script(Author()) as server, open_terminal(checkout, server, *check) as terminal:
        if moment == "the question":
            terminal.wait_for(QUESTION)
        else:
            deadline = time.monotonic() + SECONDS
            while not (checkout.parent / "begun").exists():
                assert time.monotonic() < deadline, terminal.screen
                time.sleep(0.02)
        terminal.hang_up() if number == signal.SIGHUP else terminal.interrupt()
        assert terminal.wait_for_end() == 128 + number
    assert "Traceback" not in terminal.text
    assert branches(checkout) == []
