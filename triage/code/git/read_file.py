"""Reads one file without indexing anything."""

from pathlib import Path

from triage.base.errors import BadInput
from triage.code.git.commit import CommitTree, is_bare_repository, open_commit
from triage.code.git.git import GitError
from triage.code.git.plain_folder import FolderTree
from triage.code.git.tree import Entry


def read_file(root: Path, path: str, max_bytes: int) -> bytes | None:
    """Return the bytes of a file at HEAD's commit, or in the folder if there is no commit; None if there is no file.

    Args:
        root: The checkout.
        path: Relative to `root`, without `..`.
        max_bytes: Maximum size.

    Raises:
        BadInput: The file is not a regular file, is too large, or cannot be read.
    """
    tree, entry = _find_entry(root.resolve(), path)
    if entry is None:
        return None
    if isinstance(entry, str):
        raise BadInput(f"{path} is a {entry}: put a regular file there.")
    if entry.size > max_bytes:
        raise BadInput(f"{path} has {entry.size:,} bytes; {max_bytes:,} are allowed.")
    (_, data), *_ = tree.read([entry])
    if data is None:
        raise BadInput(f"{path} cannot be read.")
    return data


def _find_entry(root: Path, path: str) -> tuple[CommitTree | FolderTree, Entry | str | None]:
    try:
        commit = open_commit(root)
        return commit, commit.find_entry(path)
    except GitError:
        folder = FolderTree(root)
        return folder, None if is_bare_repository(root) else folder.find_entry(path)
