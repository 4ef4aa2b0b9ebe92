"""The command as a person uses it: real repositories, wheels, environments and runs; the registry is on loopback."""

import json
import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from testing import command_line
from testing.checkouts.git_repositories import commit, git
from testing.checkouts.hostile_base import trap_was_run
from testing.checkouts.hostile_config import programs
from tests.reproduce.small_shop import BAD, GOOD, ISSUE, make_repository, serve_packages, variables

VERSIONS = {"1.0": GOOD, "1.1": GOOD, "1.2": GOOD, "1.3": BAD, "1.4": BAD}


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    (folder / "issue.md").write_text(ISSUE)
    make_repository(folder / "repo", VERSIONS)
    with serve_packages(VERSIONS) as url:
        yield folder, url


def run(shop: tuple[Path, str], *words: str, **environ: str) -> "CompletedProcess[str]":
    folder, url = shop
    arguments = ["reproduce", "--repo", "repo", "--issue", "issue.md", *words]
    return command_line.run_command(arguments, variables(url, folder) | environ, folder)


def test_it_says_that_it_still_happens_and_since_when(shop):
    done = run(shop, "--no-container", "--bisect", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"] == "still", json.dumps(found["runs"])
    assert [(one["on"], one["outcome"], one["error"], one["place"], one["executed"]) for one in found["runs"]] == [
        (on, "failed", "ValueError: no items", {"path": "shop/__init__.py", "line": 3}, ["shop/__init__.py"])
        for on in ("1.4", "main")
    ]
    bad = git(shop[0] / "repo", "rev-parse", "v1.3")
    assert found["first_bad"] == {
        "release": "1.3", "before": "1.2", "gap": [], "gap_reason": "", "commit": bad, "subject": "x",
    }  # fmt: skip
    assert "building 1.4" in done.stderr
    assert "running on main, 2 of 2" in done.stderr


def test_what_the_example_executes_leads_to_the_place(shop, tmp_path):
    evidence = tmp_path / "evidence.json"
    evidence.write_text(run(shop, "--no-container", "--json").stdout)
    folder, url = shop
    arguments = ["run", "--repo", "repo", "--issue", "issue.md", "--engine", "rules", "--json", "--evidence"]
    done = command_line.run_command([*arguments, str(evidence)], variables(url, folder), folder)
    place = json.loads(done.stdout)["found"]
    assert (place["is_of_run"], place["span"]["path"], place["line"]) == (True, "shop/__init__.py", 3)
    refused = command_line.run_command([*arguments, "issue.md"], variables(url, folder), folder)
    assert "is no evidence" in refused.stderr


def test_it_says_that_it_no_longer_happens(shop, tmp_path):
    folder, url = shop
    repo = tmp_path / "repo"
    shutil.copytree(folder / "repo", repo)
    (repo / "py").mkdir()
    git(repo, "mv", *(one.name for one in repo.iterdir() if one.name not in (".git", "py")), "py")
    fix = commit(repo, {"py/shop/__init__.py": GOOD})
    done = run((folder, url), "--repo", str(repo), "--no-container", "--bisect")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"No longer happens on main ({fix[:7]}). The example")
    assert f"Last release with it: 1.4. Not released yet; first commit: {fix[:7]} x." in done.stdout
    assert not {"**", "|", "<details>", "</summary>", "```"} & set(done.stdout.split())
    assert "import shop\n" in done.stdout


def test_a_version_that_a_person_names_is_run(shop):
    found = json.loads(run(shop, "--no-container", "--json", "--on", "v1.0", "--on", "v1.1").stdout)
    assert [(one["on"], one["outcome"]) for one in found["runs"]] == [
        ("1.0", "passed"),
        ("1.1", "passed"),
        ("main", "failed"),
    ]
    assert found["verdict"] == "newer"


def test_a_package_that_somebody_else_uploaded_under_the_names_of_our_versions_is_not_run(shop):
    with serve_packages(dict.fromkeys(VERSIONS, "raise ValueError('no items')\n")) as url:
        found = json.loads(run((shop[0], url), "--no-container", "--json", "--on", "1.0").stdout)
    assert [(one["on"], one["outcome"]) for one in found["runs"]] == [("1.0", "passed"), ("main", "failed")]


def test_a_version_that_cannot_be_built_says_why_and_the_wheels_of_the_package_that_the_settings_name_stand_in(
    shop, tmp_path
):
    folder, _ = shop
    repo = tmp_path / "repo"
    shutil.copytree(folder / "repo", repo)
    commit(repo, {"backend.py": "raise OSError('no compiler')\n"})
    git(repo, "tag", "v1.5")
    words = ("--repo", str(repo), "--no-container", "--json")
    found = json.loads(run(shop, *words, "--on", "1.5").stdout)
    assert [(one["on"], one["reason"]) for one in found["runs"]] == [
        ("1.5", "OSError: no compiler"), ("main", "OSError: no compiler"),
    ]  # fmt: skip
    commit(repo, {".github/triage.yml": "reproduce: {package: shop}\n"})
    with serve_packages({**VERSIONS, "1.5": GOOD}) as url:
        found = json.loads(run((folder, url), *words, "--on", "1.5").stdout)
    assert [(one["on"], one["outcome"]) for one in found["runs"]] == [("1.5", "passed"), ("main", "could-not-install")]
    assert found["verdict"] == "not-reproduced", "the newest release stands in"


def test_lines_of_the_settings_install_every_version_that_is_built(shop, tmp_path):
    folder, url = shop
    repo = tmp_path / "repo"
    shutil.copytree(folder / "repo", repo)
    lines = 'echo "def total(items): return 7" > shop/__init__.py\ncp -r shop "$VIRTUAL_ENV"/lib/python*/site-packages/'
    indented = lines.replace("\n", "\n    ")
    commit(repo, {".github/triage.yml": f"reproduce:\n  setup: |\n    {indented}\n"})
    found = json.loads(run((folder, url), "--repo", str(repo), "--no-container", "--json").stdout)
    assert [(one["on"], one["output"]) for one in found["runs"]] == [("1.4", "7\n"), ("main", "7\n")]


@pytest.mark.parametrize(
    ("words", "environ", "code", "message"),
    [
        (("--no-container", "--on", "7.7"), {}, 2, "7.7 is neither a release nor a tag"),
        (("--no-container", "--on", "--output=x"), {}, 2, "--output=x is neither"),
        (("--no-container", "--issue", "words.md"), {}, 1, "Nothing was run: the report has no block of code."),
    ],
)
def test_it_says_in_one_line_why_nothing_was_run(shop, words, environ, code, message):
    (shop[0] / "words.md").write_text("# It is slow\n\nVery.\n")
    done = run(shop, *words, **environ)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert done.stderr.count("bug-triage:") == 1


def test_without_docker_it_refuses_to_run_unprotected(shop, tmp_path):
    (tmp_path / "git").symlink_to(str(shutil.which("git")))
    done = run(shop, PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "Docker does not answer. Start or install it; or add --no-container" in done.stderr


def test_a_checkout_whose_configuration_names_programs_starts_none(shop, tmp_path):
    root = tmp_path / "checkout"
    programs(root)
    done = run(shop, "--repo", str(root), "--no-container", "--bisect")
    assert "main" in done.stdout, done.stderr
    assert not trap_was_run(root)


def test_a_git_that_leads_to_another_repository_is_refused(shop, tmp_path):
    (tmp_path / ".git").write_text(f"gitdir: {shop[0] / 'repo/.git'}\n")
    done = run(shop, "--repo", str(tmp_path), "--no-container")
    assert (
        "The repository cannot be read: its .git leads to a repository that does not name this folder." in done.stderr
    )


def test_a_folder_that_is_no_package_is_refused(shop, tmp_path):
    commit(tmp_path, {"main.c": "int main(void) {}\n"})
    done = run(shop, "--repo", str(tmp_path), "--no-container")
    assert "This is no package of Python or Node" in done.stderr
    assert done.returncode == 2, "what is asked for cannot be used: a job answers so, and does not fail"
