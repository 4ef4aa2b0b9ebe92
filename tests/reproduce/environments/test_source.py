import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from testing.checkouts.git_objects import find_object_file
from testing.checkouts.git_repositories import commit, git, write
from testing.checkouts.hostile import CANARY, CHECKOUTS, SLOW, trap_was_run
from testing.each_row import each_row
from triage.base.errors import GitError
from triage.domain.project_config import ReproduceConfig
from triage.git.commit import open_commit
from triage.reproduce.environments.releases import Release
from triage.reproduce.environments.source import Source
from triage.reproduce.example.example import Project

PYTHON = {
    "shop/__init__.py": "from .cart import total\n",
    "shop/cart.py": "class Cart:\n    def add(self): pass\nasync def pay(): pass\ndef _hidden(): pass\n",
    "shop/tests/test_cart.py": "def test_it(): pass\n",
    "tests/__init__.py": "",
    "docs/conf.py": "",
}


def find(folder: Path, files: dict[str, str], **settings: str) -> Project | None:
    head = commit(folder, files)
    return Source(folder).find_project(head, ReproduceConfig(**settings))


@pytest.mark.parametrize(
    ("files", "package", "modules"),
    [
        ({**PYTHON, "pyproject.toml": "[project]\nname = 'my-shop'\n"}, "my-shop", ["shop"]),
        ({**PYTHON, "setup.cfg": "[metadata]\nname = my-shop\n"}, "my-shop", ["shop"]),
        ({**PYTHON, "setup.py": "setup(name='my-shop')\n"}, "my-shop", ["shop"]),
        ({**PYTHON, "setup.py": "setup(name=about['title'])\n"}, "shop", ["shop"]),
        ({"my_shop.py": "", "setup.py": "PACKAGE = 'my-shop'\nVERSION = '1'\nsetup(\n    name=PACKAGE)\n"}, "my-shop", ["my_shop"]),
        ({"src/shop/__init__.py": "", "src/_shop/__init__.py": "", "src/_shop/a.py": "", "setup.py": "name='shop'"}, "shop", ["shop", "_shop"]),
        ({"cart.py": "", "other.py": "", "setup.py": "setup(name=cart.NAME, py_modules=['cart'])"}, "cart", ["cart"]),
        ({"shop.py": "", "tests.py": "", "setup.py": "import shop\nsetup(name=shop.__name__)"}, "shop", ["shop"]),
        ({"shop.py": "", "pyproject.toml": "[project]\nname='shop'\n"}, "shop", ["shop"]),
        ({"lib/py/shop.py": "", "lib/py/pyproject.toml": "[project]\nname='shop'\n", "docs/setup.py": ""}, "shop", ["shop"]),
    ],
)  # fmt: skip
def test_a_project_of_python(tmp_path, files, package, modules):
    found = find(tmp_path, files)
    assert found is not None
    assert (found.language, found.package, found.modules) == ("python", package, modules)


@pytest.mark.parametrize(
    ("files", "package"),
    [({"package.json": '{"name": "@acme/shop"}'}, "@acme/shop"), ({"package.json": '{"name": "a b"}'}, None), ({"package.json": "["}, None), ({"js/package.json": '{"name": "shop"}'}, "shop"), ({"a/package.json": '{"name": "a"}', "b/package.json": '{"name": "b"}'}, None), ({"npm/package.json": '{"name": "shop"}', "npm/esm/package.json": "{}"}, "shop"), ({"main.c": ""}, None)],
)  # fmt: skip
def test_a_project_of_node_or_none(tmp_path, files, package):
    found = find(tmp_path, files)
    assert (found and (found.language, found.modules)) == (package and ("node", [package]))


@each_row(
    ("files", "names"),
    [
        (
            {**PYTHON, "setup.py": "name='shop'", "README.md": "```\n>>> from shop.cart import Cart as C, pay\n```\nor `import shop as s`\nimport os\n"},
            {"C": "from shop.cart import Cart as C", "pay": "from shop.cart import pay", "s": "import shop as s"},
        ),
        ({"package.json": '{"name": "a-shop"}', "readme.markdown": "var pay = require('a-shop');\nlet x = require('x')\nimport * as all from 'a-shop'"}, {"pay": "", "all": ""}),
        ({"package.json": '{"name": "a-shop"}', "README.md": "var a = require('a-shop'),\n    b = a();\nconst c = require('a-shop')();"}, {"a": "", "b": "()", "c": "()"}),
        ({**PYTHON, "setup.py": "name='shop'"}, {}),
    ],
)  # fmt: skip
def test_the_readme_says_how_names_are_imported(tmp_path_factory, files, names):
    found = find(tmp_path_factory.mktemp("shop"), files)
    assert found is not None
    assert found.readme == names


def test_settings_name_the_package_and_the_prelude(tmp_path):
    found = find(tmp_path, {**PYTHON, "setup.py": "name='shop'"}, package="other", prelude="x = 1")
    assert found is not None
    exports = {"Cart": "shop.cart", "pay": "shop.cart", "total": "shop", "shop.cart": "shop.cart"}
    assert (found.package, found.prelude, found.exports) == ("other", "x = 1", exports)


def test_a_package_that_the_projects_files_name_is_installed_for_an_example_that_imports_it(tmp_path):
    files = {
        "setup.py": "description = 'evil'",
        "setup.cfg": "[metadata]\ndescription = evil\n\n[options.extras_require]\nio =\n    netCDF4>=1\n    os\n",
        "ci/requirements/all.txt": "pooch\n",
        "pyproject.toml": "[project]\nname = 'shop'\ndescription = 'fly'\n[tool.x]\nmarkers = ['fly: flies']\n",
        "README": "evil",
    }
    head = commit(tmp_path, files)
    assert Source(tmp_path).find_companions(head, {"netCDF4", "pooch", "evil", "os", "fly", "markers"}) == [
        "netCDF4",
        "pooch",
    ]


def test_an_exported_commit_has_its_files_in_a_repository_of_its_own(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    head = commit(root, {".gitignore": "data.txt\n", "data.txt": "1", "a/b.py": "x"})
    commit(root, {"data.txt": "2"})
    Source(root).export(head, tmp_path / "copy")
    assert (tmp_path / "copy/data.txt").read_text() == "1"
    assert git(tmp_path / "copy", "ls-files").split() == [".gitignore", "a/b.py", "data.txt"]


def test_a_commit_of_which_a_file_is_missing_is_not_exported_in_part(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    head = commit(root, {"a.py": "x" * 8_704, "z.py": "y"})  # with its headers the first block of git's archive
    find_object_file(root, git(root, "rev-parse", "HEAD:z.py")).unlink()
    with pytest.raises(GitError):
        Source(root).export(head, tmp_path / "copy")


LEFT_OUT = {*SLOW, "includes a pipe"}
"""Git waits for somebody to write."""


@pytest.mark.parametrize("name", [name for name in CHECKOUTS if name not in LEFT_OUT])
def test_an_odd_checkout_starts_no_program_and_is_opened_as_a_triage_opens_it(tmp_path, name):
    root, copy = tmp_path / "checkout", tmp_path / "copy"
    CHECKOUTS[name](root)
    try:
        expected = open_commit(root).commit
    except GitError:
        expected = None
    try:
        source = Source(root)
        head = source.resolve("HEAD")
        assert expected in (head, None)
        for ask in (
            source.read_time,
            source.read_subject,
            source.list_pythons,
            source.describe_version,
        ):
            with suppress(GitError):
                ask(head or "")
        source.list_version_tags()
        source.name_head()
        source.find_build_script(head or "")
        source.export(head or "", copy)
    except GitError:
        pass
    assert not trap_was_run(root)
    copy.mkdir(exist_ok=True)
    assert not subprocess.run(["grep", "-rl", CANARY, copy], capture_output=True, check=False).stdout
    found = subprocess.run(["find", copy, "-name", ".git"], capture_output=True, check=True).stdout.decode().split("\n")
    assert found[:-1] in ([], [str(copy / ".git")])


@each_row(
    ("text", "first"),
    [("requires-python = '>=3.9'", "3.9"), ("python_requires='>=3.10,<4'", "3.10"), ("", "3.6"), ("python_requires=PYTHON", "3.6")],
)  # fmt: skip
def test_the_pythons_of_a_commit(tmp_path_factory, text, first):
    root = tmp_path_factory.mktemp("root")
    head = commit(root, {"setup.py": text})
    assert Source(root).list_pythons(head)[0] == first


def test_versions_of_tags(tmp_path):
    first = commit(tmp_path, {"a": "1"})
    for tag in ("v1.0", "v1.1rc1", "nightly"):
        git(tmp_path, "tag", tag)
    git(tmp_path, "tag", "-a", "v1.1", "-m", "x")
    second = commit(tmp_path, {"a": "2"})
    source = Source(tmp_path)
    made = {
        name: Release(version=name, time=source.read_time(first), commit=first) for name in ("1.0", "1.1", "1.1rc1")
    }
    assert source.list_version_tags() == made
    assert source.describe_version(second) in ("1.0", "1.1")
    assert source.list_steps(first, second) == [second]
    assert (source.resolve("v1.1"), source.resolve("--all"), source.resolve("nothing")) == (first, None, None)


def test_no_link_of_a_commit_leads_outside_of_the_folder(tmp_path: Path) -> None:
    repository, copy = tmp_path / "repository", tmp_path / "copy"
    write(repository, {"docs/a.txt": "a"})
    for name, target in {
        "docs/up": "../docs/a.txt",
        "docs/out": "../../victim",
        "docs/chain": "up/../../..",
        "absolute": "/etc",
        "inside": "docs",
    }.items():
        (repository / name).symlink_to(target)
    head = commit(repository)
    Source(repository).export(head, copy)
    links = {str(one.relative_to(copy)) for one in copy.rglob("*") if one.is_symlink()}
    assert links == {"docs/up", "inside"}


def test_a_commit_that_writes_below_its_own_link_is_refused(tmp_path: Path) -> None:
    """A tree may name a link and a folder alike: what the folder holds would be written to where the link leads."""
    repository, copy = tmp_path / "repository", tmp_path / "copy"
    commit(repository, {"a.txt": "a"})

    def store(kind: str, content: bytes) -> bytes:
        words = ["git", "-C", str(repository), "hash-object", "-t", kind, "-w", "--literally", "--stdin"]
        return bytes.fromhex(subprocess.run(words, input=content, capture_output=True, check=True).stdout.decode())

    file = store("blob", b"owned")
    link, folder = store("blob", b"b"), store("tree", b"100644 pwned\0" + file)
    top = store("tree", b"120000 x\0" + link + b"40000 x\0" + folder)
    head = git(repository, "commit-tree", "-m", "x", top.hex())
    git(repository, "update-ref", "HEAD", head)
    with pytest.raises(GitError, match="below a link"):
        Source(repository).export(head, copy)


def test_the_files_of_a_project_below_the_repository_are_those_of_its_folder(tmp_path):
    old = commit(tmp_path, {"package.json": '{"name": "shop", "main": "b.js"}', "b.js": ""})
    git(tmp_path, "rm", "-q", "package.json")
    head = commit(tmp_path, {"js/package.json": '{"name": "shop", "main": "a.js"}', "js/a.js": "exports.f = 1"})
    source = Source(tmp_path)
    found = source.find_project(head, ReproduceConfig())
    assert found
    assert found.exports == {"f": "shop"}
    assert source.find_build_script(head) == []
    assert source.export(head, tmp_path / "copy") == "js/"
    assert (tmp_path / "copy/js/a.js").exists()
    assert source.export(old, tmp_path / "before it moved") == ""
    both = commit(tmp_path, {"package.json": "{}"})
    assert source.export(both, tmp_path / "both") == "js/"


def test_a_package_of_node_exports_what_its_files_and_its_readme_say(tmp_path):
    readme = "const total = require('shop').total\nimport { pay, tax as vat } from 'shop'\nimport { x } from 'other'\n"
    files = {"package.json": '{"name": "shop"}', "README.md": readme, "a.mjs": "export let cart = 1\nlet own = 2\n"}
    head = commit(tmp_path, files)
    found = Source(tmp_path).find_project(head, ReproduceConfig())
    assert found
    assert {*found.exports} & {"total", "pay", "vat", "x", "cart", "own"} == {"total", "pay", "cart"}


def test_of_a_clone_that_lacks_a_file_elsewhere_the_folder_of_the_project_is_written(tmp_path):
    head = commit(tmp_path, {"js/package.json": '{"name": "shop"}', "large.txt": "x"})
    blob = git(tmp_path, "rev-parse", "HEAD:large.txt").strip()
    (tmp_path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert Source(tmp_path).export(head, tmp_path / "copy") == "js/"
    assert (tmp_path / "copy/js/package.json").exists()


@pytest.mark.parametrize(
    ("files", "folder"),
    [
        (["shop/setup.py", "tooling/setup.py", "shop/a.py"], "shop/"),
        (["shop/setup.py", "tooling/setup.py"], ""),
        (["setup.py", "shop/setup.py"], ""),
        (["pyproject.toml", "shop/setup.py"], "shop/"),  # it says nothing but how to lint
    ],
)
def test_a_project_stands_in_the_folder_with_most_files(tmp_path, files, folder):
    head = commit(tmp_path, {"README": "", **dict.fromkeys(files, "# x")})
    assert Source(tmp_path).export(head, tmp_path / "copy") == folder


def test_a_version_without_a_tag_is_found_by_what_the_files_say(tmp_path):
    commit(tmp_path, {"setup.py": "setup(version='1.0', install_requires=['numpy==1.1'])"})
    wanted = commit(tmp_path, {"setup.py": "setup(version='1.1', install_requires=['numpy==1.1'])"})
    head = commit(tmp_path, {"setup.py": "setup(version='1.2')", "package.json": '{"version": "2.0.0-rc.1"}'})
    source = Source(tmp_path)
    found = {one: source.find_version_commit(one, head) for one in ("1.1", "2.0.0-rc.1", "1.3", "1+1")}
    assert found == {"1.1": wanted, "2.0.0-rc.1": head, "1.3": None, "1+1": None}


@each_row(
    ("path", "text", "is_said"),
    [
        ("shop/__init__.py", "__version__ = '1.1'", True),
        ("shop/version.py", '__version__: str = "1.1"', True),
        ("src/shop/_version.py", 'VERSION = "1.1"', True),
        ("setup.cfg", "[metadata]\nversion = 1.1\n", True),
        ("setup.py", "setup(\n    name='shop',\n    version='1.1',\n)", True),
        ("js/package.json", '{"name": "shop", "version": "1.1"}', True),
        ("pyproject.toml", '[tool.pytest]\nminversion = "1.1"', False),
        ("pyproject.toml", '[tool.mypy]\npython_version = "1.1"', False),
        ("pyproject.toml", 'numpy = {version = "1.1"}', False),
        ("shop/__init__.py", "FILE_VERSION = '1.1'", False),
        ("shop/_vendor/x/__init__.py", "__version__ = '1.1'", False),
    ],
)
def test_only_the_project_says_its_version(tmp_path_factory, path, text, is_said):
    root = tmp_path_factory.mktemp("root")
    commit(root, {"a.py": ""})
    head, source = commit(root, {path: text}), Source(root)
    assert source.find_version_commit("1.1", head, ["shop"]) == (head if is_said else None)


def test_of_the_number_of_what_is_developed_the_last_commit_is_the_release(tmp_path):
    released = commit(tmp_path, {"setup.cfg": "version = 1.0"})
    first = commit(tmp_path, {"setup.cfg": "version = 1.1"})
    last = commit(tmp_path, {"a.py": ""})
    source = Source(tmp_path)
    assert source.find_version_commit("1.1", last, tagged=[released]) is None, "it may not be released yet"
    head = commit(tmp_path, {"setup.cfg": "version = 1.2"})
    assert source.find_version_commit("1.1", head, tagged=[released]) == last
    assert source.find_version_commit("1.1", head) == first


@each_row(
    ("scripts", "script"),
    [
        ('{"build": "tsc"}', ["build"]),
        ('{"prepare": "yarn clean && pnpm x && yarn y"}', ["prepare", "yarn", "pnpm"]),
        ("{}", None),
        ("[]", None),
    ],
)
def test_the_script_that_builds_a_package_of_node_is_named_with_its_tools(tmp_path_factory, scripts, script):
    root = tmp_path_factory.mktemp("root")
    head = commit(root, {"package.json": f'{{"main": "dist/a.js", "scripts": {scripts}}}'})
    assert Source(root).find_build_script(head) == script
    built = commit(root, {"dist/a.js": ""})
    assert Source(root).find_build_script(built) == []


@pytest.mark.parametrize("names", [("v1.0", "zzz-1.0"), ("zzz-1.0", "v1.0")])
def test_of_two_tags_of_a_version_the_plainer_one_counts(tmp_path: Path, names: tuple[str, str]) -> None:
    heads = {}
    for number, name in enumerate(names):
        heads[name] = commit(tmp_path, {"a.py": str(number)})
        git(tmp_path, "tag", name)
    git(tmp_path, "tag", "odd\u2028name-1.1")
    assert Source(tmp_path).list_version_tags()["1.0"].commit == heads["v1.0"]
