"""A reader learns first what is unusual about a patch."""

import pytest

from testing.fake_files import FakeFiles
from tests.patches.drafts import make_draft
from triage.domain.patch import AffectedModule, BaseFile, FileVersion
from triage.patches.patch_warnings import list_warnings

FILES = FakeFiles({"shop/a.py": BaseFile(text="x = 1\n" * 150)})


def test_an_ordinary_patch_has_no_warning():
    assert list_warnings(make_draft([FileVersion(path="shop/a.py", text="y = 1\n" * 150)]), FILES) == []


def test_a_large_patch_is_said():
    files = [
        FileVersion(path="shop/a.py", text="y = 1\n" * 151),
        FileVersion(path="shop/b.py", text="", is_new_file=True),
    ]
    assert list_warnings(make_draft(files), FILES) == ["Large diff: about 301 lines in 2 files."]


def test_more_than_two_modules_are_said():
    modules = [AffectedModule(name=name, reason="") for name in ("a/", "b/", "c/")]
    draft = make_draft([FileVersion(path="shop/b.py", text="", is_new_file=True)], modules=modules)
    assert list_warnings(draft, FILES) == ["Multi-module change: a/, b/, c/."]


@pytest.mark.parametrize(
    "path",
    [
        "setup.py",
        "tests/conftest.py",
        "package.json",
        "web/vite.config.ts",
        "Makefile",
        "cmake/x.cmake",
        "build.gradle.kts",
        "a/build.rs",
        "Gemfile",
        "x.gemspec",
        "requirements-dev.txt",
        "Dockerfile",
        "jest.setup.js",
        "a.csproj",
    ],
)
def test_files_that_tools_run_are_said(path: str):
    draft = make_draft([FileVersion(path=path, text="", is_new_file=True)])
    assert list_warnings(draft, FILES) == [f"Runs when the project is installed, built or tested: {path}."]


@pytest.mark.parametrize("path", ["shop/setups.py", "shop/makefile_parser.py", "shop/jester.js", "shop/buildings.py"])
def test_other_files_are_not(path: str):
    assert list_warnings(make_draft([FileVersion(path=path, text="", is_new_file=True)]), FILES) == []


def test_long_new_lines_are_said():
    long = FileVersion(path="shop/a.py", text=f"x = '{'y' * 200}'\n")
    assert list_warnings(make_draft([long]), FILES) == ["Lines of more than 200 characters: shop/a.py."]
    known = FakeFiles({"shop/a.py": BaseFile(text=long.text)})
    more = long.model_copy(update={"text": long.text + "z = 1\n"})
    assert list_warnings(make_draft([more]), known) == []
