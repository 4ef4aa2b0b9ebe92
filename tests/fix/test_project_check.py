"""The project's check: how a command ends, which tests failed by its reports, and what all that says of a patch."""

import asyncio
import os
import select
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest

from testing.checkouts.git_repositories import ENVIRONMENT, commit, write
from triage.base.errors import BadInput
from triage.base.threads import in_thread
from triage.fix.graph.fix_state import CheckVerdict
from triage.fix.project_check import (
    FAILS,
    FAILS_ANYWAY,
    MAX_OUTPUT_CHARS,
    MAX_REPORT_BYTES,
    NO_OUTPUT,
    CheckResult,
    ProjectCheck,
    run_command,
)
from triage.git.write import UserRepository


def run(folder: Path, command: str, seconds: float = 60, **more: str) -> CheckResult:
    return run_command(command, folder, {"PATH": os.environ["PATH"], **more}, seconds)


def test_the_exit_code_decides(tmp_path: Path) -> None:
    assert run(tmp_path, "echo out; echo err >&2; exit 3") == CheckResult(False, "out\nerr", [])


def test_the_end_of_a_long_output(tmp_path: Path) -> None:
    result = run(tmp_path, "yes '\x1b[31mred\x1b[0m' | head -n 300000; printf '\\377end'")
    assert len(result.output) == MAX_OUTPUT_CHARS
    assert result.output.startswith("…")
    assert result.output.endswith("red\n\ufffdend")
    assert "\x1b" not in result.output


@contextmanager
def open_fifo(folder: Path) -> Iterator[tuple[Path, int]]:
    """A pipe whose reader notices when the last process that writes into it has ended."""
    path = folder / "fifo"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield path, reader
    finally:
        os.close(reader)


def wait_for_end(reader: int) -> None:
    poll = select.poll()
    poll.register(reader, select.POLLHUP)
    assert poll.poll(30_000), "a process still runs"


@pytest.mark.parametrize("command", ["sleep 1000", "trap '' TERM; sleep 1000 & wait; wait"])
def test_a_command_that_hangs(tmp_path: Path, command: str) -> None:
    with open_fifo(tmp_path) as (fifo, reader):
        result = run(tmp_path, f"exec 3> '{fifo}'; sleep 1000 & echo begun; {command}", seconds=0.5)
        wait_for_end(reader)
    assert result == CheckResult(is_ok=False, output="begun\n[stopped after 0.5 seconds]")


def test_a_process_that_the_command_leaves_behind(tmp_path: Path) -> None:
    with open_fifo(tmp_path) as (fifo, reader):
        assert run(tmp_path, f"exec 3> '{fifo}'; sleep 1000 & echo done").is_ok
        wait_for_end(reader)


def test_a_cancelled_check_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository, temporary = tmp_path / "shop", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    base = commit(repository, {"a.py": "x = 1\n"})

    async def cancel(opened: UserRepository, fifo: Path, reader: int) -> None:
        check = ProjectCheck(opened, base, f"exec 3> '{fifo}'; echo begun >&3; sleep 1000")
        running = asyncio.ensure_future(in_thread(check.run_on_base))
        has_begun = asyncio.Event()
        asyncio.get_running_loop().add_reader(reader, has_begun.set)
        await has_begun.wait()
        asyncio.get_running_loop().remove_reader(reader)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    with open_fifo(tmp_path) as (fifo, reader):
        with UserRepository(repository, ENVIRONMENT) as opened:
            asyncio.run(cancel(opened, fifo, reader))
        assert list(temporary.iterdir()) == []
        wait_for_end(reader)


REPORT = """<testsuites><testsuite><testcase classname="tests.test_cart" name="test_a"/>
<testcase classname="tests.test_cart" name="test_b[x]"><failure message="assert 1">long</failure></testcase>
<testcase name="TestTotal"><error/></testcase><testcase name="later"><skipped/></testcase></testsuite></testsuites>"""


def test_reports_name_the_tests_that_fail(tmp_path: Path) -> None:
    write(tmp_path, {"data/old.xml": REPORT.replace("test_b", "test_tracked")})
    command = f"mkdir -p build/reports; echo '{REPORT}' > build/reports/a.xml; echo '<a' > b.xml; exit 1"
    assert run(tmp_path, command).failed == ["TestTotal", "tests.test_cart test_b[x]"]


def test_a_report_that_was_there_counts_once_it_is_written(tmp_path: Path) -> None:
    write(tmp_path, {"report.xml": REPORT})
    assert run(tmp_path, "exit 1").failed == []
    command = f"echo '{REPORT.replace('test_b', 'test_now')}' > report.xml; exit 1"
    assert run(tmp_path, command).failed == ["TestTotal", "tests.test_cart test_now[x]"]


@pytest.mark.parametrize(
    "command",
    [
        "mkfifo a.xml",
        "ln -s /dev/zero a.xml",
        """echo '<?xml version="1.0" encoding="shift_jis"?><a/>' > a.xml""",
        """echo '<?xml version="1.0" encoding="none"?><a/>' > a.xml""",
        f"mkdir node_modules; echo '{REPORT}' > node_modules/a.xml",
        f"(echo '{REPORT}'; head -c {MAX_REPORT_BYTES} /dev/zero) > a.xml",
    ],
)
def test_other_xml_is_no_report(tmp_path: Path, command: str) -> None:
    assert run(tmp_path, f"{command}; exit 1") == CheckResult(False, "", [])


@pytest.mark.parametrize("layout", ["src/ledger", "ledger"])
def test_a_package_that_is_installed_in_editable_mode(tmp_path: Path, layout: str) -> None:
    for folder, name in (("checkout", "checkout"), ("clone", "patch")):
        package = {f"{layout}/__init__.py": f"name = '{name}'\n", "pyproject.toml": "[project]\nname='ledger'\n"}
        write(tmp_path / folder, package)
    # What `pip install --editable` leaves: a .pth file that leads to the checkout.
    packages = tmp_path / "packages"
    write(packages, {"editable.pth": str((tmp_path / "checkout" / layout).parent)})
    program = f"import site; site.addsitedir('{packages}'); import ledger; print(ledger.name)"
    assert run(tmp_path / "clone", f'"{sys.executable}" -c "{program}"', PYTHONPATH="/other").output == "patch"
    assert run(tmp_path / "clone", "echo $PYTHONPATH", PYTHONPATH="/other").output.endswith(":/other")


@pytest.mark.parametrize(
    ("command", "problem"), [("no-such-program --x", "was not found"), ("./README.md", "is not executable")]
)
def test_a_command_that_cannot_run(tmp_path: Path, command: str, problem: str) -> None:
    write(tmp_path, {"README.md": "x\n"})
    with pytest.raises(BadInput, match=f"The check's command {problem}. Try it yourself in the checkout."):
        run(tmp_path, command)


class Results(ProjectCheck):
    """Says one after the other of the base, of the whole patch, and of its tests alone."""

    def __init__(self, *results: CheckResult) -> None:
        super().__init__(cast("UserRepository", None), "base", "")
        self.results, self.commits = list(results), list[str]()

    def run(self, commit: str) -> CheckResult:
        self.commits.append(commit)
        return self.results.pop(0)


PASSES, FAILED = CheckResult(True, "1 passed"), CheckResult(False, "boom")
FLAKY = CheckResult(False, "1 failed", ["by_chance"])
BROKEN = CheckResult(False, "2 failed", ["by_chance", "broken"])
NEW = CheckResult(False, "2 failed", ["by_chance", "new"])
PROVED = "The check passes with this change and fails without it."


@pytest.mark.parametrize(
    ("results", "verdict"),
    [
        ([PASSES, PASSES, FAILED], CheckVerdict(PROVED)),
        (
            [PASSES, PASSES, PASSES],
            CheckVerdict(
                "The check passes with this change and passes without it too: the test proves nothing, or the check "
                "does not run it."
            ),
        ),
        ([PASSES, FAILED], CheckVerdict(FAILS, "boom", may_be_fixed=True)),
        ([PASSES, CheckResult(False, "")], CheckVerdict(FAILS, NO_OUTPUT, may_be_fixed=True)),
        ([FAILED, FAILED], CheckVerdict(FAILS_ANYWAY, "boom")),
        (
            [FLAKY, FLAKY, NEW],
            CheckVerdict(
                "The check fails with this change only where it fails without it too (1 test). A new test passes with "
                "it and fails without it."
            ),
        ),
        (
            [FLAKY, BROKEN],
            CheckVerdict(FAILS, "2 failed\n\nThese tests do not fail without the change:\n- broken", may_be_fixed=True),
        ),
    ],
)
def test_what_the_check_makes_of_a_patch(results: Sequence[CheckResult], verdict: CheckVerdict) -> None:
    check = Results(*results)
    assert check.judge(["tests", "whole"]) == verdict
    assert check.commits == ["base", "whole", "tests"][: len(results)]


def test_a_patch_without_a_test_is_proved_by_a_base_that_fails() -> None:
    assert Results(FAILED, PASSES).judge(["whole"]).text == PROVED
    assert Results(PASSES, PASSES).judge(["whole"]).text == "The check passes with this change."


def test_the_base_is_checked_once() -> None:
    check = Results(PASSES, FAILED, FAILED)
    check.run_on_base()
    check.judge(["one"])
    check.judge(["two"])
    assert check.commits == ["base", "one", "two"]
