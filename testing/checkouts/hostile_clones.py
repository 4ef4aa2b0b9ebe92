"""Checkouts as people, runners and servers make them, and some that nobody should."""

import os
from pathlib import Path

from testing.checkouts.git_repositories import commit, git, write
from testing.checkouts.hostile_base import (
    PRIVATE,
    SOURCES,
    make_checkout,
    make_clone,
    make_origin,
    make_private_repository,
    outside_folder,
    remove_folder,
    write_trap,
)


def missing(root: Path) -> None:
    remove_folder(root)


def nothing(root: Path) -> None:
    root.mkdir(parents=True, exist_ok=True)


def no_commit(root: Path) -> None:
    nothing(root)
    git(root, "init", "-q")


def unborn_branch(root: Path) -> None:
    make_checkout(root)
    git(root, "checkout", "-q", "--orphan", "new")


def bare(root: Path) -> None:
    remove_folder(root)
    git(outside_folder(root), "clone", "-q", "--bare", str(make_origin(root)), str(root))


def shallow(root: Path) -> None:
    make_clone(root, "--depth=1")


def _unreachable(root: Path) -> None:
    """What would fetch runs a program, and leads nowhere."""
    git(root, "config", "remote.origin.url", f"ext::{write_trap(root)}")
    git(root, "config", "protocol.ext.allow", "always")


def blobless(root: Path) -> None:
    make_clone(root, "--no-checkout", "--filter=blob:none")
    git(root, "sparse-checkout", "set", "--no-cone", "/shop/basket.py")
    git(root, "checkout", "-q", "main")
    _unreachable(root)


def treeless(root: Path) -> None:
    make_clone(root, "--no-checkout", "--filter=tree:0")
    _unreachable(root)


def treeless_and_sparse(root: Path) -> None:
    make_clone(root, "--sparse", "--filter=tree:0", more={"aside/a.py": "x = 1\n"})
    git(root, "sparse-checkout", "set", "shop")
    _unreachable(root)


def sparse_cone(root: Path) -> None:
    make_checkout(root, {"other/a.py": "x = 1\n"})
    git(root, "sparse-checkout", "set", "--cone", "shop")


def submodules_present(root: Path) -> None:
    make_checkout(root)
    git(
        root,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(make_private_repository(root)),
        "vendored",
    )
    commit(root)


def a_submodule_itself(root: Path) -> None:
    """What `.git` names leads out of the folder, and back."""
    parent = outside_folder(root) / "parent"
    parent.mkdir()
    commit(parent, {"README": "x\n"})
    git(parent, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(make_origin(root)), "sub")
    config = str(parent / ".git/modules/sub/config")
    git(parent, "config", "--file", config, "core.worktree", str(root))
    remove_folder(root)
    (parent / "sub").rename(root)
    (root / ".git").write_text(f"gitdir: {parent}/.git/modules/sub\n")


def neighbours(root: Path) -> None:
    """Beside the code there is a second checkout, untracked."""
    make_checkout(root)
    write(root / "vendor/x", PRIVATE)
    commit(root / "vendor/x")


def neighbours_only(root: Path) -> None:
    """Two checkouts side by side, and none at the root."""
    nothing(root)
    for name, files in (("main", SOURCES), ("vendor/x", PRIVATE)):
        write(root / name, files)
        commit(root / name)


def lfs_pointers(root: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "4d" * 32 + "\nsize 12345\n"
    make_checkout(
        root,
        {"model.py": pointer, "data.csv": pointer, ".gitattributes": "*.csv filter=lfs diff=lfs merge=lfs -text\n"},
    )
    git(root, "config", "filter.lfs.process", write_trap(root))
    git(root, "config", "filter.lfs.required", "true")


def worktree(root: Path) -> None:
    remove_folder(root)
    git(make_origin(root), "worktree", "add", "-q", str(root))


def sha256(root: Path) -> None:
    nothing(root)
    git(root, "init", "-q", "--object-format=sha256")
    make_checkout(root)


def reftable(root: Path) -> None:
    """Refs in a format that git knows from 2.45 on."""
    make_checkout(root)
    git(root, "config", "core.repositoryFormatVersion", "1")
    git(root, "config", "extensions.refStorage", "reftable")


def many_refs(root: Path) -> None:
    make_checkout(root)
    commit_id = git(root, "rev-parse", "HEAD")
    lines = "".join(f"{commit_id} refs/tags/v{number:06}\n" for number in range(100_000))
    (root / ".git/packed-refs").write_text(f"# pack-refs with: peeled fully-peeled sorted \n{lines}")


def alternates(root: Path) -> None:
    """Objects of another repository can be reached from here; the commit names none of them."""
    make_checkout(root)
    write(root, {".git/objects/info/alternates": f"{make_private_repository(root)}/.git/objects\n"})


def replaced(root: Path) -> None:
    make_checkout(root)
    write(outside_folder(root), {"other": PRIVATE["private.py"]})
    other = git(root, "hash-object", "-w", str(outside_folder(root) / "other"))
    git(root, "replace", git(root, "rev-parse", "HEAD:shop/basket.py"), other)


def of_another_user(root: Path) -> None:
    make_checkout(root)
    if os.geteuid() == 0:
        for path in (root, *root.rglob("*")):
            os.lchown(path, 1001, 1001)


def git_is_a_link(root: Path) -> None:
    """`.git` is a symbolic link to another repository's."""
    write(root, SOURCES)
    (root / ".git").symlink_to(make_private_repository(root) / ".git")


def git_is_a_file(root: Path) -> None:
    """`.git` names another repository, which does not know this folder."""
    write(root, SOURCES)
    (root / ".git").write_text(f"gitdir: {make_private_repository(root)}/.git\n")


def common_folder_elsewhere(root: Path) -> None:
    """Refs and objects are another repository's."""
    make_checkout(root)
    (root / ".git/commondir").write_text(f"{make_private_repository(root)}/.git\n")


def git_is_a_pipe(root: Path) -> None:
    write(root, SOURCES)
    os.mkfifo(root / ".git")
