"""Writes git objects that git itself would not write."""

import hashlib
import stat
import zlib
from collections.abc import Sequence
from pathlib import Path

WHO = b"A <a@example.org> 1704067200 +0000"
FILE, FOLDER = b"100644", b"40000"

Row = tuple[bytes, bytes, str]
"""Mode, name and object id of a tree's entry."""


class ObjectStore:
    """The object store of a repository without an index or files; created if missing."""

    def __init__(self, root: Path) -> None:
        self.folder = root / ".git"
        for name in ("objects", "refs/heads"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        if not (self.folder / "HEAD").exists():
            (self.folder / "HEAD").write_text("ref: refs/heads/main\n")
            (self.folder / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")

    def put(self, kind: str, data: bytes, level: int = 1) -> str:
        """Stores an object and returns its id."""
        head = f"{kind} {len(data)}\0".encode()
        name = hashlib.sha1(head + data, usedforsecurity=False).hexdigest()
        self.store(name, zlib.compress(head + data, level))
        return name

    def store(self, name: str, compressed: bytes) -> None:
        """Stores any bytes as an object."""
        file = self.folder / "objects" / name[:2] / name[2:]
        file.parent.mkdir(exist_ok=True)
        file.unlink(missing_ok=True)
        file.write_bytes(compressed)

    def blob(self, data: bytes) -> str:
        return self.put("blob", data)

    def tree(self, rows: Sequence[Row]) -> str:
        """Stores a tree with any names."""
        rows = sorted(rows, key=lambda row: row[1] + b"/" * (row[0] == FOLDER))
        return self.put("tree", b"".join(mode + b" " + name + b"\0" + bytes.fromhex(ref) for mode, name, ref in rows))

    def commit(self, tree: str, message: bytes = b"x\n", extra: bytes = b"", who: bytes = WHO) -> str:
        """Stores a commit and points the branch `main` to it."""
        body = b"tree %s\nauthor %s\ncommitter %s\n%s\n%s" % (tree.encode(), who, who, extra, message)
        name = self.put("commit", body)
        (self.folder / "refs/heads/main").write_text(f"{name}\n")
        return name


def find_object_file(root: Path, name: str) -> Path:
    """Returns the file of a loose object, made writable."""
    file = root / ".git/objects" / name[:2] / name[2:]
    file.chmod(stat.S_IRUSR | stat.S_IWUSR)
    return file
