"""One file is read from the commit if there is one, and from the folder otherwise."""

from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, git, write
from triage.base.errors import BadInput
from triage.code.git.read_file import read_file

PATH = ".github/triage.yml"


def test_the_commit_is_read_and_not_the_work_tree(tmp_path: Path):
    commit(tmp_path, {PATH: "committed\n"})
    write(tmp_path, {PATH: "changed\n", "new.yml": "untracked\n"})
    assert read_file(tmp_path, PATH, 100) == b"committed\n"
    assert read_file(tmp_path, "new.yml", 100) is None
    (tmp_path / PATH).unlink()
    assert read_file(tmp_path, PATH, 100) == b"committed\n"


def test_a_folder_of_a_repository_has_its_own_file(tmp_path: Path):
    commit(tmp_path, {PATH: "above\n", f"sub/{PATH}": "below\n"})
    assert read_file(tmp_path / "sub", PATH, 100) == b"below\n"


def test_a_bare_repository(tmp_path: Path):
    commit(tmp_path / "work", {PATH: "committed\n"})
    git(tmp_path, "clone", "-q", "--bare", str(tmp_path / "work"), "bare.git")
    assert read_file(tmp_path / "bare.git", PATH, 100) == b"committed\n"
    assert read_file(tmp_path / "bare.git", "HEAD", 100) is None


def test_a_folder_is_not_a_file(tmp_path: Path):
    commit(tmp_path, {"folder/a.yml": "x\n"})
    assert read_file(tmp_path, "folder/", 100) is None


def test_a_folder_without_git(tmp_path: Path):
    write(tmp_path, {PATH: "as it is\n"})
    assert read_file(tmp_path, PATH, 100) == b"as it is\n"
    assert read_file(tmp_path, "other.yml", 100) is None
    assert read_file(tmp_path, f"{PATH}/deeper", 100) is None
    assert read_file(tmp_path / "nowhere", PATH, 100) is None


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("odd", ["*", "?.yml", ":(top)a.yml", "[a].yml", "a.yml/", "-h", "--"])
def test_a_path_is_not_a_pattern(tmp_path: Path, odd: str, committed: bool):
    write(tmp_path, {"a.yml": "a\n"})
    if committed:
        commit(tmp_path)
    assert read_file(tmp_path, odd.rstrip("/") + "x", 100) is None
    assert read_file(tmp_path, "a.yml", 100) == b"a\n"
    write(tmp_path, {f"{odd.rstrip('/')}y": "odd\n"})
    if committed:
        commit(tmp_path)
    assert read_file(tmp_path, f"{odd.rstrip('/')}y", 100) == b"odd\n"


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("link.yml", "link.yml is a symbolic link: put a regular file there."),
        ("linked/hosts", "symbolic link"),
        ("folder", "folder is a folder: put a regular file there."),
        ("large.yml", "large.yml has 1,001 bytes; 1,000 are allowed."),
    ],
)
def test_links_folders_and_large_files_are_refused(tmp_path: Path, path: str, message: str, committed: bool):
    write(tmp_path, {"folder/a.yml": "x\n", "large.yml": "x" * 1_001})
    (tmp_path / "link.yml").symlink_to("/etc/hosts")
    (tmp_path / "linked").symlink_to("/etc")
    if committed:
        commit(tmp_path)
    if committed and path == "linked/hosts":
        assert read_file(tmp_path, path, 1_000) is None, "git knows nothing behind a link"
        return
    with pytest.raises(BadInput) as caught:
        read_file(tmp_path, path, 1_000)
    assert message in str(caught.value)


def test_a_file_that_was_not_fetched_is_refused(tmp_path: Path):
    source = tmp_path / "source"
    commit(source, {PATH: "committed\n"})
    git(source, "config", "uploadpack.allowFilter", "true")
    clone = ("-c", "protocol.file.allow=always", "clone", "-q", "--filter=blob:none", "--no-checkout")
    git(tmp_path, *clone, source.as_uri(), "partial")
    with pytest.raises(BadInput, match="was not fetched"):
        read_file(tmp_path / "partial", PATH, 100)
