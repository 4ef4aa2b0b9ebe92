"""This repository as a checkout that is released, at a GitHub on loopback."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from release.facts import Release
from release.github_api import GitHubApi
from testing.servers.git_data_api import GitDataApi
from testing.servers.github_api import JOB_TOKEN, NOT_FOUND, SLUG, UNPROCESSABLE, Answer, serve_github_api

ROOT = Path(__file__).parents[2]
DIGEST = "sha256:" + "5e" * 32
FOLDERS = ("docs", "examples", "bench", "composite", "container", "triage/__init__.py")
RELEASE = Release(repository=SLUG, version="1.2.3", digest=DIGEST, date="2026-11-30", server_url="https://github.test")


@dataclass
class ReleasedRepository:
    """The checkout, and the repository at GitHub whose main is the same commit."""

    root: Path
    git: GitDataApi
    api: GitHubApi
    released: str = ""
    pages: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Of releases, by tag."""
    protected: set[str] = field(default_factory=set)
    """Refs that rules protect."""

    def __post_init__(self) -> None:
        self.released = self.git.set_ref("refs/heads/main", self.git.commit(self.read_checkout()))
        self.git.api.routes += [
            (r"PATCH /git/refs/(.+)", self._patch_ref),
            (r"GET /releases/tags/(.+)", self._get_page),
            (r"POST /releases", self._post_page),
        ]

    def read_checkout(self) -> dict[str, str | bytes]:
        return {str(path.relative_to(self.root)): path.read_bytes() for path in self.root.rglob("*") if path.is_file()}

    def read_files(self, commit: str) -> dict[str, str]:
        """Returns the text files of a commit."""
        tree = self.git.read_files(self.git.read_commit(commit)["tree"]["sha"])
        return {path: self.git.read(sha)[1].decode() for path, (_, sha) in tree.items() if not path.endswith(".png")}

    def _patch_ref(self, api: Any, query: Any, token: str, sent: Any, name: str) -> Answer:
        ref = f"refs/{name}"
        moves_forward = self.git.refs[ref] in self.git.read(sent["sha"])[1].decode()
        if ref in self.protected or not (sent["force"] or moves_forward):
            return UNPROCESSABLE
        self.git.set_ref(ref, sent["sha"])
        return 200, {}

    def _get_page(self, api: Any, query: Any, token: str, sent: Any, tag: str) -> Answer:
        return (200, self.pages[tag]) if tag in self.pages else NOT_FOUND

    def _post_page(self, api: Any, query: Any, token: str, sent: Any) -> Answer:
        assert f"refs/tags/{sent['tag_name']}" in self.git.refs, "GitHub would make a tag of its own"
        assert sent["tag_name"] not in self.pages
        self.pages[sent["tag_name"]] = sent
        return 201, sent


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that a release reads, at version 1.2.3, which is not released."""
    root = tmp_path / "checkout"
    for name in (*(path.name for path in ROOT.glob("*.md")), "action.yml", *FOLDERS):
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)
    set_version(root, "1.2.3")
    undo_last_release(root)
    return root


def set_version(root: Path, version: str) -> None:
    """Lets the program and the first section of the changelog have a version without a date."""
    for name, pattern, text in (
        ("triage/__init__.py", r'(?m)^__version__ = ".*"$', f'__version__ = "{version}"'),
        ("CHANGELOG.md", r"(?m)^## .*$", f"## {version} (unreleased)"),
    ):
        path = root / name
        path.write_text(re.sub(pattern, text, path.read_text(encoding="utf-8"), count=1), encoding="utf-8")


def undo_last_release(root: Path) -> None:
    """Lets the pages of a released tree name the repository of the fake GitHub, and the action its Dockerfile."""
    for action, image in ((root / "action.yml", "Dockerfile"), (root / "container" / "action.yml", "../Dockerfile")):
        action.write_text(re.sub(r"image: docker://\S+", f"image: {image}", action.read_text(encoding="utf-8")))
    clone = re.search(r"https://github\.com/(\S+/\S+) &&", (root / "docs/enterprise.md").read_text(encoding="utf-8"))
    assert clone
    owner, _, name = clone[1].partition("/")
    if owner != "OWNER":
        for path in [*root.rglob("*.md"), *root.rglob("*.yml")]:
            text = re.sub(
                rf"\b{re.escape(owner)}/{re.escape(name)}\b", SLUG, path.read_text(encoding="utf-8"), flags=re.I
            )
            path.write_text(re.sub(rf"\b{re.escape(owner)}\b", SLUG.partition("/")[0], text), encoding="utf-8")


@pytest.fixture
def repository(checkout: Path, tmp_path: Path) -> Iterator[ReleasedRepository]:
    with serve_github_api() as server:
        git = GitDataApi(server, tmp_path / "remote")
        server.date_header = datetime(2026, 11, 30, 12, tzinfo=UTC)
        yield ReleasedRepository(checkout, git, GitHubApi(server.url, SLUG, JOB_TOKEN))
