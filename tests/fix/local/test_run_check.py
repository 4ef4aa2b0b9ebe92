import asyncio
import errno
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
from triage.fix.local.project_command import MAX_OUTPUT_CHARS

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


def test_dependencies_of_the_checkout(repository: Path, open_workspace: Open) -> None:
    files = {"node_modules/left/index.js": "1\n", "venv/bin/tool": "2\n", "vendor/a.txt": "in the checkout\n"}
    write(repository, {"vendor/a.txt": "in the commit\n"})
    commit(repository)
    write(repository, files)
    result = run(open_workspace, repository, "cat node_modules/left/index.js venv/bin/tool vendor/a.txt; rm -r venv")
    assert result == CheckResult(is_ok=True, output="1\n2\nin the commit", copied=["node_modules", "venv"])
    assert (repository / "venv/bin/tool").is_file()


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf node_modules/* node_modules/.bin && mkdir node_modules/new",  # npm ci
        "echo changed >> node_modules/left/index.js",
        ": > node_modules/left/index.js",
        "echo changed > node_modules/.bin/tool",
        "chmod 000 node_modules/left/index.js",
        "echo changed > node_modules/linked/index.js",
    ],
)
def test_what_a_command_writes_into_dependencies_is_gone(
    repository: Path, open_workspace: Open, tmp_path: Path, command: str
) -> None:
    modules = repository / "node_modules"
    write(modules, {"left/index.js": "1\n", ".bin/placeholder": ""})
    (modules / ".bin/tool").symlink_to("../left/index.js")
    (modules / "linked").symlink_to(modules / "left")
    assert run(open_workspace, repository, command).is_ok
    assert (modules / "left/index.js").read_text() == "1\n"
    assert (modules / "left/index.js").stat().st_mode & 0o777 == 0o644
    assert sorted(path.name for path in modules.iterdir()) == [".bin", "left", "linked"]


def test_links_out_of_the_checkout_lead_where_they_led(repository: Path, open_workspace: Open, tmp_path: Path) -> None:
    write(tmp_path, {"other/index.js": "other\n"})
    write(repository, {"node_modules/left/index.js": "1\n"})
    (repository / "node_modules/near").symlink_to("../../other")
    (repository / "node_modules/far").symlink_to(tmp_path / "other")
    (repository / "node_modules/gone").symlink_to("../../gone")
    os.mkfifo(repository / "node_modules/pipe")
    result = run(open_workspace, repository, "cat node_modules/near/index.js node_modules/far/index.js")
    assert result.output.split() == ["other", "other"]


def test_dependencies_that_cannot_be_copied(
    repository: Path, open_workspace: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {"node_modules/left/index.js": "1\n"})

    def fill_the_disk(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copy2", fill_the_disk)
    with pytest.raises(
        BadInput, match=r"node_modules cannot be copied for the check \(no space left on device\)\. TMPDIR"
    ):
        run(open_workspace, repository, "true")


@pytest.mark.parametrize("folder", ["", "docs"])
def test_a_sparse_checkout(repository: Path, open_workspace: Open, folder: str) -> None:
    base = commit(repository, {"docs/a.md": "a\n", "docs/b.md": "b\n"})
    git(repository, "sparse-checkout", "set", "src")
    (repository / "docs").mkdir(exist_ok=True)
    prefix = "" if folder else "docs/"
    patch = {f"{prefix}a.md": BaseFile(text="A\n"), f"{prefix}new/c.md": BaseFile(text="C\n")}
    result = open_workspace(repository / folder).run_check(base, patch, f"cd ./{prefix}; cat a.md new/c.md; ls", 60)
    assert result.output.split() == ["A", "C", "a.md", "new"]
    assert not (repository / "docs/a.md").exists()


def test_packages_of_a_javascript_workspace(repository: Path, open_workspace: Open) -> None:
    base = commit(repository, {"packages/a/index.js": "commit\n", "packages/b/index.js": "commit\n"})
    modules = repository / "node_modules"
    write(modules, {"left/index.js": "left\n", "@x/other/index.js": "other\n", ".bin/tool": "tool\n"})
    (modules / "a").symlink_to("../packages/a")
    (modules / "@x" / "b").symlink_to("../../packages/b")
    write(repository, {"packages/a/index.js": "checkout\n", "packages/b/index.js": "checkout\n"})
    patch = {"packages/a/index.js": BaseFile(text="patch\n")}
    command = "cd node_modules; cat a/index.js @x/b/index.js left/index.js @x/other/index.js .bin/tool"
    result = open_workspace().run_check(base, patch, command, 60)
    assert result.output.split() == ["patch", "commit", "left", "other", "tool"]
    assert result.copied == ["node_modules"]
    assert (modules / "left/index.js").is_file()


def test_a_folder_below_the_top(repository: Path, open_workspace: Open) -> None:
    write(repository, {"node_modules/a.js": "", "src/node_modules/b.js": ""})
    result = open_workspace(repository / "src").run_check(
        git(repository, "rev-parse", "HEAD"), {"store.py": BaseFile(text="total = 5\n")}, "cat store.py; ls ..", 60
    )
    assert result.output.splitlines() == ["total = 5", "README.md", "node_modules", "run.sh", "src"]
    assert result.copied == ["node_modules", "src/node_modules"]


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


def test_environment_and_shell_of_the_user(repository: Path, open_workspace: Open, tmp_path: Path) -> None:
    url = "postgres://u:p@localhost/x"
    result = run(
        open_workspace,
        repository,
        "echo $DATABASE_URL; git status --short | wc -l",
        DATABASE_URL=url,
        GIT_DIR=str(tmp_path / "nowhere"),
    )
    assert result.output.split() == [url, "2"]
    shell = tmp_path / "shell"
    shell.write_text('#!/bin/sh\necho "shell of the user: $2"\n', encoding="ascii")
    shell.chmod(0o755)
    assert run(open_workspace, repository, "make test", SHELL=str(shell)).output == "shell of the user: make test"


@pytest.mark.parametrize(
    ("command", "problem"), [("no-such-program --x", "was not found"), ("./README.md", "is not executable")]
)
def test_a_command_that_cannot_run(repository: Path, open_workspace: Open, command: str, problem: str) -> None:
    with pytest.raises(BadInput, match=f"The check's command {problem}. Try it yourself in the checkout."):
        run(open_workspace, repository, command)


def test_folders_that_are_hard_to_remove(repository: Path, open_workspace: Open) -> None:
    assert run(open_workspace, repository, "mkdir a; touch a/b; chmod 500 a; chmod -R a-w .git").is_ok


def test_other_work_trees_of_the_user_stay(repository: Path, open_workspace: Open, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "unplugged"))
    (tmp_path / "unplugged").rename(tmp_path / "elsewhere")
    before = git(repository, "worktree", "list")
    run(open_workspace, repository, "true")
    assert git(repository, "worktree", "list") == before
    git(repository, "worktree", "prune")


def test_a_folder_for_temporary_files_inside_the_checkout(
    repository: Path, open_workspace: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(repository / "tmp"))
    result = run(open_workspace, repository, "pwd")
    assert not Path(result.output).is_relative_to(repository)
    assert list((repository / "tmp").iterdir()) == []
