"""Common parts of hostile checkouts: a bug, a program that must not run, text that must not be read."""

from collections.abc import Mapping
from pathlib import Path

from testing.checkouts.git_repositories import commit, git
from testing.runs.sample_bug import BASKET

CANARY = "canary4f1aprivatewords"
"""Part of files outside the checkout: no run may disclose it."""
SOURCES: Mapping[str, str | bytes] = {"shop/basket.py": BASKET, "shop/cart.py": "def add(basket, name):\n    pass\n"}
PRIVATE: Mapping[str, str | bytes] = {
    "shop/basket.py": f"# {CANARY}\n{BASKET}",
    "shop/__init__.py": "",
    "pyproject.toml": f"[project]\nname = '{CANARY}'\n",
    "private.py": f"TOKEN = '{CANARY}'\ndef total_of_prices():\n    raise KeyError('pear')\n",
}


def outside_folder(root: Path) -> Path:
    """Returns a folder beside the checkout."""
    folder = root.parent / f"outside-{root.name}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def trap_was_run(root: Path) -> bool:
    """Whether a program of the checkout was run."""
    return (outside_folder(root) / "sprung").exists()


def write_trap(root: Path) -> str:
    """Writes a program outside the checkout that leaves a file if it runs, and returns its path."""
    file = outside_folder(root) / "trap.sh"
    file.write_text(f"#!/bin/sh\ntouch '{file.parent}/sprung'\ncat\n")
    file.chmod(0o755)
    return str(file)


def make_private_repository(root: Path) -> Path:
    """Makes another repository beside the checkout."""
    folder = outside_folder(root) / "private"
    folder.mkdir()
    commit(folder, PRIVATE)
    return folder


def make_checkout(root: Path, more: Mapping[str, str | bytes] | None = None) -> None:
    """Makes an ordinary checkout."""
    root.mkdir(parents=True, exist_ok=True)
    commit(root, {**SOURCES, **(more or {})})


def make_origin(root: Path, more: Mapping[str, str | bytes] | None = None) -> Path:
    """Makes a repository with two commits to clone."""
    folder = outside_folder(root) / "origin"
    folder.mkdir()
    commit(folder, {**SOURCES, "shop/cart.py": "old = 1\n"})
    commit(folder, {**SOURCES, **(more or {})})
    for key in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        git(folder, "config", key, "true")
    return folder


def make_clone(root: Path, *words: str, more: Mapping[str, str | bytes] | None = None) -> None:
    """Makes a clone as the checkout."""
    source = make_origin(root, more)
    git(source.parent, "-c", "protocol.file.allow=always", "clone", "-q", *words, f"file://{source}", str(root))


def remove_folder(root: Path) -> None:
    """Removes the folder if it exists; it must be empty."""
    if root.is_dir():
        root.rmdir()
