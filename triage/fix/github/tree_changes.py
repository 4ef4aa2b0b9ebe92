"""Compares the trees of commits, which are read from GitHub folder by folder."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from triage.base.errors import CannotPublish
from triage.fix.github.git_data import GitData
from triage.fix.github.git_responses import TreeEntry

MAX_CHANGES = 300
MAX_FOLDERS = 500
"""Read by one client. A patch of 20 files does not come near it."""


@dataclass
class TreeChanges:
    git: GitData
    _folders: dict[str, dict[str, TreeEntry]] = field(default_factory=dict)
    """By id of a folder's tree, its entries by name."""

    def list_changed(self, before: str, after: str) -> list[str]:
        """Returns the paths whose content or mode differs between two trees.

        Raises:
            CannotPublish: There are more than 300, or they are in very many folders.
        """
        paths: list[str] = []
        for path in self._iterate_changed(before, after, ""):
            if len(paths) == MAX_CHANGES:
                raise CannotPublish(f"The proposal changes more than {MAX_CHANGES} files. It is not carried out.")
            paths.append(path)
        return paths

    def _iterate_changed(self, before: str | None, after: str | None, folder: str) -> Iterator[str]:
        old, new = self._read(before), self._read(after)
        for name in sorted(old.keys() | new.keys()):
            entries = old.get(name), new.get(name)
            if entries[0] == entries[1]:
                continue
            old_tree, new_tree = (entry.sha if entry and entry.type == "tree" else None for entry in entries)
            if old_tree or new_tree:
                yield from self._iterate_changed(old_tree, new_tree, f"{folder}{name}/")
            if any(entry and entry.type != "tree" for entry in entries):
                yield f"{folder}{name}"

    def find(self, tree: str, path: str) -> TreeEntry | None:
        """Returns what is at a path of a tree: a file, a link, a submodule or a folder."""
        entry: TreeEntry | None = None
        for name in path.split("/"):
            if entry is not None and entry.type != "tree":
                return None
            entry = self._read(entry.sha if entry else tree).get(name)
            if entry is None:
                return None
        return entry

    def _read(self, tree: str | None) -> dict[str, TreeEntry]:
        if tree is None:
            return {}
        if tree not in self._folders:
            if len(self._folders) == MAX_FOLDERS:
                raise CannotPublish("The proposal's changes are in too many folders. It is not carried out.")
            self._folders[tree] = {entry.path: entry for entry in self.git.read_tree(tree)}
        return self._folders[tree]
