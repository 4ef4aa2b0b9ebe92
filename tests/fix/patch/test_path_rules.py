"""A patch writes files of the named modules and their tests, and no path that is something else."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from testing.each_row import each_row
from testing.fake_files import FakeFiles
from triage.domain.proposal import TextFile
from triage.fix.patch.check_patch import check_path
from triage.fix.patch.modules import Module

FILES = FakeFiles(
    {
        "shop/basket.py": TextFile(text="x\n"),
        'shop/quo"te.py': TextFile(text="x\n"),
        "shop/tab\there.py": TextFile(text="x\n"),
        "shop/été.py": TextFile(text="x\n"),
        "shop/link.py": "a symbolic link",
        "shop/gen.py": TextFile(text="# @generated\n"),
        "shop/data/rates.csv": TextFile(text="x\n"),
        "shop/.env": TextFile(text="x\n"),
        "shop/poetry.lock": TextFile(text="x\n"),
        "other/a.py": TextFile(text="x\n"),
        "tests/test_basket.py": TextFile(text="x\n"),
        "tests/other/test_a.py": TextFile(text="x\n"),
        "README.md": TextFile(text="x\n"),
        "vendored": "a submodule",
        "checks/data.py": TextFile(text="x\n"),
        "changelog.d/1.fix.md": TextFile(text="x\n"),
        "CHANGES": TextFile(text="x\n"),
    },
)


def find(
    path: str, *, is_new: bool = False, modules: tuple[str, ...] = ("shop/",), protected: tuple[str, ...] = ()
) -> str:
    return check_path(
        path,
        FILES,
        is_new=is_new,
        modules=[Module(name="x", paths=list(modules)), Module(name="y", paths=["other/"])],
        chosen=["x"],
        protected=protected,
    )


@pytest.mark.parametrize(
    ("path", "is_new"),
    [
        ("shop/basket.py", False),
        ("shop/été.py", False),
        ("shop/new.py", True),
        ("shop/page.html", True),
        ("tests/test_basket.py", False),
        ("tests/test_new.py", True),
        ("tests/__snapshots__/page.snap", True),
        ("CHANGES", False),
        ("changelog.d/2.fix.txt", True),
        ("shop/README.txt", True),
        ("shop/docs/ref/requests.txt", True),
        ("shop/agent.py", True),
        ("shop/jenkinsfile_parser.py", True),
        ("shop/(group)/my page.tsx", True),
        ("shop/[slug].$id/[[...all]].ts", True),
    ],
)
def test_files_of_the_module_and_its_tests_may_change(path: str, is_new: bool):
    assert find(path, is_new=is_new) == ""


def test_tests_may_stand_in_a_module_around_the_chosen_one():
    modules = [Module(name=name, paths=[name]) for name in ("src/", "src/main/a/", "src/main/b/")]

    def check(path: str) -> str:
        return check_path(path, FILES, is_new=True, modules=modules, chosen=["src/main/a/"], protected=[])

    assert check("src/test/a/test_a.py") == ""
    assert "outside the modules" in check("src/main/b/tests/test_b.py")
    assert "outside the modules" in check("src/site/page.py")


STEERING = [
    "CODEOWNERS",
    "Jenkinsfile",
    "azure-pipelines-ci.yml",
    "package.json",
    "pyproject.toml",
    "requirements.txt",
    "Makefile",
    "Dockerfile",
    "AGENTS.md",
    "x.instructions.md",
    "SKILL.md",
    "docs/codex.mdx",
    "docs/requirements.txt",
    "dangerfile.ts",
    "PRESUBMIT.py",
    "Jenkinsfile.groovy",
    "action.yml",
    "mcp.json",
    "x.mdc",
    "opencode.json",
]


@each_row(
    ("path", "is_new", "reason"),
    [
        ("other/a.py", False, "outside the modules"),
        ("other/tests/test_a.py", True, "outside the modules"),
        ('shop/quo"te.py', False, "is no plain name"),
        ("shop/tab\there.py", False, "is no plain name"),
        ("shopping/a.py", True, "outside the modules"),
        ("docs/a.md", True, "outside the modules"),
        ("changelog.d/1.fix.md", False, "outside the modules"),
        ("changelog.d/2.py", True, "outside the modules"),
        ("news/2.fix.md", True, "outside the modules"),
        ("checks/data.py", False, "outside the modules"),
        ("shop/gone.py", False, "does not exist"),
        ("shop/basket.py", True, "exists already"),
        ("shop/link.py", False, "it is a symbolic link"),
        ("shop/data", False, "it is a folder"),
        ("shop", True, "it is a folder"),
        ("shop/basket.py/a.py", True, "is below shop/basket.py, which is no folder"),
        ("shop/bаsket.py", True, "is no plain name"),
        ("shop/new/bаsket.py", True, "is no plain name"),
        ("shop/poetry.lock", False, "no source, test, documentation or changelog"),
        ("shop/gen.py", False, "not edited by hand (generated)"),
        ("shop/.env", False, "begins with a dot"),
        *((f"{folder}/{name}", True, "no source, test") for name in STEERING for folder in ("shop", "tests")),
        *((path, True, "no source, test") for path in ("changelog.d/CLAUDE.md", "shop/fragments/requirements.txt")),
        *((f"shop/{name}", True, "is no plain name") for name in ("new.py.", " new.py", "$(id).py", "a;b.py")),
        ("shop /new.py", True, "is no plain name"),
    ],
)
def test_other_paths_are_refused(path: str, is_new: bool, reason: str):
    assert reason in find(path, is_new=is_new)


characters = st.one_of(st.sampled_from("aA.b/\\ ~1\0é"), st.characters())
parts = st.one_of(
    st.text(characters, max_size=6), st.sampled_from([".git", "shop", "..", "CON", "git~1", "．github", "a.py "])
)


@given(pieces=st.lists(parts, min_size=1, max_size=4))
@example(["shop", "ﬁx.py"])
def test_no_odd_path_passes(pieces: list[str]):
    path = "/".join(pieces)
    path += ".py"
    if find(path, is_new=True, modules=("", "./", *(f"{piece}/" for piece in pieces))):
        return
    assert re.fullmatch(r"(?:(?![ .])[\w@.+$()[\] -]+(?<![ .])(?:/|$))+", path, re.ASCII)
    assert "$(" not in path


@pytest.mark.parametrize(
    ("pattern", "path", "is_protected"),
    [
        ("basket.py", "shop/basket.py", True),
        ("/shop/", "shop/new/a.py", True),
        ("CHANGES", "CHANGES", True),
        ("SHOP/", "shop/new/a.py", True),
        ("shop/*.sql", "shop/a.sql", True),
        ("shop/*.sql", "shop/a.py", False),
    ],
)
def test_protected_paths_are_gitignore_patterns(pattern: str, path: str, is_protected: bool):
    problem = find(path, is_new=path not in FILES.files, protected=(pattern,))
    assert ("protected paths" in problem) == is_protected


def test_the_last_pattern_decides():
    patterns = ("*.py", "!new.py")
    assert find("shop/new.py", is_new=True, protected=patterns) == ""
    assert "protected" in find("shop/basket.py", protected=patterns)
