"""Which packages a project declares."""

from pathlib import Path

from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.each_row import each_row
from tests.find.indexes import make_codebase
from triage.find.files.project_files import is_manifest, parse_manifest

POETRY = '[tool.poetry.dependencies]\npython = "^3.11"\nPyYAML = "^6"\n'
PYPROJECT = '[project]\ndependencies = ["numpy>=1.26", "requests[socks] ; python_version > \'3\'"]\n[project.optional-dependencies]\ndev = ["pytest"]\n'
CARGO = '[dependencies]\nconsole = "0.15"\n[dev-dependencies]\ninsta = { version = "1" }\n[workspace.dependencies]\nserde = "1"\n'


@each_row(
    ("path", "text", "names"),
    [
        ("pyproject.toml", PYPROJECT, ["numpy", "requests", "pytest"]),
        ("pyproject.toml", POETRY, ["PyYAML"]),
        ("pyproject.toml", "[project]\ndependencies = 3\n", []),
        ("pyproject.toml", "[project\n", []),
        ("requirements-dev.txt", "# pins\n-r other.txt\nnumpy==1.26 # fast\nattrs\n\nhttps://a.example/x.whl\n", ["numpy", "attrs"]),
        ("setup.cfg", "[options]\ninstall_requires =\n    numpy>=1\n    attrs\n\n[x]\n", ["numpy", "attrs"]),
        ("web/package.json", '{"dependencies": {"react": "18"}, "devDependencies": {"@types/node": "1"}}', ["react", "@types/node"]),
        ("package.json", '{"dependencies": ["react"]}', ["react"]),
        ("package.json", '{"dependencies": 3}', []),
        ("package.json", "[]", []),
        ("package.json", "[" * 100_000, []),
        ("Cargo.toml", CARGO, ["console", "insta", "serde"]),
        ("go.mod", "module a.example/x\n\nrequire (\n\tgithub.com/spf13/cobra v1.8.0\n)\n", ["github.com/spf13/cobra"]),
        ("Gemfile", "source 'https://a.example'\ngem 'rails', '~> 7'\n", ["rails"]),
        ("composer.json", '{"require": {"php": ">=8", "monolog/monolog": "3"}}', ["monolog/monolog"]),
        ("src/main.py", "numpy", []),
    ],
)  # fmt: skip
def test_declared_packages(path: str, text: str, names: list[str]) -> None:
    assert parse_manifest(path, text) == names


@each_row(
    ("path", "expected"),
    [
        ("go.mod", True),
        ("packages/cart/package.json", True),
        ("a/b/c/package.json", False),
        ("package-lock.json", False),
    ],
)
def test_manifests(path: str, expected: bool) -> None:
    assert is_manifest(path) is expected


def test_those_of_the_root_come_first(tmp_path: Path) -> None:
    files = {"a/package.json": '{"dependencies": {"vue": "3"}}', "requirements.txt": "numpy\n", "a.py": "x = 1\n"}
    codebase = make_codebase(tmp_path, files)
    assert codebase.project.dependencies == []
    codebase.index()
    assert codebase.project.dependencies == ["numpy", "vue"]


@each_row("path", ["requirements.txt", "setup.cfg", "go.mod", "Gemfile"])
def test_hostile_text_takes_linear_time(path: str) -> None:
    for piece in ("install_requires =\n a\n", "gem 'a'\n", "a.b/c v1\n", "a ", "  "):
        assert_grows_linearly(repeat_to(piece), lambda text: parse_manifest(path, text))
