"""The repository at its HEAD commit, through git objects only: nothing in the work tree is opened or followed."""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from triage.domain.code import History
from triage.index.source.commit_history import read_commit_history
from triage.index.source.git import Git, GitError, IsolatedGit
from triage.index.source.tree import Entry, Listing, has_blob_id
from triage.index.source.worktree_check import check_worktree

_FILE_MODES = (b"100644", b"100755", b"100664")
"""Git still takes the last one, which its first versions wrote, for the first."""
_READ_SECONDS = 240.0
"""For all blobs, which are read as fast as they are taken apart; twice what an index's budget gives that."""
_OTHER_MODES = {b"120000": "symbolic link", b"160000": "submodule"}
_MAX_ENTRIES = 1_000_000
_MAX_NAMES_BYTES = 200_000_000
_MAX_PATH_BYTES = 4_096
"""Linux' own limit (PATH_MAX)."""
_MAX_RESTARTS = 16
"""Objects that git stops at and is started again after."""


class CommitTree:
    """Files of HEAD's commit below the folder that git runs in."""

    def __init__(self, git: Git, *, bare: bool, revision: str = "HEAD", prefix: str = "") -> None:
        """Find the commit.

        Args:
            git: Runs on the repository.
            bare: There is no work tree.
            revision: The commit.
            prefix: The only folder of it to look at, with a slash at its end; empty for all.

        Raises:
            GitFailed: There is no such commit or folder, or git does not answer.
        """
        self._git = git
        self._bare = bare
        self._prefix = prefix
        self.commit: str | None = _resolve_object(git, f"{revision}^{{commit}}")
        home = os.fsdecode(git.run("rev-parse", "--git-common-dir").removesuffix(b"\n"))
        self._objects = IsolatedGit((git.folder / home).absolute(), self.commit)
        self._tree = _resolve_object(
            self._objects, f"{self.commit}:{prefix.removesuffix('/')}" if prefix else self.commit
        )

    def list_files(self) -> Listing:
        """Every regular file with its size. Raises GitFailed when not one can be told."""
        listing = Listing()
        found: dict[str, str] = {}
        try:
            self._list_blobs(listing, found)
        except GitError:
            if not found:
                raise
            listing.missing += 1  # a folder, or more, that is not here
        sizes = self._read_sizes(set(found.values()))
        listing.entries = [Entry(path, sizes[ref], ref) for path, ref in found.items() if ref in sizes]
        listing.missing += len(found) - len(listing.entries)
        return listing

    def _list_blobs(self, listing: Listing, found: dict[str, str]) -> None:
        """Every regular file with its object id. Raises GitFailed, after what came before."""
        room = _MAX_NAMES_BYTES
        for number, record in enumerate(self._objects.iter_records("ls-tree", "-r", "-z", self._tree)):
            room -= len(record)
            if number >= _MAX_ENTRIES or room < 0:
                listing.truncated = True
                return
            head, _, name = record.partition(b"\t")
            mode, _, ref = head.split(b" ")
            reason = _OTHER_MODES.get(mode, "no file") if mode not in _FILE_MODES else _get_skip_reason(name)
            if reason:
                listing.left_out[reason] += 1
            else:
                # A path stands for one file, whatever the tree says.
                found.setdefault(name.decode(), ref.decode())

    def find_entry(self, path: str) -> Entry | str | None:
        """The regular file at a path, or what stands there instead; none when nothing does. Raises GitFailed."""
        found = self._objects.run("--literal-pathspecs", "ls-tree", "-z", self._tree, "--", path)
        head, _, name = found.partition(b"\0")[0].partition(b"\t")
        if name != path.encode():
            return None
        mode, _, ref = head.decode().split(" ")
        if mode.encode() not in _FILE_MODES:
            return _OTHER_MODES.get(mode.encode(), "folder")
        size = self._read_sizes({ref}).get(ref)
        return "file that was not fetched" if size is None else Entry(path, size, ref)

    def _read_sizes(self, refs: set[str]) -> dict[str, int]:
        """Bytes of each blob that is here. A partial clone lacks some; nothing is fetched."""
        sizes: dict[str, int] = {}
        form = "--batch-check=%(objectname) %(objecttype) %(objectsize)"
        with self._objects.stream("cat-file", form, "--buffer", lines=sorted(refs)) as answers:
            for answer in answers:
                words = answer.split()
                if len(words) == 3 and words[1] == b"blob":
                    sizes[words[0].decode()] = int(words[2])
        return sizes

    def read(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, bytes | None]]:
        """Bytes of each entry, in order; none for a blob that is missing, damaged, or not reached in time.

        Git stops at an object that it cannot unpack, or not in the memory that it may take: it goes on after it.
        """
        latest = time.monotonic() + _READ_SECONDS
        at = 0
        for _ in range(_MAX_RESTARTS):
            for data in self._read_until_failure(entries[at:], latest - time.monotonic()):
                yield entries[at], data
                at += 1
            if at == len(entries) or time.monotonic() >= latest:
                break
            yield entries[at], None
            at += 1
        for entry in entries[at:]:
            yield entry, None

    def _read_until_failure(self, entries: Sequence[Entry], seconds: float) -> Iterator[bytes | None]:
        """Bytes of entries, until git stops."""
        refs = [entry.blob_id for entry in entries]
        with self._objects.stream("cat-file", "--batch", "--buffer", lines=refs, seconds=seconds) as answers:
            for entry in entries:
                words = answers.readline().split()
                if len(words) == 2:
                    yield None
                    continue
                if len(words) != 3 or int(words[2]) != entry.size:
                    return
                data = answers.read(entry.size)
                if len(data) != entry.size or answers.read(1) != b"\n":
                    return
                # Git does not look whether an object is the one that was asked for.
                yield data if has_blob_id(data, entry.blob_id) else None

    def is_dirty(self) -> bool:
        """Tracked files differ from the commit. Raises GitFailed."""
        if self._bare:
            return False
        words = ("--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames", "--", ".")
        return self._git.disable_filters().has_output("status", *words)

    def read_history(self, path: str, limit: int) -> History:
        """The newest commits that changed a file, from this commit back."""
        return read_commit_history(self._objects, str(self.commit), self._prefix + path, limit)


def _get_skip_reason(name: bytes) -> str | None:
    """Why a file with this path is left out. What git would not check out is a trick, not a file."""
    if len(name) > _MAX_PATH_BYTES or any(part.lower() in (b"", b".", b"..", b".git") for part in name.split(b"/")):
        return "path that cannot be checked out"
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return "name is not UTF-8"
    return None


def open_commit(root: Path) -> CommitTree:
    """The commit of the repository at `root`, or of the one that `root` lies in, then of that folder only.

    A repository above `root` is read under git's own ownership rule; `root` itself was named by the caller and is
    trusted to be read, whoever owns it.

    Raises:
        GitFailed: There is no repository, or one of another folder, no commit, no git, or the commit does not know the
            folder.
    """
    if is_bare_repository(root):
        return CommitTree(Git(root, bare=True), bare=True)
    top = next((folder for folder in (root, *root.parents) if os.path.lexists(folder / ".git")), None)
    if top is None:
        raise GitError("no repository")
    git = Git(root, trusted=top == root, top=top)
    check_worktree(git, top)
    return CommitTree(git, bare=False, prefix="" if top == root else f"{root.relative_to(top)}/")


def _resolve_object(git: Git, name: str) -> str:
    """Full id of what a name stands for. Raises GitFailed."""
    return git.run("rev-parse", "--verify", "--quiet", "--end-of-options", name).decode().split()[-1]


def is_bare_repository(root: Path) -> bool:
    """The folder is a git directory by itself."""
    return (
        not os.path.lexists(root / ".git")
        and os.path.isfile(root / "HEAD")  # noqa: PTH113 - pathlib's raises where we may not look
        and os.path.isdir(root / "objects")  # noqa: PTH112
        and os.path.isdir(root / "refs")  # noqa: PTH112
    )
