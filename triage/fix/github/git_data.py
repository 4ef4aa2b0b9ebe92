"""Reads and writes git objects and refs through GitHub's Git Data API, and compares trees. Nothing is checked out."""

import base64
import binascii
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

from pydantic import Field

from triage.base.errors import CannotPublish
from triage.base.threads import sleep_unless_abandoned
from triage.base.timestamps import Timestamp
from triage.domain.proposal import BaseFile, CommitId, PullRequest
from triage.fix.commit_text import CommitFacts
from triage.github.github_client import PAGE_SIZE
from triage.github.github_errors import ErrorKind, GitHubError, unreadable_response
from triage.github.responses import Response, parse_response

if TYPE_CHECKING:
    from triage.github.github_client import GitHubClient


class ObjectId(Response):
    sha: CommitId
    type: str = ""


class RefResponse(Response):
    ref: str
    target: ObjectId = Field(alias="object")


class Signature(Response):
    date: Timestamp = None


class GitCommitResponse(Response):
    sha: CommitId
    tree: ObjectId
    parents: list[ObjectId]
    message: str
    committer: Signature

    def to_facts(self) -> CommitFacts:
        """Raises GitHubError if the commit has no time."""
        if self.committer.date is None:
            raise unreadable_response()
        return CommitFacts(
            sha=self.sha,
            parents=[parent.sha for parent in self.parents],
            message=self.message,
            committed_at=self.committer.date,
        )


class TreeEntry(Response):
    path: str
    mode: str
    type: str
    sha: CommitId


class TreeResponse(Response):
    sha: CommitId
    entries: list[TreeEntry] = Field([], alias="tree")
    truncated: bool = False


class BlobResponse(Response):
    sha: CommitId
    content: str = ""
    encoding: str = ""


class RepositoryResponse(Response):
    full_name: str
    default_branch: str = ""


class ComparisonResponse(Response):
    status: str
    """Of the second commit: `ahead` of the first, `behind` it, `identical` or `diverged`."""


class PullHead(Response):
    ref: str
    sha: str = ""
    repository: RepositoryResponse | None = Field(None, alias="repo")
    """None if it was deleted."""


class PullBase(Response):
    ref: str


class PullResponse(Response):
    number: int
    html_url: str
    state: str
    body: str | None = None
    head: PullHead
    base: PullBase

    def is_from(self, slug: str, branch: str, commit: str, base: str) -> bool:
        """Whether it is open, and its head is this commit of this repository's branch, into another branch."""
        repository, head = self.head.repository, (self.head.ref, self.head.sha, self.base.ref)
        is_ours = repository is not None and repository.full_name.casefold() == slug.casefold()
        return is_ours and self.state == "open" and head == (branch, commit, base)

    def to_pull_request(self) -> PullRequest:
        return PullRequest(
            number=self.number,
            url=self.html_url,
            body=self.body or "",
        )


MAX_READS = 3
"""Reads of a ref that does not show yet what was just written."""
MAX_WRITES = 2


@dataclass
class GitData:
    """The git objects and refs of one repository. Failures are `GitHubError`, and CannotPublish for wrong objects."""

    client: "GitHubClient"
    repo: str
    """Its path, `/repos/owner/name`."""
    reread_seconds: float

    def read_commit(self, sha: str) -> GitCommitResponse:
        commit = parse_response(GitCommitResponse, self.client.get(f"{self.repo}/git/commits/{sha}"))
        if commit.sha != sha:
            raise unreadable_response()
        return commit

    def read_tree(self, sha: str) -> list[TreeEntry]:
        tree = parse_response(TreeResponse, self.client.get(f"{self.repo}/git/trees/{sha}"))
        if tree.sha != sha or tree.truncated:
            raise unreadable_response()
        return tree.entries

    def read_blob(self, sha: str) -> bytes:
        blob = parse_response(BlobResponse, self.client.get(f"{self.repo}/git/blobs/{sha}"))
        try:
            data = base64.b64decode(blob.content) if blob.encoding == "base64" else blob.content.encode()
        except (binascii.Error, ValueError):
            raise unreadable_response() from None
        if compute_blob_id(data) != sha:
            raise unreadable_response()
        return data

    def is_ancestor(self, commit: str, descendant: str) -> bool:
        """Returns whether one commit stands on another, or is that one. False for one that GitHub does not have."""
        try:
            # In this direction the answer has no commits and no diff: the older one adds nothing.
            raw = self.client.get(f"{self.repo}/compare/{descendant}...{commit}")
        except GitHubError as error:
            if error.kind is ErrorKind.GONE:
                return False
            raise
        return parse_response(ComparisonResponse, raw).status in ("behind", "identical")

    def read_ref(self, name: str) -> str | None:
        """Returns the commit that a ref such as `refs/heads/main` leads to; None if it does not exist."""
        try:
            raw = self.client.get(f"{self.repo}/git/ref/{_quote_ref(name)}")
        except GitHubError as error:
            if error.kind is ErrorKind.GONE:
                return None
            raise
        found = parse_response(RefResponse, raw)
        if found.ref != name:
            raise unreadable_response()
        return found.target.sha

    def list_refs(self, prefix: str) -> dict[str, str]:
        """Returns commits by ref, for the refs that begin with a prefix such as `refs/heads/triage/7-`."""
        # The list has no pages (docs, "List matching references"); a page of a hundred is enough where it has.
        raw = self.client.get(f"{self.repo}/git/matching-refs/{_quote_ref(prefix)}", {"per_page": PAGE_SIZE})
        if not isinstance(raw, list):
            raise unreadable_response()
        refs = [parse_response(RefResponse, item) for item in raw]
        return {one.ref: one.target.sha for one in refs if one.ref.startswith(prefix) and one.target.type == "commit"}

    def commit_files(self, parent: GitCommitResponse, files: Mapping[str, BaseFile], message: str) -> GitCommitResponse:
        """Creates a commit on another one, which no ref leads to yet. GitHub sets author, time and signature."""
        entries = [
            {"path": path, "mode": file.mode, "type": "blob", "sha": self._create_blob(file.text)}
            for path, file in sorted(files.items())
        ]
        tree = self._create("trees", {"base_tree": parent.tree.sha, "tree": entries})
        content = {"message": message, "tree": tree.sha, "parents": [parent.sha]}
        path = f"{self.repo}/git/commits"
        commit = parse_response(GitCommitResponse, self.client.write("POST", path, content, idempotent=True))
        made = (commit.tree.sha, [one.sha for one in commit.parents], commit.message.strip())
        if made != (tree.sha, [parent.sha], message.strip()):
            raise CannotPublish("GitHub stored another commit than the proposal's. It is not used.")
        return commit

    def _create_blob(self, text: str) -> str:
        try:
            expected = compute_blob_id(text.encode())
        except UnicodeEncodeError:
            raise CannotPublish("A file of the proposal is not valid Unicode text. It cannot be stored.") from None
        if self._create("blobs", {"content": text, "encoding": "utf-8"}).sha != expected:
            raise CannotPublish("GitHub stored another text than the proposal's. It is not used.")
        return expected

    def _create(self, kind: str, content: Mapping[str, object]) -> ObjectId:
        # The same content is the same object: sent twice, it is stored once.
        path = f"{self.repo}/git/{kind}"
        return parse_response(ObjectId, self.client.write("POST", path, content, idempotent=True))

    def create_ref(self, name: str, commit: str) -> str:
        """Creates a ref, and returns the commit that it leads to: another one if the name was taken already."""
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
        content = {"ref": name, "sha": commit}
        raw = self.client.write("POST", f"{self.repo}/git/refs", content, idempotent=False)
        created = parse_response(RefResponse, raw)
        if (created.ref, created.target.sha) != (name, commit):
            raise unreadable_response()
        return commit

    def _read_ref_again(self, name: str) -> str | None:
        for attempt in range(MAX_READS):
            sleep_unless_abandoned(self.reread_seconds * attempt)
            if found := self.read_ref(name):
                return found
        return None

    def delete_ref(self, name: str) -> None:
        self.client.delete(f"{self.repo}/git/refs/{_quote_ref(name)}")


def compute_blob_id(data: bytes) -> str:
    """Returns the id that git gives to a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _quote_ref(name: str) -> str:
    return quote(name.removeprefix("refs/"), safe="/")


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
