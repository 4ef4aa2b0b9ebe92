"""Reads and writes git objects and refs through GitHub's Git Data API. Nothing is checked out."""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from triage.base.errors import CannotPublish
from triage.base.threads import sleep_unless_abandoned
from triage.domain.proposal import BaseFile
from triage.fix.github.git_responses import (
    BlobResponse,
    ComparisonResponse,
    GitCommitResponse,
    ObjectId,
    RefResponse,
    TreeEntry,
    TreeResponse,
)
from triage.github.github_client import PAGE_SIZE
from triage.github.github_errors import ErrorKind, GitHubError, unreadable_response
from triage.github.responses import parse_response

if TYPE_CHECKING:
    from triage.github.github_client import GitHubClient

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
