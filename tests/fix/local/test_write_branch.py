import asyncio
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, git
from tests.fix.local.conftest import Open, describe, make_dirty
from triage.base.errors import BadInput, BranchTaken
from triage.base.threads import in_thread
from triage.domain.proposal import BaseFile
from triage.fix.fix_ports import CommitRequest, PatchCommit
from triage.fix.local.local_workspace import LocalWorkspace

NAME = "triage/12-totals-are-wrong"
FIX = {"src/store.py": BaseFile(text="total = 0\n")}
TEST = {"tests/test_store.py": BaseFile(text="assert total == 0\n")}


def request_for(
    repository: Path, files: Mapping[str, BaseFile] = FIX, tests: Mapping[str, BaseFile] = TEST, base: str = ""
) -> CommitRequest:
    return CommitRequest(
        issue=12,
        base=base or git(repository, "rev-parse", "HEAD"),
        commits=[
            *([PatchCommit(files=tests, message="[#12] Test: totals\n")] if tests else []),
            PatchCommit(files=files, message="[#12] Totals\n\nTriage-Issue: 12\n"),
        ],
    )


def make_branch(workspace: LocalWorkspace, request: CommitRequest, name: str = NAME) -> str:
    commit = workspace.write_commits(request)
    workspace.create_branch(name, commit)
    return commit


def test_the_branch_has_the_test_and_then_the_fix(repository: Path, open_workspace: Open) -> None:
    base = git(repository, "rev-parse", "HEAD")
    assert make_branch(open_workspace(), request_for(repository)) == git(repository, "rev-parse", NAME)
    assert git(repository, "rev-parse", f"{NAME}~2") == base
    assert git(repository, "diff", "--name-status", base, f"{NAME}~1") == "A\ttests/test_store.py"
    assert git(repository, "diff", "--name-status", f"{NAME}~1", NAME) == "M\tsrc/store.py"
    assert git(repository, "show", f"{NAME}:src/store.py") == "total = 0"
    assert git(repository, "log", "-2", "--format=%an <%ae> %cn|%B", NAME).split("\n\n") == [
        "Ada Lovelace <ada@example.org> Ada Lovelace|[#12] Totals",
        "Triage-Issue: 12",
        "Ada Lovelace <ada@example.org> Ada Lovelace|[#12] Test: totals",
    ]
    git(repository, "fsck", "--strict")


def test_a_patch_without_a_test_is_one_commit_and_the_mode_is_stored(repository: Path, open_workspace: Open) -> None:
    files = {"run.sh": BaseFile(text="#!/bin/sh\r\necho ä\n", mode="100755")}
    make_branch(open_workspace(), request_for(repository, files, {}))
    assert git(repository, "log", "--format=%s", f"HEAD..{NAME}") == "[#12] Totals"
    assert git(repository, "ls-tree", NAME, "run.sh").startswith("100755 blob")
    assert git(repository, "cat-file", "blob", f"{NAME}:run.sh") == "#!/bin/sh\r\necho ä"


def test_work_tree_index_and_hooks_are_not_touched(repository: Path, open_workspace: Open, tmp_path: Path) -> None:
    make_dirty(repository)
    git(repository, "config", "core.autocrlf", "true")
    (tmp_path / "hook-ran").unlink(missing_ok=True)  # `git add` above runs one
    before = describe(repository)
    (tmp_path / "hook-ran").unlink(missing_ok=True)
    make_branch(open_workspace(), request_for(repository))
    assert not (tmp_path / "hook-ran").exists()
    assert describe(repository) == before
    assert git(repository, "show", f"{NAME}:README.md") == "# Ledger"


def test_a_hook_would_be_noticed(repository: Path, tmp_path: Path) -> None:
    git(repository, "branch", "other")
    assert (tmp_path / "hook-ran").exists()


def test_the_same_commit_again_changes_nothing(repository: Path, open_workspace: Open) -> None:
    workspace = open_workspace()
    assert not workspace.has_branch(NAME)
    made = make_branch(workspace, request_for(repository))
    workspace.create_branch(NAME, made)
    assert workspace.has_branch(NAME)
    assert git(repository, "rev-parse", NAME) == made


@pytest.mark.parametrize("change", ["other files", "without the test", "other base"])
def test_a_branch_with_other_commits_is_not_moved(repository: Path, open_workspace: Open, change: str) -> None:
    workspace, request = open_workspace(), request_for(repository)
    made = make_branch(workspace, request)
    others = {
        "other files": request_for(repository, {"src/store.py": BaseFile(text="total = 9\n")}),
        "without the test": request_for(repository, FIX | TEST, {}),
        "other base": request.model_copy(update={"base": commit(repository)}),
    }
    with pytest.raises(BranchTaken, match=f"{NAME} exists and has other commits. Rename it with `git branch -m"):
        make_branch(workspace, others[change])
    assert git(repository, "rev-parse", NAME) == made


def test_a_cancelled_branch_leaves_no_lock(repository: Path, open_workspace: Open, tmp_path: Path) -> None:
    """A git that hangs is ended so that it removes its lock files, and the branch can be created afterwards."""
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    real = shutil.which("git")
    program.write_text(
        f"""#!/bin/sh
case "$*" in *update-ref*) trap "rm '{tmp_path}/locked'; kill \\$!; exit 143" TERM
sleep 1000 & : > '{tmp_path}/locked'; wait;; *) exec {real} "$@";; esac
""",
        encoding="ascii",
    )
    program.chmod(0o755)
    workspace = open_workspace(PATH=f"{program.parent}:{os.environ['PATH']}")
    request = request_for(repository)

    async def cancel() -> None:
        branch = asyncio.ensure_future(in_thread(make_branch, workspace, request))
        while not (tmp_path / "locked").exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.01)
        branch.cancel()
        await asyncio.gather(branch, return_exceptions=True)

    with workspace:
        asyncio.run(cancel())
    assert not (tmp_path / "locked").exists()
    assert git(repository, "branch", "--list", NAME) == ""


@pytest.mark.parametrize("name", ["-x", "a..b", "a b", "@{-1}", "", "x.lock", "refs/heads/../x"])
def test_odd_names(repository: Path, open_workspace: Open, name: str) -> None:
    with pytest.raises(BadInput, match="as a branch's name"):
        make_branch(open_workspace(), request_for(repository), name)


def test_an_alias_or_a_hook_that_started_us(repository: Path, open_workspace: Open, tmp_path: Path) -> None:
    other = tmp_path / "other"
    commit(other, {"a": "a"})
    make_branch(open_workspace(GIT_DIR=str(other / ".git"), GIT_INDEX_FILE="/x"), request_for(repository))
    assert git(repository, "rev-parse", "--verify", NAME)


def test_nobody_is_made_up_as_the_author(repository: Path, open_workspace: Open) -> None:
    workspace = open_workspace(HOME="/nonexistent", EMAIL="ada@example.org")
    for call in (workspace.check_can_commit, lambda: make_branch(workspace, request_for(repository))):
        with pytest.raises(BadInput, match=r"your name and e-mail address.*git config --global user\.name"):
            call()
    assert git(repository, "branch", "--list", "triage/*") == ""


def test_a_repository_without_a_commit(tmp_path: Path, repository: Path, open_workspace: Open) -> None:
    git(tmp_path, "init", "-q", "empty")
    with pytest.raises(BadInput, match="no commit yet"):
        make_branch(open_workspace(tmp_path / "empty"), request_for(repository))
    (tmp_path / "plain").mkdir()
    with pytest.raises(BadInput, match="this folder is no git repository"):
        open_workspace(tmp_path / "plain").check_can_commit()


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ("error: insufficient permission\nerror: unable to write file: Permission denied", "make it writable for you"),
        ("fatal: Unable to create '/x/index.lock': Read-only file system", "read-only file system"),
        ("fatal: detected dubious ownership in repository at '/x'", "safe.directory"),
        ("error: file write error: No space left on device", "disk is full"),
        ("\x1b[31manything else ghp_secret", "exit code 128"),
    ],
)
def test_what_git_says_is_one_line_of_ours(open_workspace: Open, tmp_path: Path, printed: str, message: str) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    (tmp_path / "says").write_text(printed, encoding="utf-8")
    program.write_text(f"#!/bin/sh\n/bin/cat '{tmp_path}/says' >&2\nexit 128\n", encoding="ascii")
    program.chmod(0o755)
    with pytest.raises(BadInput, match=message) as error:
        open_workspace(PATH=str(program.parent)).check_can_commit()
    assert "\n" not in str(error.value)
    assert "ghp_secret" not in str(error.value)


def test_without_git(open_workspace: Open) -> None:
    with pytest.raises(BadInput, match="git is not installed"):
        open_workspace(PATH="/nonexistent")
