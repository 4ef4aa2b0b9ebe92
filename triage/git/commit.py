"""The repository at its HEAD commit, read from git objects only: no file of the work tree is opened."""

import os
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from pathlib import Path, PurePosixPath

from triage.base.errors import GitError
from triage.git.git import Git, IsolatedGit, read_origin
from triage.git.history import GitHistory
from triage.git.tree import MAX_ENTRIES, Entry, Listing, SourceTree

HEAD = "HEAD"
_EXECUTABLE = b"100755"
_FILE_MODES = (b"100644", _EXECUTABLE, b"100664")
"""Early versions of git wrote the last one. Git reads it as the first."""
_READ_SECONDS = 240.0
"""For all blobs, which are read no faster than they are parsed. Twice `IndexLimits.read_seconds`."""
_OTHER_MODES = {b"120000": "symbolic link", b"160000": "submodule"}
_WRITE_SECONDS = 120.0
_MAX_GIT_FILE_BYTES = 8_192
"""Of a file `.git`: two paths of the maximum length."""


class CommitTree(SourceTree):
    def __init__(self, git: Git, revision: str = HEAD, prefix: str = "", until: datetime | None = None) -> None:
        """Find a commit. Raises GitError if there is no such commit or folder, or git failed.

        `prefix` is the folder whose files count, with a slash at its end; empty for all files. Commits younger than
        `until` are not listed.
        """
        self.prefix = prefix
        self.commit: str = _resolve_object(git, f"{revision}^{{commit}}")
        self._objects = isolate(git)
        self.history: GitHistory = GitHistory(git, self._objects, self.commit, prefix, until)
        folder = f"{self.commit}:{prefix.removesuffix('/')}"
        self._tree = _resolve_object(self._objects, folder) if prefix else self.commit

    def list_files(self) -> Listing:
        """See `SourceTree`. Raises GitError when there is not a single file."""
        listing = Listing()
        try:
            self._list_entries(listing)
        except GitError:
            if not listing.entries and not listing.missing:
                raise
            listing.missing += 1  # A folder, or more, is not in this clone.
        return listing

    def _list_entries(self, listing: Listing) -> None:
        """Add the files of the tree to the listing, and count what is left out."""
        for number, record in enumerate(self._objects.iter_records("ls-tree", "-r", "-z", "--long", self._tree)):
            if number >= MAX_ENTRIES:
                listing.truncated = True
                return
            mode, blob_id, size, name = _parse_record(record)
            if mode not in _FILE_MODES:
                listing.left_out[_OTHER_MODES.get(mode, "no file")] += 1
            elif size is None:
                listing.missing += 1
            else:
                try:
                    listing.entries.append(Entry(name.decode(), size, blob_id, mode == _EXECUTABLE))
                except UnicodeDecodeError:
                    listing.left_out["name is not UTF-8"] += 1

    def find_entry(self, path: str) -> Entry | str | None:
        """Return the regular file at a path, a description of what else is there, or None. Raises GitError."""
        output = self._objects.run("--literal-pathspecs", "ls-tree", "-z", "--long", self._tree, "--", path)
        if not output:
            return None
        record = output.partition(b"\0")[0]
        return _read_entry_or_problem(record, path) if _parse_record(record)[-1] == os.fsencode(path) else None

    def list_folder(self, path: str, limit: int) -> dict[str, Entry | str]:
        """See `SourceTree`. With the slash git lists the folder, and nothing for a path that is none."""
        options = ("--literal-pathspecs", "ls-tree", "-z", "--long", self._tree, "--", path, f"{path}/")
        records = islice(self._objects.iter_records(*options), limit)
        named = [(_parse_record(record)[-1].decode("utf-8", "replace"), record) for record in records]
        return {name: _read_entry_or_problem(record, name) for name, record in named}

    def read(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, bytes | None]]:
        """Yield each file with its bytes; None once git has ended, for lack of time or at an object that is broken."""
        blob_ids = [entry.blob_id for entry in entries]
        with self._objects.stream("cat-file", "--batch", "--buffer", lines=blob_ids, seconds=_READ_SECONDS) as output:
            for entry in entries:
                head = output.readline().split()
                data = output.read(entry.size + 1)[:-1] if len(head) == 3 else None  # "<id> missing"
                yield entry, data if data is not None and len(data) == entry.size else None


def _parse_record(record: bytes) -> tuple[bytes, str, int | None, bytes]:
    """Return mode, object id, size and name of a line of `ls-tree --long`. The size of a missing object is None."""
    head, _, name = record.partition(b"\t")
    mode, _, blob_id, size = head.split()
    return mode, blob_id.decode(), int(size) if size.isdigit() else None, name


def _read_entry_or_problem(record: bytes, path: str) -> Entry | str:
    mode, blob_id, size, _ = _parse_record(record)
    if mode not in _FILE_MODES:
        return _OTHER_MODES.get(mode, "folder")
    return "file that was not fetched" if size is None else Entry(path, size, blob_id, mode == _EXECUTABLE)


def find_checkout(workspace: Path, repository: str) -> Path:
    """Return the folder of the repository `owner/name` that a job has checked out.

    That is the workspace; or, if no repository is there, the only one up to two folders below it whose remote is no
    other repository.
    """
    if is_bare_repository(workspace) or _find_top(workspace):
        return workspace
    own = [
        dot_git.parent
        for pattern in ("*/.git", "*/*/.git")
        for dot_git in sorted(workspace.glob(pattern))
        if dot_git.is_dir() and dot_git.resolve() == workspace.resolve() / dot_git.relative_to(workspace)  # no link
    ]
    found = [folder for folder in own if (read_origin(folder) or repository).casefold() == repository.casefold()]
    return found[0] if len(found) == 1 else workspace


def _find_top(root: Path) -> Path | None:
    return next((folder for folder in (root, *root.parents) if os.path.lexists(folder / ".git")), None)


def open_repository(root: Path) -> tuple[Git, Path | None]:
    """Return git on the repository at `root` or above it, and the top of its work tree; None for a bare repository.

    This is the only way to a repository whose config somebody else may have written.
    `root` was named by the caller and is read whoever owns it. For a repository above it git's ownership rule holds.

    Raises GitError if there is no git or repository, or the repository belongs to another folder.
    """
    if is_bare_repository(root):
        return Git(root, bare=True), None
    top = _find_top(root)
    if top is None:
        raise GitError("no repository")
    git = Git(root, trusted=top == root, top=top)
    _check_worktree(git, top)
    return git, top


def open_commit(root: Path, revision: str = HEAD, until: datetime | None = None) -> CommitTree:
    """Return a commit of the repository at `root`. In a repository above `root`, only the files below `root`.

    With `until`, its history knows no younger commits. Raises GitError as `open_repository` does, and if there is no
    such commit, or the commit does not have the folder.
    """
    git, top = open_repository(root)
    prefix = f"{root.relative_to(top)}/" if top and top != root else ""
    return CommitTree(git, revision, prefix, until)


def isolate(git: Git) -> IsolatedGit:
    """Return git on the objects of a repository, for every command that takes ids of objects. Raises GitError."""
    home = os.fsdecode(git.run("rev-parse", "--git-common-dir").removesuffix(b"\n"))
    return IsolatedGit((git.folder / home).absolute())


def write_files(objects: IsolatedGit, commit: str, folder: Path) -> None:
    """Write the files of a commit into a new folder, as a repository of its own.

    Raises GitError, also for a tree that holds a `.git`.
    """
    folder.mkdir(parents=True)
    with objects.stream("archive", "--format=tar", commit, seconds=_WRITE_SECONDS, is_whole=True) as stream:
        try:
            with tarfile.open(fileobj=stream, mode="r|") as archive:
                archive.extractall(folder, filter=_LinksInside())  # noqa: S202 - the filter is stricter
        except (tarfile.TarError, OSError, ValueError, OverflowError) as error:  # of names and times
            raise GitError(f"the files of {commit[:7]} cannot be written") from error
    git, author = Git(folder), ("-c", "user.name=triage", "-c", "user.email=triage@localhost")
    with suppress(GitError):  # only build tools such as setuptools-scm need it, which ship the files that git lists
        for words in (("init", "-q", "--template="), ("add", "-A", "-f"), (*author, "commit", "-q", "-m", commit)):
            git.run(*words, seconds=_WRITE_SECONDS)


class _LinksInside:
    """The filter "data" of tarfile, and no link that leads outside by its text: older Pythons follow a chain of them.

    CVE-2025-4517: `os.path.realpath` ends at a path of 4,096 characters, and takes what follows as it stands.
    """

    def __init__(self) -> None:
        self._links = set[str]()

    def __call__(self, member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
        """Refuse hard links and what lies below a link, and leave out links that lead outside of the folder."""
        path = PurePosixPath(member.name)
        if member.islnk() or self._links & {str(one) for one in (path, *path.parents)}:
            raise GitError(f"{member.name[:100]} is a hard link, or below a link")
        if member.issym():
            target = PurePosixPath(member.linkname)
            ups = sum(part == ".." for part in target.parts)
            if target.is_absolute() or target.parts[:ups].count("..") != ups or ups >= len(path.parents):
                return None
            self._links.add(str(path))
        return tarfile.data_filter(member, folder)


def _check_worktree(git: Git, top: Path) -> None:
    """Raise GitError if the `.git` in the folder `top` leads to the repository of another folder.

    Git follows any `.git`, whether a file or a link, to any repository on the machine, and would read that one's
    commit. The `.git` of a linked work tree or a submodule leads elsewhere too, but the repository names the folder.
    """
    dot_git = top / ".git"
    try:
        is_inside = dot_git.is_dir() and not dot_git.is_symlink() and not os.path.lexists(dot_git / "commondir")
        if not is_inside and not _names_worktree(git, _resolve_dot_git(dot_git), dot_git):
            raise GitError("its .git leads to a repository that does not name this folder")
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a loop of links, until Python 3.13
        raise GitError(f"its .git leads nowhere: {type(error).__name__}") from error


def _resolve_dot_git(dot_git: Path) -> Path:
    """Return the git directory to which a `.git` leads: itself, a link, or a file that names it."""
    if dot_git.is_dir():
        return dot_git.resolve()
    if not dot_git.is_file():
        raise ValueError("neither a folder nor a file")
    return (dot_git.parent / _read_line(dot_git).removeprefix("gitdir:").strip()).resolve()


def _names_worktree(git: Git, repository: Path, dot_git: Path) -> bool:
    """Return whether a repository says that the folder of `dot_git` is its work tree."""
    if (repository / "gitdir").is_file():  # a linked work tree
        return (repository / _read_line(repository / "gitdir")).resolve() == dot_git.resolve()
    # a submodule, or a clone with a separate git directory
    args = ("config", "--file", str(repository / "config"), "--null", "--get", "core.worktree")
    worktree = os.fsdecode(git.run(*args, accept=(0, 1)).rstrip(b"\0"))
    return bool(worktree) and (repository / worktree).resolve() == dot_git.parent.resolve()


def _read_line(file: Path) -> str:
    with file.open("rb") as opened:
        return os.fsdecode(opened.read(_MAX_GIT_FILE_BYTES)).rstrip("\r\n")


def _resolve_object(git: Git, name: str) -> str:
    return git.run("rev-parse", "--verify", "--quiet", "--end-of-options", name).decode().split()[-1]


def is_bare_repository(root: Path) -> bool:
    return (
        not os.path.lexists(root / ".git")
        and os.path.isfile(root / "HEAD")  # noqa: PTH113 - pathlib's raises PermissionError
        and os.path.isdir(root / "objects")  # noqa: PTH112
        and os.path.isdir(root / "refs")  # noqa: PTH112
    )
