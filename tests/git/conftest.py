import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, git, write
from triage.git.write import UserRepository

HOOKS = [
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-checkout",
    "post-merge",
    "pre-push",
    "reference-transaction",
    "post-rewrite",
    "post-index-change",
]
Open = Callable[..., UserRepository]


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Of a user with a name and an e-mail address, and with a folder of their own for temporary files."""
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    temporary.mkdir()
    write(
        home, {".gitconfig": "[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n[commit]\n\tgpgSign = true\n"}
    )
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    return {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "ledger"
    commit(folder, {"src/store.py": "total = 1\n", "run.sh": "#!/bin/sh\n", "README.md": "# Ledger\n"})
    (folder / ".git/hooks").mkdir()
    for name in HOOKS:
        hook = folder / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/hook-ran'\n", encoding="ascii")
        hook.chmod(0o755)
    return folder


@pytest.fixture
def open_repository(repository: Path, environment: Mapping[str, str]) -> Open:
    def open_repository(folder: Path = repository, **more: str) -> UserRepository:
        return UserRepository(folder, {**environment, **more})

    return open_repository


def make_dirty(repository: Path) -> None:
    """Leave a staged change, an unstaged one on top of it, a new file and a deleted one."""
    write(repository, {"src/store.py": "total = 2\n", "staged.txt": "staged\n"})
    git(repository, "add", "src/store.py", "staged.txt")
    write(repository, {"src/store.py": "total = 3\n", "new.txt": "new\n"})
    (repository / "README.md").unlink()


def describe(repository: Path) -> tuple[str, bytes, str, str]:
    """What the user sees of the repository: status, index, files, current branch."""
    index = (repository / ".git/index").read_bytes()
    status = git(repository, "--no-optional-locks", "status", "--porcelain=v2", "--branch")
    files = "\n".join(sorted(f"{path.relative_to(repository)}" for path in repository.rglob("*") if path.is_file()))
    visible = "\n".join(line for line in files.splitlines() if not line.startswith(".git/"))
    return status, index, visible, git(repository, "worktree", "list")
