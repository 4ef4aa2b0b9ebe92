"""Makes real git repositories for tests."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from testing.checkouts.git_objects import ObjectStore

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TEMPLATE_DIR": "",  # a new repository has no examples of hooks: copying them takes longer than the rest
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
}


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], env=ENVIRONMENT, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def commit(folder: Path, files: Mapping[str, str | bytes] | None = None, message: str = "x") -> str:
    """Commits everything in the folder, in a new repository if there is none, and returns the commit id."""
    write(folder, files or {})
    if not (folder / ".git").exists():
        ObjectStore(folder)  # all that `git init` would make
    git(folder, "add", "-A", "--force")
    # Of many files git would pack the objects in the background, while a test removes the folder.
    settings = ("-c", "maintenance.auto=false", "-c", "core.abbrev=40")
    said = git(folder, *settings, "commit", "--allow-empty", "-m", message)  # [main 0123…] message
    return said.partition("]")[0][-40:]
