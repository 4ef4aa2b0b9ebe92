"""Repositories whose files, names and commits are anybody's: written straight into git, past any file system."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def import_repository(folder: Path, files: Mapping[bytes, bytes], commits: Sequence[tuple[bytes, bytes]] = ()) -> None:
    """A repository with these files at HEAD; nothing is checked out.

    Args:
        folder: Where it is made.
        files: Content by path; both may hold any bytes that git takes.
        commits: Before the last one: message, and the path that it touches.
    """
    environment = os.environ | _QUIET
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True, env=environment)
    stream = b"".join(_commit(message, {path: b"%d\n" % number}) for number, (message, path) in enumerate(commits))
    stream += _commit(b"first", files)
    command = ["git", "-C", str(folder), "fast-import", "--quiet", "--force"]
    subprocess.run(command, input=stream, check=True, env=environment, capture_output=True)


def _commit(message: bytes, files: Mapping[bytes, bytes]) -> bytes:
    head = b"commit refs/heads/main\ncommitter Mona <mona@example.com> 1760000000 +0000\n" + _data(message)
    return head + b"".join(
        b"M 100644 inline " + _quoted(path) + b"\n" + _data(content) for path, content in files.items()
    )


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: bytes) -> bytes:
    """As fast-import reads a path that may hold anything."""
    return (
        b'"'
        + b"".join(b"\\%03o" % byte if byte < 33 or byte > 126 or byte in b'"\\' else bytes([byte]) for byte in path)
        + b'"'
    )


def to_git_path(text: str) -> bytes:
    """The text as one path that git and the index accept: no empty, `.`, `..` or `.git` part, at most 200 bytes."""
    parts = [part for part in text.encode("utf-8", "replace").replace(b"\0", b" ")[:200].split(b"/") if part]
    usual = [part for part in parts if part.strip(b". ") and not part.lower().startswith(b".git")]
    return b"/".join(usual) or b"empty"
