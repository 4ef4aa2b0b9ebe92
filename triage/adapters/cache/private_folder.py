"""Where things are kept between jobs: for its owner's eyes only, and the owner is not always us.

A container's root makes these files, and the runner's own user has to save and restore them: what is made is given to
whoever owns the folder that it is made in.
"""

import os
from contextlib import suppress
from pathlib import Path


def make_private_folder(path: Path) -> Path:
    """Make a folder, and those above it. What cannot be made is left to those who write there, and who say so."""
    with suppress(OSError):
        for folder in reversed([one for one in (path, *path.parents) if not os.path.lexists(one)]):
            folder.mkdir(mode=0o700)
            _give_to_parent_owner(folder)
    return path


def make_private_file(path: Path) -> Path:
    """Make a file that is not there yet, and close it to others. Links are not followed; as `made` otherwise."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
        try:
            os.fchmod(handle, 0o600)
        finally:
            os.close(handle)
        _give_to_parent_owner(path)
    return path


def has_symlink(root: Path, place: Path) -> bool:
    """Whether a link stands on the way from a folder to a place in it. A place elsewhere is reached as it may be."""
    parts = place.relative_to(root).parts if place.is_relative_to(root) else ()
    return any(root.joinpath(*parts[:end]).is_symlink() for end in range(1, len(parts) + 1))


def _give_to_parent_owner(path: Path) -> None:
    above = path.parent.stat()
    if os.geteuid() == 0 and above.st_uid != 0:
        os.chown(path, above.st_uid, above.st_gid, follow_symlinks=False)
