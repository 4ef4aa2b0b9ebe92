"""Makes repositories to measure: a bare one from any folder, and a further commit in it."""

import os
import subprocess
from pathlib import Path

_AUTHOR = {
    f"GIT_{who}_{what}": text
    for who in ("AUTHOR", "COMMITTER")
    for what, text in (("NAME", "bench"), ("EMAIL", "bench@localhost"), ("DATE", "2024-01-01T00:00:00Z"))
}


def make_bare_repository(folder: Path, made: Path) -> Path:
    """Make a bare repository with the folder's HEAD commit, or with its files if it has none."""
    if not (folder / ".git").exists() and not (folder / "HEAD").exists():
        git(made.parent, "init", "-q", "--bare", str(made))
        git(made, "--work-tree", str(folder), "add", "-A", "--force", ".")
        git(made, "--work-tree", str(folder), "commit", "-q", "-m", "x")
    else:
        git(made.parent, "clone", "-q", "--bare", "--shared", str(folder), str(made))
        git(made, "update-ref", "--no-deref", "HEAD", git(folder, "rev-parse", "HEAD"))
    return made


def commit_change(repository: Path, files: int) -> None:
    """Commit a new definition in some Python files, spread over the tree."""
    git(repository, "read-tree", "HEAD")
    paths = [path for path in git(repository, "ls-files").splitlines() if path.endswith(".py")]
    for number, path in enumerate(paths[:: max(1, len(paths) // files)][:files]):
        text = git(repository, "show", f":{path}") + f"\n\ndef changed_{number}(value):\n    return value + {number}\n"
        blob = git(repository, "hash-object", "-w", "--stdin", input_text=text)
        git(repository, "update-index", "--cacheinfo", f"100644,{blob},{path}")
    tree = git(repository, "write-tree")
    git(repository, "update-ref", "--no-deref", "HEAD", git(repository, "commit-tree", "-p", "HEAD", "-m", "x", tree))


def git(folder: Path, *words: str, input_text: str = "") -> str:
    environment = {**os.environ, **_AUTHOR, "GIT_CONFIG_GLOBAL": os.devnull}
    command = ["git", "-C", str(folder), "-c", f"safe.directory={folder}", *words]
    done = subprocess.run(command, input=input_text.encode(), env=environment, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "surrogateescape").strip()
