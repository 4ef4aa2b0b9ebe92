"""What a check can reach: a repository of its own, and nothing of the user's."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, git, write
from tests.fix.local.conftest import Open
from triage.base.errors import BadInput
from triage.domain.proposal import BaseFile

FIX = {"src/store.py": BaseFile(text="total = 0\n")}
Make = Callable[[Path, Path], Path]


def read_all(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "command",
    [
        'git stash push -q --include-untracked && cat src/store.py && git stash pop -q; test -z "$(git stash list)"',
        "git stash pop; git stash drop; git stash clear",
        "git config core.hooksPath .husky/_ && test $(git config core.hooksPath) = .husky/_",  # husky
        'hooks=$(git rev-parse --git-path hooks); mkdir -p "$hooks" && echo mine > "$hooks/pre-commit"',  # pre-commit
        "git commit -qam new && git branch --force other && git tag -d v1.2 && git update-ref -d refs/heads/main",
        "git worktree prune; git worktree add -q ../second; git rm -qr --cached .; git reflog expire --expire=all --all; git tag -d v1.2; git gc -q --prune=now; git repack -qad",
        "chmod -R u+w .git; rm -rf .git/*; git init -q",
    ],
)
def test_nothing_of_the_users_repository_changes(repository: Path, open_workspace: Open, command: str) -> None:
    base = git(repository, "rev-parse", "HEAD")
    git(repository, "tag", "v1.2")
    git(repository, "branch", "other")
    write(repository, {"src/store.py": "total = 'two days of work'\n"})
    git(repository, "stash", "push", "-q")
    before = read_all(repository)
    result = open_workspace().run_check(base, FIX, f"({command}); git rev-parse --git-common-dir", 60)
    assert result.output.endswith(".git")
    assert not Path(result.output.splitlines()[-1]).is_absolute()
    assert read_all(repository) == before, result.output


def test_tags_and_the_name_of_the_branch_are_there_and_no_others(repository: Path, open_workspace: Open) -> None:
    git(repository, "tag", "--annotate", "v1.2", "-m", "x")
    base = commit(repository, {"a.txt": "a\n"})
    git(repository, "branch", "other")
    git(repository, "remote", "add", "origin", "https://ada:token@example.org/x.git")
    git(repository, "update-ref", "refs/remotes/origin/main", base)
    write(repository, {"a.txt": "b\n"})
    git(repository, "stash", "push", "-q")
    git(repository, "switch", "-q", "-c", "topic/a")
    command = (
        "git describe; git symbolic-ref HEAD; git remote; git for-each-ref --format='%(refname)'; git log --oneline"
    )
    lines = open_workspace().run_check(base, FIX, command, 60).output.splitlines()
    assert lines[:4] == [f"v1.2-1-g{base[:7]}", "refs/heads/topic/a", "refs/heads/topic/a", "refs/tags/v1.2"]
    assert len(lines) == 6
    git(repository, "switch", "-q", "--detach")
    assert open_workspace().run_check(base, {}, "git rev-parse HEAD --abbrev-ref HEAD", 60).output.split() == [
        base,
        "HEAD",
    ]


def test_the_users_name_in_this_repository(repository: Path, open_workspace: Open) -> None:
    git(repository, "config", "user.name", "Countess")
    base = git(repository, "rev-parse", "HEAD")
    command = "git -c commit.gpgSign=false commit -qam x && git log -1 --format='%an %ae'"
    assert open_workspace().run_check(base, FIX, command, 60).output == "Countess ada@example.org"


def test_what_is_ignored_only_here(repository: Path, open_workspace: Open) -> None:
    write(repository, {".git/info/exclude": "node_modules\n", "node_modules/left/index.js": "1\n"})
    base = git(repository, "rev-parse", "HEAD")
    result = open_workspace().run_check(base, {}, "git status --short && git stash -qu; cat node_modules/left/*", 60)
    assert result.output == "1"


def clone(repository: Path, folder: Path, *words: str) -> Path:
    git(repository.parent, "clone", "-q", *words, repository.as_uri(), str(folder))
    return folder


def clone_shallow(repository: Path, folder: Path) -> Path:
    commit(repository)
    return clone(repository, folder, "--depth=1")


def clone_partially(repository: Path, folder: Path) -> Path:
    git(repository, "config", "uploadpack.allowFilter", "true")
    clone(repository, folder, "--filter=blob:none", "--sparse")
    git(folder, "sparse-checkout", "set", "docs")
    return folder


def clone_shared(repository: Path, folder: Path) -> Path:
    """Three stores of objects, each of which leads to the next, once by a relative path."""
    for source, target in (("ledger", "second"), ("second", "third"), ("third", folder.name)):
        git(repository.parent, "clone", "-q", "--shared", source, target)
    (repository.parent / "third/.git/objects/info/alternates").write_text("../../../second/.git/objects\n")
    commit(repository.parent / "second")
    return folder


def add_worktree(repository: Path, folder: Path) -> Path:
    git(repository, "worktree", "add", "-q", "--detach", str(folder))
    return folder


def add_submodule(repository: Path, folder: Path) -> Path:
    commit(folder, {"top.txt": "top\n"})
    git(folder, "-c", "protocol.file.allow=always", "submodule", "add", "-q", repository.as_uri(), "sub")
    return folder / "sub"


def recurse_into_submodules(repository: Path, folder: Path) -> Path:
    commit(folder / "lib", {"lib.txt": "lib\n"})
    uri = (folder / "lib").as_uri()
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", uri, "lib")
    commit(repository)
    write(repository, {"lib/lib.txt": "changed\n"})
    git(repository, "config", "submodule.recurse", "true")
    return repository


def use_a_sparse_index(repository: Path, folder: Path) -> Path:
    commit(repository, {"docs/a.md": "a\n"})
    git(repository, "sparse-checkout", "set", "--cone", "--sparse-index", "docs")
    return repository


def use_sha256(repository: Path, folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "-q", "--object-format=sha256")
    commit(folder, {"src/store.py": "total = 1\n", "README.md": "# Ledger\n"})
    return folder


KINDS: list[Make] = [
    clone_shallow,
    clone_partially,
    clone_shared,
    add_submodule,
    recurse_into_submodules,
    use_a_sparse_index,
    use_sha256,
]
ODD_NAME = 'two\nlines "\\'


@pytest.mark.parametrize(
    ("make", "name"),
    [*((make, "copy") for make in KINDS), (clone, ODD_NAME), (add_worktree, ODD_NAME)],
)
def test_repositories_of_all_kinds(
    repository: Path, open_workspace: Open, tmp_path: Path, make: Make, name: str
) -> None:
    folder = make(repository, tmp_path / name)
    base = git(folder, "rev-parse", "HEAD")
    before = read_all(tmp_path / name), read_all(repository)
    command = "cat src/store.py README.md && git status --short --ignore-submodules && git log --format=%H && git diff"
    result = open_workspace(folder).run_check(base, FIX, f"{command} && git stash -q", 60)
    assert result.is_ok, result.output
    assert result.output.startswith(f"total = 0\n# Ledger\nM  src/store.py\n{base}")
    assert (read_all(tmp_path / name), read_all(repository)) == before


def test_a_commit_that_is_not_here(repository: Path, open_workspace: Open) -> None:
    with pytest.raises(BadInput, match=r"The commit 111111111111 is not in this clone"):
        open_workspace().run_check("1" * 40, FIX, "true", 60)


@pytest.mark.parametrize("spelling", ["ledger", "linked"])
def test_the_environment_leads_to_the_work_tree(
    repository: Path, open_workspace: Open, tmp_path: Path, spelling: str
) -> None:
    (tmp_path / "linked").symlink_to(repository)
    folder = tmp_path / spelling
    tool = '#!/bin/sh\nrm -rf "$PROJECT_ROOT/build" "$OLDPWD/build"\necho "tool of $0"\n'
    base = commit(repository, {"bin/tool": tool})
    (repository / "bin/tool").chmod(0o755)
    base = commit(repository)
    write(repository, {"build/precious": "1\n", "bin/tool": "#!/bin/sh\necho the wrong one\n"})
    write(repository, {"tools/made": "#!/bin/sh\necho made\n"})
    (repository / "tools/made").chmod(0o755)
    workspace = open_workspace(
        PATH=os.pathsep.join([f"{folder}/bin", f"{folder}/tools", os.environ["PATH"]]),
        PROJECT_ROOT=str(folder),
        OLDPWD=str(folder),
        PWD=f"{folder}/src",
        URL=f"sqlite:///{folder}/build/x.db",
        TMPDIR=f"{folder}/tmp",
        NEAR=f"{folder}-data",
    )
    result = workspace.run_check(base, {}, "tool; made; mktemp; echo $PWD $PROJECT_ROOT $URL; echo $NEAR", 60)
    assert result.is_ok, result.output
    *inside, near = result.output.splitlines()
    assert near == f"{folder}-data"
    assert not any(f"{place}/" in f"{line}/" for line in inside for place in (folder, repository))
    assert "made" in inside
    assert (repository / "build/precious").is_file()
