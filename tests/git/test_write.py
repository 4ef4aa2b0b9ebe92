import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, git, write
from tests.git.conftest import Open, describe, make_dirty
from triage.base.errors import BadInput
from triage.base.threads import in_thread
from triage.domain.proposal import PatchCommit, TextFile
from triage.git.write import UserRepository

NAME = "triage/12-totals-are-wrong"
FIX = {"src/store.py": TextFile(text="total = 0\n")}
TEST = {"tests/test_store.py": TextFile(text="assert total == 0\n")}


COMMANDS = [
    'git stash push -q --include-untracked && cat src/store.py && git stash pop -q; test -z "$(git stash list)"',
    "git stash pop; git stash drop; git stash clear",
    "git config core.hooksPath .husky/_ && test $(git config core.hooksPath) = .husky/_",  # husky
    'hooks=$(git rev-parse --git-path hooks); mkdir -p "$hooks" && echo mine > "$hooks/pre-commit"',  # pre-commit
    "git commit -qam new && git branch --force other && git tag -d v1.2 && git update-ref -d refs/heads/main",
    "git worktree add -q ../second; git rm -qr --cached .; git tag -d v1.2; git gc -q --prune=now; git repack -qad",
    "chmod -R u+w .git; rm -rf .git/*; git init -q",
]
CLONES = {"clone.defaultRemoteName": "up", "clone.rejectShallow": "true", "protocol.file.allow": "never"}


def make_commits(files: Mapping[str, TextFile] = FIX, tests: Mapping[str, TextFile] = TEST) -> list[PatchCommit]:
    return [
        *([PatchCommit(files=tests, message="[#12] Test: totals\n")] if tests else []),
        PatchCommit(files=files, message="[#12] Totals\n\nTriage-Issue: 12\n"),
    ]


def make_branch(
    opened: UserRepository, commits: Sequence[PatchCommit] | None = None, name: str = NAME, base: str = ""
) -> str:
    base = base or git(opened.folder, "rev-parse", "HEAD")
    commit = opened.write_commits(base, commits or make_commits())[-1]
    opened.create_branch(name, commit)
    return commit


def test_the_branch_has_the_test_and_then_the_fix(repository: Path, open_repository: Open) -> None:
    base = git(repository, "rev-parse", "HEAD")
    assert make_branch(open_repository()) == git(repository, "rev-parse", NAME)
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


def test_a_patch_without_a_test_is_one_commit_and_the_mode_is_stored(repository: Path, open_repository: Open) -> None:
    files = {"run.sh": TextFile(text="#!/bin/sh\r\necho ä\n", mode="100755")}
    make_branch(open_repository(), make_commits(files, {}))
    assert git(repository, "log", "--format=%s", f"HEAD..{NAME}") == "[#12] Totals"
    assert git(repository, "ls-tree", NAME, "run.sh").startswith("100755 blob")
    assert git(repository, "cat-file", "blob", f"{NAME}:run.sh") == "#!/bin/sh\r\necho ä"


def test_work_tree_index_and_hooks_are_not_touched(repository: Path, open_repository: Open, tmp_path: Path) -> None:
    make_dirty(repository)
    git(repository, "config", "core.autocrlf", "true")
    (tmp_path / "hook-ran").unlink(missing_ok=True)  # `git add` above runs one
    before = describe(repository)
    (tmp_path / "hook-ran").unlink(missing_ok=True)
    make_branch(open_repository())
    assert not (tmp_path / "hook-ran").exists()
    assert describe(repository) == before
    assert git(repository, "show", f"{NAME}:README.md") == "# Ledger"


def test_a_hook_would_be_noticed(repository: Path, tmp_path: Path) -> None:
    git(repository, "branch", "other")
    assert (tmp_path / "hook-ran").exists()


def test_the_same_commit_again_changes_nothing(repository: Path, open_repository: Open) -> None:
    opened = open_repository()
    assert not opened.has_branch(NAME)
    made = make_branch(opened)
    opened.create_branch(NAME, made)
    assert opened.has_branch(NAME)
    assert git(repository, "rev-parse", NAME) == made


@pytest.mark.parametrize("change", ["other files", "without the test", "other base"])
def test_a_branch_with_other_commits_is_not_moved(repository: Path, open_repository: Open, change: str) -> None:
    opened = open_repository()
    made = make_branch(opened)
    others = {
        "other files": make_commits({"src/store.py": TextFile(text="total = 9\n")}),
        "without the test": make_commits(FIX | TEST, {}),
        "other base": make_commits(),
    }
    base = commit(repository) if change == "other base" else ""
    with pytest.raises(BadInput, match=f"{NAME} exists and has other commits. Rename it with `git branch -m"):
        make_branch(opened, others[change], base=base)
    assert git(repository, "rev-parse", NAME) == made


def test_a_cancelled_branch_leaves_no_lock(repository: Path, open_repository: Open, tmp_path: Path) -> None:
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
    opened = open_repository(PATH=f"{program.parent}:{os.environ['PATH']}")

    async def cancel() -> None:
        branch = asyncio.ensure_future(in_thread(make_branch, opened))
        while not (tmp_path / "locked").exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.01)
        branch.cancel()
        await asyncio.gather(branch, return_exceptions=True)

    with opened:
        asyncio.run(cancel())
    assert not (tmp_path / "locked").exists()
    assert git(repository, "branch", "--list", NAME) == ""


def test_an_alias_or_a_hook_that_started_us(repository: Path, open_repository: Open, tmp_path: Path) -> None:
    other = tmp_path / "other"
    commit(other, {"a": "a"})
    make_branch(open_repository(GIT_DIR=str(other / ".git"), GIT_INDEX_FILE="/x"))
    assert git(repository, "rev-parse", "--verify", NAME)


def test_nobody_is_made_up_as_the_author(repository: Path, open_repository: Open) -> None:
    opened = open_repository(HOME="/nonexistent", EMAIL="ada@example.org")
    for call in (opened.check_can_commit, lambda: make_branch(opened)):
        with pytest.raises(BadInput, match=r"your name and e-mail address.*git config --global user\.name"):
            call()
    assert git(repository, "branch", "--list", "triage/*") == ""


def test_a_repository_without_a_commit(tmp_path: Path, repository: Path, open_repository: Open) -> None:
    git(tmp_path, "init", "-q", "empty")
    with pytest.raises(BadInput, match="no commit yet"):
        open_repository(tmp_path / "empty").check_can_commit()
    (tmp_path / "plain").mkdir()
    with pytest.raises(BadInput, match="this folder is no git repository"):
        open_repository(tmp_path / "plain").check_can_commit()


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
def test_what_git_says_is_one_line_of_ours(open_repository: Open, tmp_path: Path, printed: str, message: str) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    (tmp_path / "says").write_text(printed, encoding="utf-8")
    program.write_text(f"#!/bin/sh\n/bin/cat '{tmp_path}/says' >&2\nexit 128\n", encoding="ascii")
    program.chmod(0o755)
    with pytest.raises(BadInput, match=message) as error:
        open_repository(PATH=str(program.parent)).check_can_commit()
    assert "\n" not in str(error.value)
    assert "ghp_secret" not in str(error.value)


def test_without_git(open_repository: Open) -> None:
    with pytest.raises(BadInput, match="git is not installed"):
        open_repository(PATH="/nonexistent")


class TestClone:
    @pytest.fixture(autouse=True)
    def _nothing_is_left(self, repository: Path, tmp_path: Path) -> Iterator[None]:
        yield
        assert list((tmp_path / "temporary").iterdir()) == []
        assert len(git(repository, "worktree", "list").splitlines()) == 1

    def run(self, opened: UserRepository, command: str) -> str:
        """Run a command of a shell in a clone with the test and the fix."""
        base = git(opened.folder, "rev-parse", "HEAD")
        with opened.open_clone(base, opened.write_commits(base, make_commits())[-1]) as folder:
            environment = {"HOME": os.environ.get("HOME", "/"), **opened.environment}
            done = subprocess.run(
                ["/bin/sh", "-c", command], cwd=folder, env=environment, capture_output=True, check=False
            )
            return done.stdout.decode()

    def test_it_has_the_commit_and_the_patch_alone(self, repository: Path, open_repository: Open) -> None:
        make_dirty(repository)
        before = describe(repository)
        base = git(repository, "rev-parse", "HEAD")
        shown = self.run(open_repository(), "git rev-parse HEAD; git status --short; cat src/store.py; ls; rm -r src")
        assert shown.splitlines() == [
            *(base, "M  src/store.py", "A  tests/test_store.py", "total = 0"),
            *("README.md", "run.sh", "src", "tests"),
        ]
        assert describe(repository) == before

    def test_no_variable_leads_to_another_repository(self, open_repository: Open, tmp_path: Path) -> None:
        opened = open_repository(DATABASE_URL="x", GIT_DIR=str(tmp_path / "nowhere"))
        assert self.run(opened, "echo $DATABASE_URL; git rev-parse --git-dir").split() == ["x", ".git"]

    @pytest.mark.parametrize("command", COMMANDS)
    def test_nothing_of_the_users_repository_changes(
        self, repository: Path, open_repository: Open, command: str
    ) -> None:
        git(repository, "tag", "v1.2")
        git(repository, "branch", "other")
        write(repository, {"src/store.py": "total = 'two days of work'\n"})
        git(repository, "stash", "push", "-q")
        opened, base = open_repository(), git(repository, "rev-parse", "HEAD")
        opened.write_commits(base, make_commits())
        before = {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()}
        with opened.open_clone(base, base) as folder:
            subprocess.run(["/bin/sh", "-c", command], cwd=folder, env=opened.environment, check=False)
            assert not (folder / ".git").exists() or git(folder, "rev-parse", "--git-common-dir") == ".git"
        assert {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()} == before

    def test_tags_and_the_branch_are_there_and_no_others(self, repository: Path, open_repository: Open) -> None:
        git(repository, "tag", "--annotate", "v1.2", "-m", "x")
        base = commit(repository, {"a.txt": "a\n"})
        git(repository, "branch", "other")
        git(repository, "switch", "-q", "-c", "topic/a")
        git(repository, "remote", "add", "origin", "https://ada:token@example.org/x.git")
        command = "git describe; git remote; git for-each-ref --format='%(refname)'; git rev-parse HEAD"
        assert self.run(open_repository(), command).splitlines() == [
            f"v1.2-1-g{base[:7]}",
            "refs/heads/topic/a",
            "refs/tags/v1.2",
            base,
        ]

    @pytest.mark.parametrize("kind", ["shallow", "work tree", "detached"])
    def test_repositories_of_other_kinds(
        self, repository: Path, open_repository: Open, tmp_path: Path, kind: str
    ) -> None:
        commit(repository)
        folder = tmp_path / "copy"
        if kind == "shallow":
            git(tmp_path, "clone", "-q", "--depth=1", repository.as_uri(), "copy")
            for name, value in CLONES.items():
                git(folder, "config", "--file", str(tmp_path / "home/.gitconfig"), name, value)
        else:
            git(repository, "worktree", "add", "-q", "--detach", str(folder))
        assert self.run(open_repository(folder), "cat src/store.py README.md") == "total = 0\n# Ledger\n"
        if kind != "shallow":
            git(repository, "worktree", "remove", "--force", str(folder))

    def test_folders_that_are_hard_to_remove(self, open_repository: Open) -> None:
        assert self.run(open_repository(), "mkdir a; touch a/b; chmod 500 a; chmod -R a-w .git; echo x") == "x\n"


@pytest.mark.parametrize("name", ["-x", "a..b", "a b", "@{-1}", "", "x.lock", "refs/heads/../x"])
def test_odd_names(repository: Path, open_repository: Open, name: str) -> None:
    with pytest.raises(BadInput, match="as a branch's name"):
        make_branch(open_repository(), name=name)
