"""Reads and writes git objects and refs through GitHub's Git Data API, and compares trees. Nothing is checked out."""

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from triage.base.errors import CannotPublish
from triage.base.threads import sleep_unless_abandoned
from triage.domain.proposal import BaseFile
from triage.fix.commit_text import CommitFacts
from triage.outside.github.github_errors import ErrorKind, GitHubError, github_errors, unreadable_response
from triage.outside.github.repository_connection import (
    RepositoryConnection,
    delete_path,
    read_server_time,
    repeat_write,
    write_once,
)

if TYPE_CHECKING:
    from github.GitCommit import GitCommit


class TreeEntry(NamedTuple):
    mode: str
    type: str
    sha: str


def read_facts(commit: "GitCommit") -> CommitFacts:
    """Raises GitHubError if the commit is not whole."""
    with github_errors():
        return CommitFacts(
            sha=commit.sha,
            parents=[parent.sha for parent in commit.parents],
            message=commit.message,
            committed_at=commit.committer.date,
        )


_COMMIT_ID = re.compile(r"[0-9a-f]{40}")
MAX_READS = 3
"""Reads of a ref that does not show yet what was just written."""
MAX_WRITES = 2


@dataclass
class GitData:
    """The git objects and refs of one repository. Failures are `GitHubError`, and CannotPublish for wrong objects."""

    connection: RepositoryConnection
    server_time: datetime | None = field(default=None, init=False)
    """When GitHub sent the last commit that was read, by its clock."""

    def read_commit(self, sha: str) -> "GitCommit":
        with github_errors():
            commit = self.connection.repository.get_git_commit(sha)
            if commit.sha != sha or not commit.tree.sha:
                raise unreadable_response()
            self.server_time = read_server_time(commit)
            return commit

    def read_tree(self, sha: str) -> dict[str, TreeEntry]:
        """Return the entries of one folder by name."""
        with github_errors():
            tree = self.connection.repository.get_git_tree(sha)
            if tree.sha != sha or tree.truncated:
                raise unreadable_response()
            return {entry.path: TreeEntry(entry.mode, entry.type, entry.sha) for entry in tree.tree}

    def read_blob(self, sha: str) -> bytes:
        with github_errors():
            blob = self.connection.repository.get_git_blob(sha)
            data = base64.b64decode(blob.content) if blob.encoding == "base64" else blob.content.encode()
        if compute_blob_id(data) != sha:
            raise unreadable_response()
        return data

    def is_ancestor(self, commit: str, descendant: str) -> bool:
        """Return whether one commit stands on another, or is that one. False for one that GitHub does not have."""
        try:
            with github_errors():
                # In this direction the answer has no commits and no diff: the older one adds nothing.
                status = self.connection.repository.compare(descendant, commit).status
                if not status:
                    raise unreadable_response()
                return status in ("behind", "identical")
        except GitHubError as error:
            if error.kind is ErrorKind.GONE:
                return False
            raise

    def read_ref(self, name: str) -> str | None:
        """Return the commit that a ref such as `refs/heads/main` leads to; None if it does not exist."""
        try:
            with github_errors():
                found = self.connection.repository.get_git_ref(name.removeprefix("refs/")).complete()
                if found.ref != name:
                    raise unreadable_response()
                return check_id(found.object.sha)
        except GitHubError as error:
            if error.kind is ErrorKind.GONE:
                return None
            raise

    def list_refs(self, prefix: str) -> dict[str, str]:
        """Return commits by ref, for the refs that begin with a prefix such as `refs/heads/triage/7-`."""
        with github_errors():
            # The list has no pages (docs, "List matching references"); a page of a hundred is enough where it has.
            refs = self.connection.repository.get_git_matching_refs(prefix.removeprefix("refs/")).get_page(0)
            found = [one for one in refs if one.ref.startswith(prefix) and one.object.type == "commit"]
            return {one.ref: check_id(one.object.sha) for one in found}

    def commit_files(self, parent: "GitCommit", files: Mapping[str, BaseFile], message: str) -> "GitCommit":
        """Create a commit on another one, which no ref leads to yet. GitHub sets author, time and signature."""
        from github import InputGitTreeElement

        self.connection.mask_secrets([message, *files])
        entries = [
            InputGitTreeElement(path, file.mode, "blob", sha=self._create_blob(file.text))
            for path, file in sorted(files.items())
        ]
        writable = self.connection.writable
        # The same content is the same object: sent twice, it is stored once.
        tree = repeat_write(lambda: writable.create_git_tree(entries, parent.tree))
        commit = repeat_write(lambda: writable.create_git_commit(message, tree, [parent]))
        facts = read_facts(commit)
        if (commit.tree.sha, facts.parents, facts.message.strip()) != (tree.sha, [parent.sha], message.strip()):
            raise CannotPublish("GitHub stored another commit than the proposal's. It is not used.")
        return commit

    def _create_blob(self, text: str) -> str:
        try:
            expected = compute_blob_id(text.encode())
        except UnicodeEncodeError:
            raise CannotPublish("A file of the proposal is not valid Unicode text. It cannot be stored.") from None
        content = self.connection.mask_secrets(text)
        if repeat_write(lambda: self.connection.writable.create_git_blob(content, "utf-8")).sha != expected:
            raise CannotPublish("GitHub stored another text than the proposal's. It is not used.")
        return expected

    def create_ref(self, name: str, commit: str) -> str:
        """Create a ref, and return the commit that it leads to: another one if the name was taken already."""
        for _ in range(MAX_WRITES):
            try:
                return self._post_ref(name, commit)
            except GitHubError as error:
                if error.kind not in (ErrorKind.EXISTS, ErrorKind.INVALID, ErrorKind.UNKNOWN_OUTCOME):
                    raise
                failure = error
            found = self._read_ref_again(name)
            if found is not None:
                return found
            if failure.kind is not ErrorKind.UNKNOWN_OUTCOME:
                break
        raise failure

    def _post_ref(self, name: str, commit: str) -> str:
        self.connection.mask_secrets(name)
        with github_errors():
            created = self.connection.writable.create_git_ref(name, commit)
            if (created.ref, created.object.sha) != (name, commit):
                raise unreadable_response()
        return commit

    def _read_ref_again(self, name: str) -> str | None:
        for attempt in range(MAX_READS):
            sleep_unless_abandoned(self.connection.reread_seconds * attempt)
            if found := self.read_ref(name):
                return found
        return None

    def delete_ref(self, name: str) -> None:
        write_once(
            lambda: delete_path(self.connection.writable, f"git/{name}"),
            lambda: self.read_ref(name) is None,
            deletes=True,
        )


def check_id(sha: str) -> str:
    """Return the id of a commit, which git gets as an argument. Raises GitHubError for anything else."""
    if not _COMMIT_ID.fullmatch(sha):
        raise unreadable_response()
    return sha


def compute_blob_id(data: bytes) -> str:
    """Returns the id that git gives to a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


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
            self._folders[tree] = self.git.read_tree(tree)
        return self._folders[tree]
