"""The parts of a repository that people see: packages, folders of sources, the files at the top."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.domain.project_config import ModuleConfig
from triage.domain.proposal import EditablePath
from triage.fix.patch.modules import MAX_MODULES, Module, find_modules, is_below, list_modules


def list_files(*paths: str) -> list[EditablePath]:
    """Numbers such as `src/a.py*12` are so many files."""
    files = []
    for written in paths:
        path, _, count = written.partition("*")
        stem, dot, extension = path.rpartition(".")
        for number in range(int(count or 1)):
            name = f"{stem}{number or ''}{dot}{extension}"
            is_test = "test" in name
            language = {"py": "Python", "ts": "TypeScript", "go": "Go", "java": "Java"}.get(extension, "")
            is_product = bool(language) and not is_test and not name.startswith("docs/")
            files.append(EditablePath(name, language, is_test, is_product))
    return sorted(files)


def summarize(*paths: str) -> dict[str, int]:
    return {module.name: module.source_files for module in list_modules(list_files(*paths), {})}


def test_a_small_python_package():
    assert summarize(
        "setup.py", "README.md", "src/shop/a.py*9", "src/shop/sub/b.py*2", "tests/test_a.py", "docs/x.md"
    ) == {
        "./": 1,
        "docs/": 0,
        "src/": 11,
    }


def test_a_large_package_is_divided_into_its_folders():
    assert summarize(
        "setup.py", "shop/a.py*6", "shop/db/b.py*20", "shop/web/c.py*20", "shop/odd/d.py", "tests/test_a.py"
    ) == {
        "./": 1,
        "shop/": 7,
        "shop/db/": 20,
        "shop/web/": 20,
    }


def test_packages_of_a_monorepo_are_modules():
    found = summarize(
        "package.json", "packages/core/src/a.ts*30", "packages/core/package.json", "packages/core/__tests__/a.test.ts",
        "packages/ui/src/b.ts*20", "packages/ui/package.json", "packages/cli/src/c.ts*20", "e2e-tests/d.test.ts",
    )  # fmt: skip
    assert found == {
        "./": 0,
        "packages/cli/": 20,
        "packages/core/": 0,
        "packages/core/src/": 30,
        "packages/ui/": 20,
    }


def test_go_packages_at_the_top_are_beside_their_tests():
    files = list_files(
        "gin.go*18", "gin_test.go*18", "binding/a.go*17", "binding/a_test.go*3", "render/b.go*14", "go.mod"
    )
    modules = list_modules(files, {})
    assert [(module.name, module.source_files) for module in modules] == [("./", 18), ("binding/", 17), ("render/", 14)]
    assert all(find_modules(file.path, modules) for file in files)


def test_many_folders_are_few_modules():
    files = list_files(*(f"packages/p{number}/a.ts*{number + 1}" for number in range(100)))
    modules = list_modules(files, {})
    assert len(modules) == MAX_MODULES
    assert sum(module.source_files for module in modules) == len(files)
    assert max(module.source_files for module in modules if module.name != "packages/") == 100


def test_many_folders_of_one_file_stay_together():
    found = summarize(
        "src/a.ts*2", *(f"src/plugin/{letter}/index.ts" for letter in "abcdefghijklmnop"), "src/plugin/z/a.ts*2"
    )
    assert found == {"src/": 2, "src/plugin/": 16, "src/plugin/z/": 2}


def test_an_empty_repository_has_no_modules():
    assert list_modules([], {}) == []


def test_modules_of_the_settings_win():
    configured = {
        "api": ModuleConfig(paths=["src/api/", "src/schema.py"], description="The HTTP API"),
        "top": ModuleConfig(paths=["./"]),
    }
    files = list_files("src/api/a.py*2", "src/schema.py", "src/other.py", "setup.py", "tests/test_a.py")
    assert list_modules(files, configured) == [
        Module(
            name="api",
            paths=["src/api/", "src/schema.py"],
            description="The HTTP API",
            source_files=3,
        ),
        Module(name="top", paths=["./"], source_files=1),
    ]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("shop/db/x.py", "shop/db/"),
        ("shop/x.py", "shop/"),
        ("x.py", "./"),
        ("other/x.py", None),
        ("shop/new/x.py", "shop/"),
    ],
)
def test_the_most_specific_module_has_a_file(path: str, name: str | None):
    modules = list_modules(list_files("setup.py", "shop/a.py*6", "shop/db/b.py*20"), {})
    assert [module.name for module in find_modules(path, modules)] == ([name] if name else [])


folders = st.lists(st.sampled_from(["a", "b", "src", "test"]), max_size=4).map(
    lambda parts: "".join(f"{part}/" for part in parts)
)
repositories = st.lists(st.tuples(folders, st.integers(1, 30)), max_size=8)


@given(repository=repositories)
def test_every_source_is_in_exactly_one_module(repository: list[tuple[str, int]]):
    files = list_files(*{f"{folder}{number}x.py*{count}" for number, (folder, count) in enumerate(repository)})
    modules = list_modules(files, {})
    assert len({module.name for module in modules}) == len(modules) <= MAX_MODULES
    for file in files:
        around = find_modules(file.path, modules)
        assert len(around) == 1 if file.is_product_code else len(around) <= 1


@pytest.mark.parametrize(
    ("path", "place", "is_inside"),
    [
        ("a.py", "./", True),
        ("a/b.py", "./", False),
        ("a/b.py", "a/", True),
        ("a/b.py", "a", True),
        ("ab/c.py", "a", False),
        ("a/b.py", "a/b.py", True),
        ("a/b.py", "", False),
    ],
)
def test_modules_are_folders_files_or_the_top(path: str, place: str, is_inside: bool):
    assert is_below(path, place) == is_inside
