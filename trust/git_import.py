"""Makes repositories with arbitrary files, names and commits: written to git directly, not through a file system."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def import_repository(folder: Path, files: Mapping[bytes, bytes], commits: Sequence[tuple[bytes, bytes]] = ()) -> None:
    """Makes a repository with these files at HEAD, after `commits` of a message and a path each, and no checkout."""
    environment = os.environ | _QUIET
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True, env=environment)
    stream = b"".join(_commit(message, {path: b"%d\n" % number}) for number, (message, path) in enumerate(commits))
    stream += _commit(b"first", files)
    command = ["git", "-C", str(folder), "fast-import", "--quiet", "--force"]
    subprocess.run(command, input=stream, check=True, env=environment, capture_output=True)


def _commit(message: bytes, files: Mapping[bytes, bytes]) -> bytes:
    head = b"commit refs/heads/main\ncommitter Mona <mona@example.com> 1760000000 +0000\n" + _data(message)
    return head + b"".join(
        b"M 100644 inline " + _quote(path) + b"\n" + _data(content) for path, content in files.items()
    )


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quote(path: bytes) -> bytes:
    return (
        b'"'
        + b"".join(b"\\%03o" % byte if byte < 33 or byte > 126 or byte in b'"\\' else bytes([byte]) for byte in path)
        + b'"'
    )


def to_git_path(text: str) -> bytes:
    """Returns a path that git accepts: no empty, `.`, `..` or `.git` part, at most 200 bytes."""
    parts = [part for part in text.encode("utf-8", "replace").replace(b"\0", b" ")[:200].split(b"/") if part]
    accepted = [part for part in parts if part.strip(b". ") and not part.lower().startswith(b".git")]
    return b"/".join(accepted) or b"empty"
