"""The repository's name from the checkout's remote."""

import subprocess
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit
from triage.code.git.origin import read_origin


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/acme/shop.git", "acme/shop"),
        ("https://user:token@git.acme.example/acme/shop", "acme/shop"),
        ("git@github.com:acme/shop.git", "acme/shop"),
        ("ssh://git@github.com:22/acme/shop.js/", "acme/shop.js"),
        ("https://gitlab.example/group/team/shop.git", "team/shop"),
        ("/srv/git/shop.git", None),
        ("../shop", None),
        ("file:///srv", None),
    ],
)
def test_the_name_of_a_remote(tmp_path: Path, url: str, name: str | None):
    commit(tmp_path, {"a.py": "x = 1\n"})
    subprocess.run(["git", "-C", str(tmp_path), "remote", "add", "origin", url], check=True)
    assert read_origin(tmp_path) == name


def test_without_a_remote_or_git(tmp_path: Path):
    assert read_origin(tmp_path) is None
    commit(tmp_path, {"a.py": "x = 1\n"})
    assert read_origin(tmp_path) is None
