"""Reads and writes git objects and refs through GitHub's Git Data API, and compares trees. Nothing is checked out.

GitHub signs the commits that a job's token makes here, as those of GraphQL's `createCommitOnBranch`. That one needs a
branch, so everybody would see the patch before anybody has approved it, and it knows no executable files.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from triage.base.threads import sleep_unless_abandoned
from triage.domain.proposal import PatchCommit
from triage.fix.commit_text import CommitFacts
from triage.outside.github.github_errors import ErrorKind, GitHubError, github_errors, unless_gone, unreadable_response
from triage.outside.github.repository_connection import (
    RepositoryConnection,
    delete_path,
    repeat_write,
    write_once,
)

if TYPE_CHECKING:
    from github.GitCommit import GitCommit

T = TypeVar("T")


class TreeEntry(NamedTuple):
    mode: str
    type: str
    sha: str


def read_commit_facts(commit: "GitCommit") -> CommitFacts:
    """Raises GitHubError if the commit is not whole."""
    with github_errors():
        return CommitFacts(
            sha=commit.sha,
            parents=[parent.sha for parent in commit.parents],
            message=commit.message,
            committed_at=commit.committer.date,
        )


MAX_READS = 3
"""Reads of what does not show yet what was just written."""


@dataclass
class GitData(RepositoryConnection):
    """The git objects and refs of one repository. Failures are `GitHubError`."""

    _folders: dict[str, dict[str, TreeEntry]] = field(default_factory=dict, init=False, repr=False)
    """By id of a folder's tree, its entries by name."""

    def read_commit(self, sha: str) -> "GitCommit":
        with github_errors():
            return self.repository.get_git_commit(sha).complete()

    def read_blob(self, sha: str) -> bytes:
        with github_errors():
            blob = self.repository.get_git_blob(sha)
            return base64.b64decode(blob.content) if blob.encoding == "base64" else blob.content.encode()

    def is_ancestor(self, commit: str, descendant: str) -> bool:
        """Return whether one commit stands on another, or is that one. False for one that GitHub does not have."""
        # In this direction the answer has no commits and no diff: the older one adds nothing.
        status = unless_gone(lambda: self.repository.compare(descendant, commit).status)
        return status in ("behind", "identical")

    def read_ref(self, name: str) -> str | None:
        """Return the commit that a ref such as `refs/heads/main` leads to; None if it does not exist."""
        return unless_gone(lambda: self.repository.get_git_ref(name.removeprefix("refs/")).object.sha)

    def list_refs(self, prefix: str) -> dict[str, str]:
        """Return commits by ref, for the refs that begin with a prefix such as `refs/heads/triage/7-`."""
        with github_errors():
            # The list has no pages (docs, "List matching references"); a page of a hundred is enough where it has.
            refs = self.repository.get_git_matching_refs(prefix.removeprefix("refs/")).get_page(0)
            found = [one for one in refs if one.ref.startswith(prefix) and one.object.type == "commit"]
            return {one.ref: one.object.sha for one in found}

    def commit_files(self, parent: "GitCommit", commit: PatchCommit) -> "GitCommit":
        """Create a commit on another one, which no ref leads to yet. GitHub sets author, time and signature."""
        from github import InputGitTreeElement

        self.mask_secrets([commit.message, *commit.files, *(file.text for file in commit.files.values())])
        entries = [
            InputGitTreeElement(path, file.mode, "blob", content=file.text)
            for path, file in sorted(commit.files.items())
        ]
        writable = self.writable
        # The same content is the same object: sent twice, it is stored once.
        tree = repeat_write(lambda: writable.create_git_tree(entries, parent.tree))
        return repeat_write(lambda: writable.create_git_commit(commit.message, tree, [parent]))

    def create_ref(self, name: str, commit: str) -> str:
        """Create a ref, and return the commit that it leads to: another one if the name was taken already."""
        self.mask_secrets(name)
        return self.write_and_read(
            lambda: self.writable.create_git_ref(name, commit),
            lambda: self.read_ref(name),
            ErrorKind.EXISTS,
            ErrorKind.INVALID,
        )

    def write_and_read(self, write: Callable[[], object], read: Callable[[], T | None], *refusals: ErrorKind) -> T:
        """Write, and return what is there then. With one of these refusals, it may have been there before."""

        def read_again() -> T | None:
            for attempt in range(MAX_READS):
                sleep_unless_abandoned(self.reread_seconds * attempt)
                if found := read():
                    return found
            return None

        failure = unreadable_response()
        try:
            write_once(write, lambda: read_again() is not None)
        except GitHubError as error:
            if error.kind not in refusals:
                raise
            failure = error
        if found := read_again():
            return found
        raise failure

    def delete_ref(self, name: str) -> None:
        write_once(
            lambda: delete_path(self.writable, f"git/{name}"),
            lambda: self.read_ref(name) is None,
            deletes=True,
        )

    def list_changed(self, before: str | None, after: str | None, folder: str = "") -> list[str]:
        """Return the paths whose content or mode differs between two trees, which are those of a folder."""
        old, new = self._read_folder(before), self._read_folder(after)
        paths: list[str] = []
        for name in sorted(old.keys() | new.keys()):
            entries = old.get(name), new.get(name)
            if entries[0] == entries[1]:
                continue
            old_tree, new_tree = (entry.sha if entry and entry.type == "tree" else None for entry in entries)
            if old_tree or new_tree:
                paths += self.list_changed(old_tree, new_tree, f"{folder}{name}/")
            if any(entry and entry.type != "tree" for entry in entries):
                paths.append(f"{folder}{name}")
        return paths

    def find_entry(self, tree: str, path: str) -> TreeEntry | None:
        """Returns what is at a path of a tree: a file, a link, a submodule or a folder."""
        entry: TreeEntry | None = None
        for name in path.split("/"):
            if entry is not None and entry.type != "tree":
                return None
            entry = self._read_folder(entry.sha if entry else tree).get(name)
            if entry is None:
                return None
        return entry

    def _read_folder(self, sha: str | None) -> dict[str, TreeEntry]:
        """Return the entries of one folder by name."""
        if sha is None:
            return {}
        if sha not in self._folders:
            with github_errors():
                tree = self.repository.get_git_tree(sha)
                if tree.truncated:
                    raise unreadable_response()
                entries = {one.path: TreeEntry(one.mode, one.type, one.sha) for one in tree.tree}
            self._folders[sha] = entries
        return self._folders[sha]
