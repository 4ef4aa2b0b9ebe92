"""A release from its files to main, with git's objects at a GitHub on loopback."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from release.facts import ReleaseError
from release.files import ACTIONS
from release.publish import publish
from testing.checkouts.git_repositories import write
from testing.servers.github_api import SLUG, ApiFault
from tests.docs_yaml import parse_blocks
from tests.release.conftest import DIGEST, RELEASE, ReleasedRepository

BIN = Path(sys.executable).parent
PLACEHOLDERS = re.compile(r"\bOWNER\b|0123456789abcdef|before the first release|sha256:DIGEST")
OURS = re.compile(rf"uses: {SLUG}(?:/composite|/\.github/workflows/[\w-]+\.yml)?@(.+)")
OTHERS = re.compile(r"uses: [\w/.-]+@(?![0-9a-f]{40} # v)")
SHOWN = re.compile(r"<!-- (examples/workflows/[\w-]+\.yml) -->\n```yaml\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def release(repository: ReleasedRepository) -> tuple[str, str]:
    return publish(repository.api, repository.root, repository.released, RELEASE)


def pages_of(files: dict[str, str]) -> dict[str, str]:
    """Returns what people read, or copy."""
    return {path: text for path, text in files.items() if path.endswith(".md") or path.startswith("examples/")}


def run_linter(*command: str) -> None:
    done = subprocess.run([str(BIN / command[0]), *command[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_release_names_its_version_and_image_and_no_placeholder(repository: ReleasedRepository) -> None:
    commit, _ = release(repository)
    files = repository.read_files(commit)
    pages = pages_of(files)
    assert {"README.md", "docs/no-docker.md", "docs/releasing.md", "examples/workflows/fix.yml"} <= set(pages)
    assert {path: PLACEHOLDERS.findall(text) for path, text in pages.items() if PLACEHOLDERS.search(text)} == {}
    assert {found for text in pages.values() for found in OURS.findall(text)} == {"v1.2.3"}
    assert f"oci://ghcr.io/{SLUG}@{DIGEST} --owner octo" in files["docs/releasing.md"]
    for path in ACTIONS:
        assert yaml.safe_load(files[path])["runs"]["image"] == f"docker://ghcr.io/{SLUG}@{DIGEST}"
    assert files["CHANGELOG.md"].count("## 1.2.3 (2026-11-30)\n") == 1
    assert "(unreleased)" not in files["CHANGELOG.md"]


def test_nothing_else_changes(repository: ReleasedRepository) -> None:
    before = repository.read_files(repository.released)
    commit, _ = release(repository)
    after = repository.read_files(commit)
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    assert changed <= set(pages_of(after)) | set(ACTIONS)
    assert repository.git.read_commit(commit)["parents"][0]["sha"] == repository.released


@pytest.mark.parametrize("which", ["release", "main"])
def test_what_people_copy_stays_valid(repository: ReleasedRepository, tmp_path: Path, which: str) -> None:
    commit, _ = release(repository)
    files = repository.read_files(commit if which == "release" else repository.git.refs["refs/heads/main"])
    root = write(tmp_path / "tree", files)
    examples = [str(path) for path in sorted(root.glob("examples/workflows/*.yml"))]
    run_linter("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *examples)
    run_linter("check-jsonschema", "--builtin-schema", "vendor.github-actions", *(str(root / path) for path in ACTIONS))
    if which == "main":  # a version is no pin: only a commit is
        run_linter("zizmor", "--offline", "--no-progress", "--quiet", "--persona", "pedantic", *examples)
    for path, text in files.items():
        if path.endswith(".md"):
            assert all(block.jobs for block in parse_blocks(text, path))
            assert [(name, files[name]) for name, shown in SHOWN.findall(text) if files[name] != shown] == []
        assert not path.startswith("examples/workflows/") or not OTHERS.search(OURS.sub("", text))


def test_main_then_names_the_commit_of_the_release(repository: ReleasedRepository) -> None:
    commit, branch = release(repository)
    main = repository.git.refs["refs/heads/main"]
    files = repository.read_files(main)
    assert branch == ""
    assert {found for text in files.values() for found in OURS.findall(text)} == {f"{commit} # v1.2.3"}
    for path in ACTIONS:
        assert files[path] == (repository.root / path).read_text(encoding="utf-8")
    assert "## 1.2.3 (2026-11-30)\n" in files["CHANGELOG.md"]
    assert repository.git.read_commit(main)["parents"][0]["sha"] == repository.released


def test_tags_and_page(repository: ReleasedRepository) -> None:
    repository.git.set_ref("refs/tags/v1", repository.released)
    commit, _ = release(repository)
    assert repository.git.refs["refs/tags/v1.2.3"] == repository.git.refs["refs/tags/v1"] == commit
    (page,) = repository.pages.values()
    assert page["tag_name"] == page["name"] == "v1.2.3"
    assert f"- uses: {SLUG}@{commit} # v1.2.3" in page["body"]
    assert f"Image: `ghcr.io/{SLUG}@{DIGEST}`" in page["body"]
    assert f"(https://github.test/{SLUG}/blob/v1.2.3/docs/memory.md)" in page["body"]
    assert not re.search(r"\]\((?!https://|#)", page["body"])
    assert "### Security" in page["body"]
    assert "## 1.2.3" not in page["body"]


@pytest.mark.parametrize(
    "failing", ["POST {}/git/commits", "POST {}/git/refs", "POST {}/releases", "PATCH {}/git/refs/tags/v1"]
)
def test_a_job_that_failed_in_between_is_run_again(repository: ReleasedRepository, failing: str) -> None:
    repository.git.set_ref("refs/tags/v1", repository.released)
    repository.git.api.faults.append(ApiFault(failing.format(f"/repos/{SLUG}"), 500, times=1))
    with pytest.raises(ReleaseError):
        release(repository)
    commit, branch = release(repository)
    assert branch == ""
    assert repository.git.refs["refs/tags/v1.2.3"] == repository.git.refs["refs/tags/v1"] == commit
    assert list(repository.pages) == ["v1.2.3"]


def test_the_major_tag_does_not_move_before_the_page_is_there(repository: ReleasedRepository) -> None:
    repository.git.set_ref("refs/tags/v1", repository.released)
    repository.git.api.faults.append(ApiFault(f"POST /repos/{SLUG}/releases", 500))
    with pytest.raises(ReleaseError, match="500"):
        release(repository)
    assert repository.git.refs["refs/tags/v1"] == repository.released
    assert repository.git.refs["refs/heads/main"] == repository.released


def test_a_release_that_is_complete_stays_as_it_is(repository: ReleasedRepository) -> None:
    done = release(repository)
    refs = dict(repository.git.refs)
    assert release(repository) == done
    assert repository.git.refs == refs


@pytest.mark.parametrize("newer", ["1.2.4", "1.10.0"])
def test_the_job_of_an_old_release_moves_nothing_back(repository: ReleasedRepository, newer: str) -> None:
    release(repository)
    later = repository.git.set_ref(f"refs/tags/v{newer}", repository.git.commit({"a": "b"}, repository.released))
    repository.git.set_ref("refs/tags/v1", later)
    repository.git.set_ref("refs/tags/v1.x", later)
    repository.git.set_ref("refs/tags/v2.0.0", later)
    refs, pages = dict(repository.git.refs), dict(repository.pages)
    with pytest.raises(ReleaseError, match=f"v{newer} is released, and newer than v1.2.3"):
        release(repository)
    assert (repository.git.refs, repository.pages) == (refs, pages)


@pytest.mark.parametrize("moved", [True, False], ids=["moved on", "protected"])
def test_a_main_that_cannot_take_the_commit_is_left_alone(repository: ReleasedRepository, moved: bool) -> None:
    if moved:
        repository.git.set_ref("refs/heads/main", repository.git.commit({"a": "b"}, repository.released))
    repository.protected.add("refs/heads/main")
    before = repository.git.refs["refs/heads/main"]
    commit, branch = release(repository)
    assert branch == "name-v1.2.3"
    assert repository.git.refs["refs/heads/main"] == before
    assert f"@{commit} # v1.2.3" in repository.read_files(repository.git.refs[f"refs/heads/{branch}"])["README.md"]


def test_a_version_of_another_commit_is_not_touched(repository: ReleasedRepository) -> None:
    other = repository.git.set_ref("refs/tags/v1.2.3", repository.git.commit({"a": "b"}))
    with pytest.raises(ReleaseError, match="Raise the version"):
        release(repository)
    assert repository.git.refs["refs/tags/v1.2.3"] == other
    assert "refs/tags/v1" not in repository.git.refs
    assert repository.pages == {}


@pytest.mark.parametrize(
    "planted",
    [
        {"action.yml": "runs:\n  using: docker\n  image: docker://ghcr.io/mallory/evil\n"},
        {"entrypoint.py": "import os\n"},
        {"docs/memory.md": "Other words\n"},
    ],
)
def test_a_tag_that_somebody_planted_is_not_the_release(
    repository: ReleasedRepository, planted: dict[str, str | bytes]
) -> None:
    """Between the check for the tag and the job that makes it, somebody who may push was faster."""
    commit, _ = release(repository)
    git, files = repository.git, {**repository.read_checkout(), **repository.read_files(commit)}
    forged = git.commit({**files, **planted}, repository.released, message="Release v1.2.3")
    for ref in ("refs/heads/main", "refs/tags/v1"):
        git.set_ref(ref, repository.released)
    git.set_ref("refs/tags/v1.2.3", forged)
    repository.pages.clear()
    with pytest.raises(ReleaseError, match="other files than the release"):
        release(repository)
    assert git.refs["refs/heads/main"] == git.refs["refs/tags/v1"] == repository.released
    assert repository.pages == {}


@pytest.mark.parametrize("path", ACTIONS)
def test_an_action_without_dockerfile_is_not_released(repository: ReleasedRepository, path: str) -> None:
    (repository.root / path).write_text("runs:\n  using: docker\n  image: docker://other\n")
    with pytest.raises(ReleaseError, match=re.escape(path)):
        release(repository)
    assert set(repository.git.refs) == {"refs/heads/main"}


@pytest.mark.parametrize("first_date", ["2026-11-30", "2026-11-29"], ids=["the same day", "before midnight"])
def test_the_date_is_that_of_the_tag(repository: ReleasedRepository, first_date: str) -> None:
    first, next_day = (replace(RELEASE, date=date) for date in (first_date, "2026-12-01"))
    repository.git.api.faults.append(ApiFault(f"POST /repos/{SLUG}/releases", 500, times=1))
    with pytest.raises(ReleaseError):
        publish(repository.api, repository.root, repository.released, first)
    publish(repository.api, repository.root, repository.released, next_day)
    for ref in ("refs/tags/v1.2.3", "refs/heads/main"):
        assert f"## 1.2.3 ({first_date})\n" in repository.read_files(repository.git.refs[ref])["CHANGELOG.md"]


def test_the_next_release_replaces_the_pins_of_the_last_one(repository: ReleasedRepository) -> None:
    release(repository)
    write(repository.root, repository.read_files(repository.git.refs["refs/heads/main"]))
    changelog = repository.root / "CHANGELOG.md"
    changelog.write_text(changelog.read_text().replace("## 1.2.3 ", "## 1.3.0 (unreleased)\n\n- New.\n\n## 1.2.3 ", 1))
    following = replace(RELEASE, version="1.3.0", digest="sha256:" + "77" * 32, date="2026-12-24")
    parent = repository.git.set_ref("refs/heads/main", repository.git.commit(repository.read_checkout()))
    commit, _ = publish(repository.api, repository.root, parent, following)
    pages = pages_of(repository.read_files(commit))
    assert {found for path, text in pages.items() for found in OURS.findall(text)} == {"v1.3.0"}
    assert f"ghcr.io/{SLUG}@sha256:{'77' * 32}" in pages["docs/releasing.md"]
    assert "## 1.2.3 (2026-11-30)" in pages["CHANGELOG.md"]
    body = repository.pages["v1.3.0"]["body"]
    assert body.endswith("`\n\n- New.\n")
    assert repository.git.refs["refs/tags/v1"] == commit
