"""One file of what would be indexed, read without indexing anything."""

from pathlib import Path

from triage.errors import BadInput
from triage.index.source.commit import CommitTree, is_bare_repository, open_commit
from triage.index.source.git import GitError
from triage.index.source.plain_folder import FolderTree
from triage.index.source.tree import Entry


def read_file(root: Path, path: str, most_bytes: int) -> bytes | None:
    """Bytes of a file at HEAD's commit, or in the folder where there is no commit; none when nothing is there.

    Args:
        root: The checkout.
        path: Relative to it, without `..`.
        most_bytes: A larger file is refused.

    Raises:
        BadInput: What is there is no regular file, is too large, or cannot be read.
    """
    tree, found = _find_entry(root.resolve(), path)
    if found is None:
        return None
    if isinstance(found, str):
        raise BadInput(f"{path} is a {found}: put a regular file there.")
    if found.size > most_bytes:
        raise BadInput(f"{path} has {found.size:,} bytes; {most_bytes:,} are allowed.")
    (_, data), *_ = tree.read([found])
    if data is None:
        raise BadInput(f"{path} cannot be read.")
    return data


def _find_entry(root: Path, path: str) -> tuple[CommitTree | FolderTree, Entry | str | None]:
    """As the index does: the commit, or the folder as it is; a bare repository has no folder to fall back on."""
    try:
        commit = open_commit(root)
        return commit, commit.find_entry(path)
    except GitError:
        folder = FolderTree(root)
        return folder, None if is_bare_repository(root) else folder.find_entry(path)
