"""What every odd checkout shares: a bug to find, a program that must not run, text that must not be read."""

from collections.abc import Mapping
from pathlib import Path

from testing.checkouts.git_repositories import commit, git
from testing.runs.sample_bug import BASKET

CANARY = "canary4f1aprivatewords"
"""Stands in what lies outside of the checkout, or beside it: no run may show it to anybody."""
SOURCES: Mapping[str, str | bytes] = {"shop/basket.py": BASKET, "shop/cart.py": "def add(basket, name):\n    pass\n"}
PRIVATE: Mapping[str, str | bytes] = {
    "shop/basket.py": f"# {CANARY}\n{BASKET}",
    "private.py": f"TOKEN = '{CANARY}'\ndef total_of_prices():\n    raise KeyError('pear')\n",
}


def outside_folder(root: Path) -> Path:
    """A folder beside the checkout, for what is not of it."""
    folder = root.parent / f"outside-{root.name}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def trap_was_run(root: Path) -> bool:
    """Whether a program of the checkout was run."""
    return (outside_folder(root) / "sprung").exists()


def write_trap(root: Path) -> str:
    """A program that tells when it is run; it lies outside, so that no checkout has to hold it."""
    file = outside_folder(root) / "trap.sh"
    file.write_text(f"#!/bin/sh\ntouch '{file.parent}/sprung'\ncat\n")
    file.chmod(0o755)
    return str(file)


def make_private_repository(root: Path) -> Path:
    """Another repository, beside the checkout."""
    folder = outside_folder(root) / "private"
    folder.mkdir()
    commit(folder, PRIVATE)
    return folder


def make_checkout(root: Path, more: Mapping[str, str | bytes] | None = None) -> None:
    """An ordinary checkout."""
    root.mkdir(parents=True, exist_ok=True)
    commit(root, {**SOURCES, **(more or {})})


def make_origin(root: Path, more: Mapping[str, str | bytes] | None = None) -> Path:
    """A repository of two commits to be cloned."""
    folder = outside_folder(root) / "origin"
    folder.mkdir()
    commit(folder, {**SOURCES, "shop/cart.py": "old = 1\n"})
    commit(folder, {**SOURCES, **(more or {})})
    for key in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        git(folder, "config", key, "true")
    return folder


def make_clone(root: Path, *words: str, more: Mapping[str, str | bytes] | None = None) -> None:
    """A clone in the checkout's place."""
    source = make_origin(root, more)
    git(source.parent, "-c", "protocol.file.allow=always", "clone", "-q", *words, f"file://{source}", str(root))


def remove_folder(root: Path) -> None:
    """Make way: the folder may be there already, with nothing in it."""
    if root.is_dir():
        root.rmdir()
