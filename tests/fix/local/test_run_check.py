import asyncio
import os
import select
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, git, write
from tests.fix.local.conftest import Open, describe, make_dirty
from triage.base.errors import BadInput
from triage.base.threads import in_thread
from triage.domain.proposal import BaseFile
from triage.fix.fix_ports import CheckResult
from triage.fix.local.project_command import MAX_OUTPUT_CHARS, MAX_REPORT_BYTES

FIX = {"src/store.py": BaseFile(text="total = 0\n"), "new folder/neu ä.txt": BaseFile(text="new\r\n")}


@pytest.fixture(autouse=True)
def _nothing_is_left(repository: Path, tmp_path: Path) -> Iterator[None]:
    yield
    assert list((tmp_path / "temporary").iterdir()) == []
    assert len(git(repository, "worktree", "list").splitlines()) == 1
    assert not (repository / ".git/worktrees").exists()


def run(open_workspace: Open, repository: Path, command: str, seconds: float = 60, **more: str) -> CheckResult:
    return open_workspace(**more).run_check(git(repository, "rev-parse", "HEAD"), FIX, command, seconds)


def test_the_command_sees_the_commit_and_the_patch(repository: Path, open_workspace: Open) -> None:
    base = git(repository, "rev-parse", "HEAD")
    command = f"cat src/store.py README.md 'new folder/neu ä.txt' && test $(git rev-parse HEAD) = {base}"
    assert run(open_workspace, repository, command) == CheckResult(is_ok=True, output="total = 0\n# Ledger\nnew")


def test_the_exit_code_decides(repository: Path, open_workspace: Open) -> None:
    result = run(open_workspace, repository, "echo out; echo err >&2; exit 3")
    assert result == CheckResult(is_ok=False, output="out\nerr")


def test_the_checkout_is_not_touched(repository: Path, open_workspace: Open, tmp_path: Path) -> None:
    make_dirty(repository)
    before = describe(repository)
    (tmp_path / "hook-ran").unlink(missing_ok=True)
    result = run(open_workspace, repository, "cat README.md; ls; rm -r src; echo x > made.txt")
    assert result.output.splitlines()[0] == "# Ledger"
    assert "staged.txt" not in result.output
    assert "new.txt" not in result.output
    assert describe(repository) == before
    assert not (tmp_path / "hook-ran").exists()


def test_the_end_of_a_long_output(repository: Path, open_workspace: Open) -> None:
    result = run(open_workspace, repository, "yes '\x1b[31mred\x1b[0m' | head -n 300000; printf '\\377end'")
    assert len(result.output) == MAX_OUTPUT_CHARS
    assert result.output.startswith("…")
    assert result.output.endswith("red\n\ufffdend")
    assert "\x1b" not in result.output


def test_nothing_waits_for_input(repository: Path, open_workspace: Open) -> None:
    assert run(open_workspace, repository, "cat; echo done").output == "done"


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
def test_a_command_that_hangs(repository: Path, open_workspace: Open, tmp_path: Path, command: str) -> None:
    with open_fifo(tmp_path) as (fifo, reader):
        result = run(open_workspace, repository, f"exec 3> '{fifo}'; sleep 1000 & echo begun; {command}", seconds=0.5)
        wait_for_end(reader)
    assert not result.is_ok
    assert result.output == "begun\n[stopped after 0.5 seconds]"


def test_a_process_that_the_command_leaves_behind(repository: Path, open_workspace: Open, tmp_path: Path) -> None:
    with open_fifo(tmp_path) as (fifo, reader):
        assert run(open_workspace, repository, f"exec 3> '{fifo}'; sleep 1000 & echo done") == CheckResult(
            is_ok=True, output="done"
        )
        wait_for_end(reader)


def test_a_cancelled_check(repository: Path, open_workspace: Open, tmp_path: Path) -> None:
    base = git(repository, "rev-parse", "HEAD")

    async def cancel(fifo: Path, reader: int) -> None:
        command = f"exec 3> '{fifo}'; echo begun >&3; sleep 1000"
        check = asyncio.ensure_future(in_thread(workspace.run_check, base, FIX, command, 1000))
        has_begun = asyncio.Event()
        asyncio.get_running_loop().add_reader(reader, has_begun.set)
        await has_begun.wait()
        asyncio.get_running_loop().remove_reader(reader)
        check.cancel()
        with pytest.raises(asyncio.CancelledError):
            await check

    with open_fifo(tmp_path) as (fifo, reader):
        with open_workspace() as workspace:
            asyncio.run(cancel(fifo, reader))
        assert list((tmp_path / "temporary").iterdir()) == []
        wait_for_end(reader)


def test_no_check_begins_in_a_run_that_is_over(repository: Path, open_workspace: Open, tmp_path: Path) -> None:
    base = git(repository, "rev-parse", "HEAD")
    is_over, ended = threading.Event(), threading.Event()
    workspace = open_workspace()

    def work() -> CheckResult:
        try:
            is_over.wait()
            return workspace.run_check(base, FIX, f"touch '{tmp_path}/ran'", 10)
        finally:
            ended.set()

    async def cancel() -> None:
        with pytest.raises(TimeoutError):
            await in_thread(work, seconds=0.01)

    asyncio.run(cancel())
    is_over.set()
    assert ended.wait(30)
    assert not (tmp_path / "ran").exists()


COMMANDS = [
    'git stash push -q --include-untracked && cat src/store.py && git stash pop -q; test -z "$(git stash list)"',
    "git stash pop; git stash drop; git stash clear",
    "git config core.hooksPath .husky/_ && test $(git config core.hooksPath) = .husky/_",  # husky
    'hooks=$(git rev-parse --git-path hooks); mkdir -p "$hooks" && echo mine > "$hooks/pre-commit"',  # pre-commit
    "git commit -qam new && git branch --force other && git tag -d v1.2 && git update-ref -d refs/heads/main",
    "git worktree add -q ../second; git rm -qr --cached .; git tag -d v1.2; git gc -q --prune=now; git repack -qad",
    "chmod -R u+w .git; rm -rf .git/*; git init -q",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_of_the_users_repository_changes(repository: Path, open_workspace: Open, command: str) -> None:
    git(repository, "tag", "v1.2")
    git(repository, "branch", "other")
    write(repository, {"src/store.py": "total = 'two days of work'\n"})
    git(repository, "stash", "push", "-q")
    before = {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()}
    result = run(open_workspace, repository, f"({command}); git rev-parse --git-common-dir")
    assert result.output.splitlines()[-1] == ".git"
    assert {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()} == before, result.output


def test_tags_and_the_branch_are_there_and_no_others(repository: Path, open_workspace: Open) -> None:
    git(repository, "tag", "--annotate", "v1.2", "-m", "x")
    base = commit(repository, {"a.txt": "a\n"})
    git(repository, "switch", "-q", "-c", "topic/a")
    git(repository, "remote", "add", "origin", "https://ada:token@example.org/x.git")
    command = "git describe; git remote; git for-each-ref --format='%(refname)'; git rev-parse HEAD"
    assert run(open_workspace, repository, command).output.splitlines() == [
        f"v1.2-1-g{base[:7]}",
        "refs/heads/topic/a",
        "refs/tags/v1.2",
        base,
    ]


CLONES = {"clone.defaultRemoteName": "up", "clone.rejectShallow": "true", "protocol.file.allow": "never"}


@pytest.mark.parametrize("kind", ["shallow", "work tree", "detached"])
def test_repositories_of_other_kinds(repository: Path, open_workspace: Open, tmp_path: Path, kind: str) -> None:
    commit(repository)
    folder = tmp_path / "copy"
    if kind == "shallow":
        git(tmp_path, "clone", "-q", "--depth=1", repository.as_uri(), "copy")
        for name, value in CLONES.items():
            git(folder, "config", "--file", str(tmp_path / "home/.gitconfig"), name, value)
    else:
        git(repository, "worktree", "add", "-q", "--detach", str(folder))
    result = open_workspace(folder).run_check(git(folder, "rev-parse", "HEAD"), FIX, "cat src/store.py README.md", 60)
    assert result == CheckResult(is_ok=True, output="total = 0\n# Ledger")
    if kind != "shallow":
        git(repository, "worktree", "remove", "--force", str(folder))


REPORT = """<testsuites><testsuite><testcase classname="tests.test_cart" name="test_a"/>
<testcase classname="tests.test_cart" name="test_b[x]"><failure message="assert 1">long</failure></testcase>
<testcase name="TestTotal"><error/></testcase><testcase name="later"><skipped/></testcase></testsuite></testsuites>"""


def test_reports_name_the_tests_that_fail(repository: Path, open_workspace: Open) -> None:
    commit(repository, {"data/old.xml": REPORT.replace("test_b", "test_tracked")})
    command = f"mkdir -p build/reports; echo '{REPORT}' > build/reports/a.xml; echo '<a' > b.xml; exit 1"
    assert run(open_workspace, repository, command).failed == ["TestTotal", "tests.test_cart test_b[x]"]


def test_a_report_that_is_tracked_counts_once_it_is_written(repository: Path, open_workspace: Open) -> None:
    commit(repository, {"report.xml": REPORT})
    assert run(open_workspace, repository, "exit 1").failed == []
    command = f"echo '{REPORT.replace('test_b', 'test_now')}' > report.xml; exit 1"
    assert run(open_workspace, repository, command).failed == ["TestTotal", "tests.test_cart test_now[x]"]


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
def test_other_xml_is_no_report(repository: Path, open_workspace: Open, command: str) -> None:
    assert run(open_workspace, repository, f"{command}; exit 1") == CheckResult(is_ok=False, output="")


@pytest.mark.parametrize("layout", ["src/ledger", "ledger"])
def test_a_package_that_is_installed_in_editable_mode(
    repository: Path, open_workspace: Open, tmp_path: Path, layout: str
) -> None:
    write(repository, {f"{layout}/__init__.py": "name = 'commit'\n", "pyproject.toml": "[project]\nname='ledger'\n"})
    base = commit(repository)
    write(repository, {f"{layout}/__init__.py": "name = 'checkout'\n"})
    # What `pip install --editable` leaves: a .pth file that leads to the checkout.
    packages = tmp_path / "packages"
    write(packages, {"editable.pth": str((repository / layout).parent)})
    program = f"import site; site.addsitedir('{packages}'); import ledger; print(ledger.name)"
    command = f'"{sys.executable}" -c "{program}"'
    patch = {f"{layout}/__init__.py": BaseFile(text="name = 'patch'\n")}
    workspace = open_workspace(PYTHONPATH=str(tmp_path / "other"))
    assert workspace.run_check(base, patch, command, 60).output == "patch"
    assert str(tmp_path / "other") in workspace.run_check(base, patch, "echo $PYTHONPATH", 60).output


def test_other_projects_do_not_get_a_python_path(repository: Path, open_workspace: Open) -> None:
    assert run(open_workspace, repository, "echo [$PYTHONPATH]").output == "[]"


def test_the_environment_is_the_users(repository: Path, open_workspace: Open, tmp_path: Path) -> None:
    command, gone = "echo $DATABASE_URL; git status --short | wc -l", str(tmp_path / "nowhere")
    assert run(open_workspace, repository, command, DATABASE_URL="x", GIT_DIR=gone).output.split() == ["x", "2"]


@pytest.mark.parametrize(
    ("command", "problem"), [("no-such-program --x", "was not found"), ("./README.md", "is not executable")]
)
def test_a_command_that_cannot_run(repository: Path, open_workspace: Open, command: str, problem: str) -> None:
    with pytest.raises(BadInput, match=f"The check's command {problem}. Try it yourself in the checkout."):
        run(open_workspace, repository, command)


def test_folders_that_are_hard_to_remove(repository: Path, open_workspace: Open) -> None:
    assert run(open_workspace, repository, "mkdir a; touch a/b; chmod 500 a; chmod -R a-w .git").is_ok
