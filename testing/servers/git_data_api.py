"""GitHub's Git Data API over a real repository: git itself can read and check what was written."""

import base64
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from testing.checkouts.git_objects import FOLDER, ObjectStore
from testing.servers.github_api import (
    FORBIDDEN,
    NOT_FOUND,
    SERVER_ERROR_TEXT,
    SLUG,
    START,
    UNPROCESSABLE,
    Answer,
    GitHubApi,
)

BOT = "github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>"
_MODES = {"100644", "100755", "120000", "160000", "040000"}
Tree = dict[str, tuple[str, str]]
"""Mode and id by path, of files in all folders."""


@dataclass
class GitDataApi:
    """Adds the routes for git objects and refs to an API, whose clock then starts at `START`."""

    api: GitHubApi
    folder: Path
    default_branch: str = "main"

    def __post_init__(self) -> None:
        self.store = ObjectStore(self.folder)
        self.refs: dict[str, str] = {}
        self.api.date_header = START
        self.api.routes += [
            (r"GET ", self._get_repository),
            (r"POST /git/trees", self._post_tree),
            (r"POST /git/commits", self._post_commit),
            (r"POST /git/refs", self._post_ref),
            (r"GET /git/blobs/([0-9a-f]{40})", self._get_blob),
            (r"GET /git/trees/([0-9a-f]{40})", self._get_tree),
            (r"GET /git/commits/([0-9a-f]{40})", self._get_commit),
            (r"GET /compare/([0-9a-f]{40})\.\.\.([0-9a-f]{40})", self._compare),
            (r"GET /git/ref/(.+)", self._get_ref),
            (r"GET /git/matching-refs/(.*)", self._get_matching_refs),
            (r"DELETE /git/refs/(.+)", self._delete_ref),
        ]

    @property
    def now(self) -> datetime:
        return (self.api.date_header or START) + timedelta(seconds=self.api.seconds)

    def commit(self, files: dict[str, str | bytes], *parents: str, message: str = "x\n", modes: str = "100644") -> str:
        """Stores a commit with exactly these files, and returns its id. No ref leads to it."""
        tree: Tree = {}
        for path, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            tree[path] = modes, self.store.put("blob", data)
        return self.store_commit(self.store_tree(tree), list(parents), message)

    def set_ref(self, name: str, commit: str) -> str:
        """Lets a ref lead to a commit, whatever it led to before."""
        self.refs[name] = commit
        file = self.store.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{commit}\n")
        return commit

    def read(self, sha: str) -> tuple[str, bytes]:
        """Returns the kind and the content of an object; an empty kind if there is none."""
        file = self.store.folder / "objects" / sha[:2] / sha[2:]
        if not file.exists():
            return "", b""
        head, _, data = zlib.decompress(file.read_bytes()).partition(b"\0")
        return head.decode().partition(" ")[0], data

    def read_files(self, tree: str) -> Tree:
        """Returns the files of a tree and of the folders in it."""
        return dict(self._iterate_files(tree, ""))

    def _iterate_files(self, tree: str, prefix: str) -> Iterator[tuple[str, tuple[str, str]]]:
        for mode, name, sha in self._list_entries(tree):
            if mode == FOLDER.decode():
                yield from self._iterate_files(sha, f"{prefix}{name}/")
            else:
                yield f"{prefix}{name}", (mode, sha)

    def _list_entries(self, tree: str) -> list[tuple[str, str, str]]:
        data, rows = self.read(tree)[1], []
        while data:
            head, _, rest = data.partition(b"\0")
            mode, _, name = head.decode().partition(" ")
            rows.append((mode, name, rest[:20].hex()))
            data = rest[20:]
        return rows

    def store_tree(self, files: Tree) -> str:
        """Stores a tree with folders, and returns its id."""
        rows, folders = [], dict[str, Tree]()
        for path, entry in files.items():
            name, slash, rest = path.partition("/")
            if slash:
                folders.setdefault(name, {})[rest] = entry
            else:
                rows.append((entry[0].encode(), name.encode(), entry[1]))
        rows += [(FOLDER, name.encode(), self.store_tree(inner)) for name, inner in folders.items()]
        return self.store.tree(rows)

    def store_commit(self, tree: str, parents: list[str], message: str) -> str:
        who = f"{BOT} {int(self.now.timestamp())} +0000"
        lines = [f"tree {tree}", *(f"parent {one}" for one in parents), f"author {who}", f"committer {who}"]
        return self.store.put("commit", ("\n".join(lines) + f"\n\n{message}").encode())

    def read_commit(self, sha: str) -> dict[str, Any]:
        """Returns a commit as the API shows it."""
        head, _, message = self.read(sha)[1].decode().partition("\n\n")
        rows = [line.partition(" ")[::2] for line in head.splitlines()]
        seconds = int(re.findall(r"^committer .* (\d+) \+0000$", head, re.M)[0])
        date = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"
        signature = {"name": "github-actions[bot]", "email": "x@users.noreply.github.com", "date": date}
        return {
            "sha": sha,
            "message": message,
            "tree": {"sha": next(value for name, value in rows if name == "tree"), "url": ""},
            "parents": [{"sha": value, "url": "", "html_url": ""} for name, value in rows if name == "parent"],
            "author": signature,
            "committer": signature,
            "verification": {"verified": True, "reason": "valid"},
        }

    def _may_write(self, token: str) -> bool:
        return "contents" not in self.api.denied.get(token, ())

    def _get_repository(self, api: GitHubApi, query: Any, token: str, sent: Any) -> Answer:
        return 200, {"id": 1, "full_name": "octo/shop", "private": False, "default_branch": self.default_branch}

    def _post_tree(self, api: GitHubApi, query: Any, token: str, sent: Any) -> Answer:
        if not self._may_write(token):
            return FORBIDDEN
        if set(sent) != {"base_tree", "tree"} or self.read(sent["base_tree"])[0] != "tree":
            return 422, {"message": "base_tree is not a valid tree", "documentation_url": SERVER_ERROR_TEXT}
        files = self.read_files(sent["base_tree"])
        for entry in sent["tree"]:
            assert set(entry) == {"path", "mode", "type", "content"}
            if "\0" in entry["path"] or entry["mode"] not in _MODES:
                return 422, {"message": "tree.path contains a malformed path component"}
            files[entry["path"]] = entry["mode"], self.store.put("blob", entry["content"].encode())
        return 201, self._show_tree(self.store_tree(files))

    def _show_tree(self, sha: str) -> dict[str, Any]:
        rows = [
            {"path": name, "mode": mode.rjust(6, "0"), "type": "tree" if mode == "40000" else "blob", "sha": one}
            for mode, name, one in self._list_entries(sha)
        ]
        for row in rows:
            row["type"] = "commit" if row["mode"] == "160000" else row["type"]
        return {"sha": sha, "url": "", "tree": rows, "truncated": False}

    def _post_commit(self, api: GitHubApi, query: Any, token: str, sent: Any) -> Answer:
        if not self._may_write(token):
            return FORBIDDEN
        if set(sent) != {"message", "tree", "parents"} or self.read(sent["tree"])[0] != "tree":
            return 422, {"message": "Tree SHA does not exist", "documentation_url": SERVER_ERROR_TEXT}
        if any(self.read(parent)[0] != "commit" for parent in sent["parents"]):
            return 422, {"message": "Parent SHA does not exist or is not a commit object"}
        return 201, self.read_commit(self.store_commit(sent["tree"], sent["parents"], sent["message"]))

    def _post_ref(self, api: GitHubApi, query: Any, token: str, sent: Any) -> Answer:
        if not self._may_write(token):
            return FORBIDDEN
        name, sha = sent["ref"], sent["sha"]
        if not re.fullmatch(r"refs/[\w.-]+(/[\w.-]+)+", name) or set(sent) != {"ref", "sha"}:
            return UNPROCESSABLE
        if name in self.refs:
            return 422, {"message": "Reference already exists", "documentation_url": SERVER_ERROR_TEXT}
        if self.read(sha)[0] != "commit":
            return 422, {"message": "Object does not exist", "documentation_url": SERVER_ERROR_TEXT}
        self.set_ref(name, sha)
        return 201, self._show_ref(name)

    def _show_ref(self, name: str) -> dict[str, Any]:
        sha = self.refs[name]
        return {
            "ref": name,
            "node_id": "",
            "url": f"{self.api.url}/repos/{SLUG}/git/{name}",
            "object": {"type": self.read(sha)[0], "sha": sha, "url": ""},
        }

    def _get_blob(self, api: GitHubApi, query: Any, token: str, sent: Any, sha: str) -> Answer:
        kind, data = self.read(sha)
        text = base64.encodebytes(data).decode()
        return (200, {"sha": sha, "size": len(data), "content": text, "encoding": "base64"}) if kind else NOT_FOUND

    def _get_tree(self, api: GitHubApi, query: Any, token: str, sent: Any, sha: str) -> Answer:
        return (200, self._show_tree(sha)) if self.read(sha)[0] == "tree" else NOT_FOUND

    def _get_commit(self, api: GitHubApi, query: Any, token: str, sent: Any, sha: str) -> Answer:
        return (200, self.read_commit(sha)) if self.read(sha)[0] == "commit" else NOT_FOUND

    def _compare(self, api: GitHubApi, query: Any, token: str, sent: Any, first: str, second: str) -> Answer:
        sides = [self._list_history(one) for one in (first, second)]
        if not all(sides) or not sides[0] & sides[1]:  # also without a common ancestor
            return NOT_FOUND
        ahead, behind = len(sides[1] - sides[0]), len(sides[0] - sides[1])
        status = {(0, 0): "identical", (1, 0): "ahead", (0, 1): "behind", (1, 1): "diverged"}[bool(ahead), bool(behind)]
        return 200, {"status": status, "ahead_by": ahead, "behind_by": behind, "commits": [], "files": []}

    def _list_history(self, commit: str) -> set[str]:
        """Returns a commit and all that it stands on; nothing if there is no such commit."""
        found, waiting = set[str](), [commit]
        while waiting:
            sha = waiting.pop()
            if sha not in found and self.read(sha)[0] == "commit":
                found.add(sha)
                waiting += [parent["sha"] for parent in self.read_commit(sha)["parents"]]
        return found

    def _get_ref(self, api: GitHubApi, query: Any, token: str, sent: Any, name: str) -> Answer:
        return (200, self._show_ref(f"refs/{name}")) if f"refs/{name}" in self.refs else NOT_FOUND

    def _get_matching_refs(self, api: GitHubApi, query: Any, token: str, sent: Any, prefix: str) -> Answer:
        # A slash at the end of a path may be lost on the way.
        start = f"refs/{unquote(prefix).rstrip('/')}"
        return 200, [self._show_ref(name) for name in sorted(self.refs) if name.startswith(start)]

    def _delete_ref(self, api: GitHubApi, query: Any, token: str, sent: Any, name: str) -> Answer:
        if not self._may_write(token):
            return FORBIDDEN
        if f"refs/{name}" not in self.refs:
            return 422, {"message": "Reference does not exist", "documentation_url": SERVER_ERROR_TEXT}
        del self.refs[f"refs/{name}"]
        (self.store.folder / "refs" / name).unlink()
        return 204, b""
