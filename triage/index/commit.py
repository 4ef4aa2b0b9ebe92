"""The repository at its HEAD commit, through git objects only: nothing in the work tree is opened or followed."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from triage.domain.code import History
from triage.index.git import Git, GitFailed
from triage.index.history import history_of
from triage.index.tree import Entry, Listing

_FILES = (b"100644", b"100755")
_READ_SECONDS = 240.0
"""For all blobs, which are read as fast as they are taken apart; twice what an index's budget gives that."""
_OTHER = {b"120000": "symbolic link", b"160000": "submodule"}


class CommitTree:
    """Files of HEAD's commit below the folder that git runs in."""

    def __init__(self, git: Git, *, bare: bool, revision: str = "HEAD") -> None:
        """Find the commit. Raises GitFailed when there is none or git does not answer."""
        self._git = git
        self._bare = bare
        found = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        self.commit: str | None = found.decode().split()[-1]

    def listing(self) -> Listing:
        """Every regular file with its size. Raises GitFailed."""
        listing = Listing()
        found: list[tuple[str, str]] = []
        for record in self._git.run("ls-tree", "-r", "-z", str(self.commit)).split(b"\0"):
            if not record:
                continue
            head, _, name = record.partition(b"\t")
            mode, _, ref = head.split(b" ")
            if mode not in _FILES:
                listing.left_out[_OTHER.get(mode, "no file")] += 1
                continue
            try:
                found.append((name.decode("utf-8"), ref.decode()))
            except UnicodeDecodeError:
                listing.left_out["name is not UTF-8"] += 1
        sizes = self._sizes({ref for _, ref in found})
        listing.entries = [Entry(path, sizes[ref], ref) for path, ref in found if ref in sizes]
        listing.missing = len(found) - len(listing.entries)
        return listing

    def at(self, path: str) -> Entry | str | None:
        """The regular file at a path, or what stands there instead; none when nothing does. Raises GitFailed."""
        found = self._git.run("--literal-pathspecs", "ls-tree", "-z", str(self.commit), "--", path)
        head, _, name = found.removesuffix(b"\0").partition(b"\t")
        if name != path.encode():
            return None
        mode, _, ref = head.decode().split(" ")
        if mode.encode() not in _FILES:
            return _OTHER.get(mode.encode(), "folder")
        size = self._sizes({ref}).get(ref)
        return "file that was not fetched" if size is None else Entry(path, size, ref)

    def _sizes(self, refs: set[str]) -> dict[str, int]:
        """Bytes of each blob that is here. A partial clone lacks some; nothing is fetched (git 2.39.4 or later)."""
        sizes: dict[str, int] = {}
        form = "--batch-check=%(objectname) %(objecttype) %(objectsize)"
        with self._git.stream("cat-file", form, "--buffer", lines=sorted(refs)) as answers:
            for answer in answers:
                words = answer.split()
                if len(words) == 3 and words[1] == b"blob":
                    sizes[words[0].decode()] = int(words[2])
        return sizes

    def read(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, bytes | None]]:
        """Bytes of each entry, in order; none for a blob that is missing or when git stopped."""
        refs = [entry.ref for entry in entries]
        with self._git.stream("cat-file", "--batch", "--buffer", lines=refs, seconds=_READ_SECONDS) as answers:
            for entry in entries:
                words = answers.readline().split()
                if len(words) != 3:
                    yield entry, None
                    continue
                size = int(words[2])
                data = answers.read(size)
                answers.read(1)
                yield entry, data if words[1] == b"blob" and len(data) == size else None

    def is_dirty(self) -> bool:
        """Tracked files differ from the commit. Raises GitFailed."""
        if self._bare:
            return False
        words = ("--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames", "--", ".")
        return bool(self._git.without_filters().run("status", *words))

    def history(self, path: str, limit: int) -> History:
        """The newest commits that changed a file, from this commit back."""
        return history_of(self._git, str(self.commit), path, limit)


def open_commit(root: Path) -> CommitTree:
    """The commit of the repository at `root`, or of the one that `root` lies in, then of that folder only.

    A repository above `root` is read under git's own ownership rule; `root` itself was named by the caller and is
    trusted to be read, whoever owns it.

    Raises:
        GitFailed: There is no repository, no commit, no git, or the commit does not know the folder.
    """
    if is_bare(root):
        return CommitTree(Git(root, bare=True), bare=True)
    own = (root / ".git").exists()
    if not own and not any((above / ".git").exists() for above in root.parents):
        raise GitFailed("no repository")
    tree = CommitTree(Git(root, trusted=own), bare=False)
    if not own and not tree.listing().entries:
        raise GitFailed("the commit does not know this folder")
    return tree


def is_bare(root: Path) -> bool:
    """The folder is a git directory by itself."""
    return (
        not (root / ".git").exists()
        and (root / "HEAD").is_file()
        and (root / "objects").is_dir()
        and (root / "refs").is_dir()
    )
