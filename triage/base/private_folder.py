"""Folders and files that only their owner can read.

In a container root makes them, and the runner's own user saves and restores them. So each belongs to the owner of the
folder that it is in.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile


def make_private_folder(path: Path) -> Path:
    """Make a folder and its parents. An error is left to whoever writes there next."""
    with suppress(OSError):
        for folder in reversed([one for one in (path, *path.parents) if not os.path.lexists(one)]):
            folder.mkdir(mode=0o700, exist_ok=True)
            _give_to_parent_owner(folder)
    return path


def write_private_file(path: Path, data: bytes, timestamp: float) -> None:
    """Write a file that appears whole or not at all, and is on disk on return. Replaces a file or a link.

    `timestamp` is its time of modification, in seconds since 1970. Raises OSError.
    """
    with NamedTemporaryFile(prefix=".new-", dir=path.parent, delete=False) as file:
        draft = Path(file.name)
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            _give_to_parent_owner(draft)
            os.utime(draft, (timestamp, timestamp))
            draft.replace(path)
        except BaseException:  # no half-written file stays
            draft.unlink(missing_ok=True)
            raise


def read_private_file(path: Path, max_bytes: int) -> bytes | None:
    """Read a file; None if it is longer. Raises OSError, also for whatever is no regular file."""
    # Whatever has this name is opened without following a link, and without waiting for a pipe.
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("not a regular file")
        data = stream.read(max_bytes + 1)
    return data if len(data) <= max_bytes else None


def has_symlink(root: Path, path: Path) -> bool:
    """Whether a link leads from the folder `root` to a path in it. A path outside of `root` has none."""
    parts = path.relative_to(root).parts if path.is_relative_to(root) else ()
    return any(root.joinpath(*parts[:end]).is_symlink() for end in range(1, len(parts) + 1))


def _give_to_parent_owner(path: Path) -> None:
    parent = path.parent.stat()
    if os.geteuid() == 0 and parent.st_uid != 0:
        os.chown(path, parent.st_uid, parent.st_gid, follow_symlinks=False)
