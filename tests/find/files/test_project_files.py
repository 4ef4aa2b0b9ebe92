"""One file is read from the commit if there is one, and from the folder otherwise.

The file with the owners and the issue forms, read from the indexed commit.

Skills come from the indexed commit, and a broken one costs only itself."""

from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, git, write
from tests.find.indexes import make_codebase
from triage.base.errors import BadInput
from triage.domain.skill import SKILL_FOLDER, BrokenSkill, Skills
from triage.find.files.project_files import MAX_SKILLS, read_file, read_skills_at
from triage.read.skills import MAX_SKILL_BYTES

PATH = ".github/triage.yml"


def test_a_folder_of_a_repository_has_its_own_file(tmp_path: Path):
    commit(tmp_path, {PATH: "above\n", f"sub/{PATH}": "below\n"})
    assert read_file(tmp_path / "sub", PATH, 100) == b"below\n"


def test_a_folder_without_git_has_none(tmp_path: Path):
    write(tmp_path, {PATH: "as it is\n", f"{SKILL_FOLDER}/a.md": TEXT.format("ay")})
    assert read_file(tmp_path, PATH, 100) is None
    assert read_file(tmp_path / "nowhere", PATH, 100) is None
    assert read_skills_at(tmp_path) == Skills()


@pytest.mark.parametrize("odd", ["*", "?.yml", ":(top)a.yml", "[a].yml", "a.yml/", "-h", "--"])
def test_a_path_is_not_a_pattern(tmp_path: Path, odd: str):
    commit(tmp_path, {"a.yml": "a\n"})
    assert read_file(tmp_path, odd.rstrip("/") + "x", 100) is None
    assert read_file(tmp_path, "a.yml", 100) == b"a\n"
    commit(tmp_path, {f"{odd.rstrip('/')}y": "odd\n"})
    assert read_file(tmp_path, f"{odd.rstrip('/')}y", 100) == b"odd\n"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("link.yml", "link.yml is a symbolic link: put a regular file there."),
        ("folder", "folder is a folder: put a regular file there."),
        ("large.yml", "large.yml has 1,001 bytes; 1,000 are allowed."),
    ],
)
def test_links_folders_and_large_files_are_refused(tmp_path: Path, path: str, message: str):
    write(tmp_path, {"folder/a.yml": "x\n", "large.yml": "x" * 1_001})
    (tmp_path / "link.yml").symlink_to("/etc/hosts")
    (tmp_path / "linked").symlink_to("/etc")
    commit(tmp_path)
    assert read_file(tmp_path, "linked/hosts", 1_000) is None, "git knows nothing behind a link"
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


@pytest.mark.parametrize(
    ("files", "owner"),
    [
        ({"CODEOWNERS": "* @root"}, "root"),
        ({"docs/CODEOWNERS": "* @docs"}, "docs"),
        ({".github/CODEOWNERS": "* @github", "CODEOWNERS": "* @root", "docs/CODEOWNERS": "* @docs"}, "github"),
        ({"CODEOWNERS": "* @root", "docs/CODEOWNERS": "* @docs"}, "root"),
    ],
)
def test_the_file_that_github_uses_is_read(tmp_path: Path, files: dict[str, str], owner: str):
    codebase = make_codebase(tmp_path, {**files, "a.py": "x = 1\n"})
    codebase.index()
    assert codebase.project.owners.find_owners("a.py") == [owner]


def test_issue_forms_are_read_from_the_commit(tmp_path: Path):
    forms = {
        ".github/ISSUE_TEMPLATE/bug.yml": "name: Bug\n",
        ".github/ISSUE_TEMPLATE/feature.md": "---\nname: Feature\n---\n",
        ".github/ISSUE_TEMPLATE/deep/no.md": "no\n",
        ".github/ISSUE_TEMPLATE/logo.png": "no\n",
        ".github/workflows/ci.yml": "no\n",
        "ISSUE_TEMPLATE.md": "What happened?\n",
        "src/ISSUE_TEMPLATE.md": "no\n",
        "src/a.py": "x = 1\n",
    }
    codebase = make_codebase(tmp_path, forms)
    (tmp_path / ".github/ISSUE_TEMPLATE/bug.yml").write_text("changed\n")
    codebase.index()
    assert codebase.project.forms == ["name: Bug\n", "---\nname: Feature\n---\n", "What happened?\n"]


def test_rules_for_labels_are_read_from_the_commit(tmp_path: Path):
    files = {".github/labeler.yml": "cli: src/**\n", "labeler.yml": "no\n", "src/a.py": "x = 1\n"}
    codebase = make_codebase(tmp_path, files)
    assert codebase.project.label_rules == ""
    codebase.index()
    assert codebase.project.label_rules == "cli: src/**\n"


TEXT = "---\ndescription: {}\n---\nLook at `src/a.py`.\n"
CODE = {"src/a.py": "def refund():\n    return 1\n"}


def skills_of(files: dict[str, str | bytes], folder: Path) -> Skills:
    codebase = make_codebase(folder, CODE | files)
    codebase.index()
    return codebase.project.skills


def problems(skills: Skills) -> dict[str, str]:
    return {one.path.removeprefix(f"{SKILL_FOLDER}/"): one.problem for one in skills.broken}


def test_only_files_of_the_folder_itself_are_skills(tmp_path: Path):
    others = {
        f"{SKILL_FOLDER}/README.md": "What these are.",
        f"{SKILL_FOLDER}/notes.txt": "x",
        f"{SKILL_FOLDER}/files/deep.md": "x",
        ".github/triage/skills.md": "x",
    }
    assert skills_of({**others}, tmp_path) == Skills()


def test_a_broken_file_is_named_and_the_others_are_read(tmp_path: Path):
    write(tmp_path, {f"{SKILL_FOLDER}/good.md": TEXT.format("fine")})
    (tmp_path / SKILL_FOLDER / "link.md").symlink_to("good.md")
    (tmp_path / SKILL_FOLDER / "secret.md").symlink_to("/etc/passwd")
    commit(tmp_path / SKILL_FOLDER / "module.md", {"a": "b"})
    skills = skills_of(
        {
            f"{SKILL_FOLDER}/folder.md/a.txt": "x",
            f"{SKILL_FOLDER}/large.md": b"x" * (MAX_SKILL_BYTES + 1),
            f"{SKILL_FOLDER}/latin.md": b"---\ndescription: caf\xe9\n---\nx",
            f"{SKILL_FOLDER}/binary.md": b"---\n\0\0\0",
            f"{SKILL_FOLDER}/bare.md": "no front matter",
        },
        tmp_path,
    )
    assert [one.id for one in skills.skills] == ["good"]
    assert problems(skills) == {
        "link.md": "it is a symbolic link: put a regular file there",
        "secret.md": "it is a symbolic link: put a regular file there",
        "module.md": "it is a submodule: put a regular file there",
        "folder.md": "it is a folder: put a regular file there",
        "large.md": "the file has 32,769 bytes; 32,768 are allowed",
        "latin.md": "line 2: this is not UTF-8 text",
        "binary.md": "line 1: the file must begin with front matter between two lines `---`, with a description",
        "bare.md": "line 1: the file must begin with front matter between two lines `---`, with a description",
    }


def test_the_folder_itself_may_be_no_link(tmp_path: Path):
    write(tmp_path, {"elsewhere/a.md": TEXT.format("outside"), ".github/triage/x": ""})
    (tmp_path / SKILL_FOLDER).symlink_to("../../elsewhere")
    commit(tmp_path)
    expected = [BrokenSkill(path=SKILL_FOLDER, problem="it is a symbolic link: put a folder there")]
    assert read_skills_at(tmp_path) == Skills(broken=expected)


def test_the_number_is_bounded(tmp_path: Path):
    files = {f"{SKILL_FOLDER}/s{number:03}.md": TEXT.format(number) for number in range(MAX_SKILLS + 5)}
    skills = skills_of({**files}, tmp_path)
    assert [one.id for one in skills.skills] == [f"s{number:03}" for number in range(MAX_SKILLS)]
    assert problems(skills) == {f"s{MAX_SKILLS:03}.md": "it is not read, nor is any after it: at most 30 skills are"}


def test_a_skill_is_not_searched_as_code_and_what_it_references_is(tmp_path: Path):
    codebase = make_codebase(
        tmp_path,
        CODE | {f"{SKILL_FOLDER}/refunds.md": TEXT.format("refund"), f"{SKILL_FOLDER}/files/terms.md": "refund: money"},
    )
    codebase.index()
    assert f"{SKILL_FOLDER}/refunds.md" not in codebase.list_paths()
    assert codebase.read_lines(f"{SKILL_FOLDER}/files/terms.md") == ["refund: money"]
