"""The requests that a release makes to GitHub, with the standard library only."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

from release.facts import ReleaseError

TIMEOUT_SECONDS = 60


class RequestRefused(ReleaseError):
    """GitHub answered with an error."""

    def __init__(self, request: str, status: int, message: str) -> None:
        super().__init__(f"{request}: GitHub answers {status}, {message}")
        self.status = status


@dataclass(frozen=True)
class GitHubApi:
    """A repository at GitHub, with a token that may write contents."""

    api_url: str
    repository: str
    token: str

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Returns the answer. Raises RequestRefused, and ReleaseError if nobody answers."""
        request = urllib.request.Request(  # noqa: S310 - the runner's own address of GitHub
            f"{self.api_url}/repos/{self.repository}/{path}",
            data=None if body is None else json.dumps(body).encode(),
            method=method,
            headers={"Authorization": f"Bearer {self.token}", "Accept": "application/vnd.github+json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise RequestRefused(f"{method} {path}", error.code, _read_message(error)) from error
        except (OSError, ValueError) as error:
            raise ReleaseError(f"{method} {path}: no answer ({error}). Run the failed job again.") from error

    def find_ref(self, name: str) -> str:
        """Returns the commit of `tags/…` or `heads/…`; empty if there is none."""
        try:
            return str(self.ask("GET", f"git/ref/{name}")["object"]["sha"])
        except RequestRefused as error:
            if error.status == 404:
                return ""
            raise

    def list_tags(self, prefix: str) -> list[str]:
        """Returns the names of the tags that begin with a text, at most 100."""
        found = self.ask("GET", f"git/matching-refs/tags/{prefix}?per_page=100")
        return [str(one["ref"]).removeprefix("refs/tags/") for one in found]

    def set_ref(self, name: str, commit: str, *, force: bool = False) -> None:
        """Creates or moves `tags/…` or `heads/…`. Without force only forward."""
        if self.find_ref(name):
            self.ask("PATCH", f"git/refs/{name}", {"sha": commit, "force": force})
        else:
            self.ask("POST", "git/refs", {"ref": f"refs/{name}", "sha": commit})

    def store_commit(self, parent: str, files: dict[str, str], message: str) -> str:
        """Returns a new commit that replaces files of its parent by new texts. No ref leads to it."""
        tree = self.store_tree(parent, files)
        return str(self.ask("POST", "git/commits", {"message": message, "tree": tree, "parents": [parent]})["sha"])

    def store_tree(self, parent: str, files: dict[str, str]) -> str:
        """Returns the tree of a commit with files replaced by new texts."""
        base = self.find_tree(parent)
        entries = [{"path": path, "mode": "100644", "type": "blob", "content": text} for path, text in files.items()]
        return str(self.ask("POST", "git/trees", {"base_tree": base, "tree": entries})["sha"])

    def read_date(self, commit: str) -> str:
        """Returns year, month and day in UTC."""
        return str(self.ask("GET", f"git/commits/{commit}")["committer"]["date"])[:10]

    def find_tree(self, commit: str) -> str:
        return str(self.ask("GET", f"git/commits/{commit}")["tree"]["sha"])

    def find_parents(self, commit: str) -> list[str]:
        return [str(parent["sha"]) for parent in self.ask("GET", f"git/commits/{commit}")["parents"]]


def _read_message(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["message"])
    except (OSError, ValueError, KeyError, TypeError):
        return error.reason
