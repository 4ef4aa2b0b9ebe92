"""A check that installs packages: with a real virtual environment, a real pip and an editable project, offline."""

import os
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, git, write
from tests.fix.local.conftest import Open
from triage.domain.proposal import BaseFile

INSTALL = "install --quiet --no-index --no-build-isolation --no-deps --disable-pip-version-check --editable ."
SHOW = "import ledger; print(ledger.name, ledger.__file__)"
PROJECT = """
[project]
name = "ledger"
version = "1.0"
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
BACKEND = """
import os, zipfile

def get_requires_for_build_editable(settings=None):
    return []

def build_editable(folder, settings=None, metadata=None):
    info = "ledger-1.0.dist-info"
    files = {
        "ledger.pth": os.getcwd(),
        f"{info}/METADATA": "Metadata-Version: 2.1\\nName: ledger\\nVersion: 1.0\\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        f"{info}/entry_points.txt": "[console_scripts]\\nledger = ledger:main\\n",
    }
    record = "".join(f"{name},,\\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(os.path.join(folder, "ledger-1.0-py3-none-any.whl"), "w") as wheel:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            wheel.writestr(name, text)
    return "ledger-1.0-py3-none-any.whl"
"""
MODULE = "import sys\n\nname = {!r}\n\n\ndef main():\n    print(name, sys.prefix)\n"


def make_environment(folder: Path, project: Path) -> dict[str, bytes]:
    """Makes a virtual environment in which the project is installed, and returns all its files."""
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "pip_of_the_tests.pth").write_text("\n".join(site.getsitepackages()))
    pip = folder / "bin" / "pip"
    pip.write_text(f"#!{folder}/bin/python\nimport sys\nfrom pip._internal.cli.main import main\nsys.exit(main())\n")
    pip.chmod(0o755)
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "PIP_CONFIG_FILE": os.devnull}
    subprocess.run([str(pip), *INSTALL.split()], cwd=project, env=environment, check=True, capture_output=True)
    return read_all(folder)


def read_all(folder: Path) -> dict[str, bytes]:
    found = {
        path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }
    return {str(path.relative_to(folder)): data for path, data in found.items()}


@pytest.fixture
def base(repository: Path) -> str:
    files = {"pyproject.toml": PROJECT, "backend.py": BACKEND, "ledger.py": MODULE.format("commit")}
    return commit(repository, files)


@pytest.mark.parametrize("place", ["linked/.venv", "outside"])
def test_pip_installs_into_a_copy(
    repository: Path, base: str, open_workspace: Open, tmp_path: Path, place: str
) -> None:
    (tmp_path / "linked").symlink_to(repository)
    folder = tmp_path / place
    before = make_environment(folder, repository)
    command = f"pip {INSTALL} && ledger && python -I -c '{SHOW}'"
    active = {
        "VIRTUAL_ENV": str(folder),
        "PATH": f"{folder}/bin{os.pathsep}{os.environ['PATH']}",
        "PIP_CONFIG_FILE": os.devnull,
    }
    result = open_workspace(**active).run_check(base, {"ledger.py": BaseFile(text=MODULE.format("patch"))}, command, 60)
    assert result.is_ok, result.output
    assert result.output.count("patch") == 2
    assert str(repository) not in result.output
    assert str(folder) not in result.output
    assert read_all(folder) == before


def test_the_environment_need_not_be_active(repository: Path, base: str, open_workspace: Open) -> None:
    before = make_environment(repository / ".venv", repository)
    command = f".venv/bin/ledger && .venv/bin/python -I -c '{SHOW}' && .venv/bin/pip {INSTALL}"
    result = open_workspace().run_check(base, {"ledger.py": BaseFile(text=MODULE.format("patch"))}, command, 60)
    assert result.is_ok, result.output
    assert result.output.count("patch") == 2
    assert str(repository) not in result.output
    assert read_all(repository / ".venv") == before


def test_pip_refuses_without_a_virtual_environment(repository: Path, base: str, open_workspace: Open) -> None:
    outside = os.path.realpath(sys.executable)
    path = os.pathsep.join(site.getsitepackages())
    command = f"PYTHONPATH='{path}' {outside} -m pip {INSTALL} --target elsewhere"
    result = open_workspace().run_check(base, {}, command, 60)
    assert not result.is_ok
    assert "virtualenv" in result.output
    assert (
        open_workspace(PIP_REQUIRE_VIRTUALENV="0").run_check(base, {}, "echo $PIP_REQUIRE_VIRTUALENV", 60).output == "0"
    )


@pytest.mark.parametrize(
    ("linked", "file"),
    [
        (".venv/bin", "pytest"),
        (".venv/lib", "python3.11/site-packages/project.pth"),
        (".venv/lib/python3.11", "site-packages/project.pth"),
        (".venv/lib/python3.11/site-packages", "__editable___project.py"),
        (".venv/lib/python3.11/site-packages/ledger-1.0.dist-info", "direct_url.json"),
        ("node_modules/.bin", "tool"),
        ("node_modules/bin", "index.js"),
        ("vendor/bin", "phpunit"),
    ],
)
def test_files_behind_links_out_of_the_checkout_stay(
    repository: Path, open_workspace: Open, tmp_path: Path, linked: str, file: str
) -> None:
    real = tmp_path / "real"
    write(real, {file: f"#!{repository}/.venv/bin/python\n"})
    (repository / linked).parent.mkdir(parents=True)
    (repository / linked).symlink_to(real)
    before = (real / file).stat().st_ino, read_all(real)
    base = git(repository, "rev-parse", "HEAD")
    result = open_workspace().run_check(base, {}, f"cat {linked}/{file}", 60)
    assert result.output == f"#!{repository}/.venv/bin/python", "links lead where they led"
    assert ((real / file).stat().st_ino, read_all(real)) == before


@pytest.mark.parametrize("place", ["env/tmp", "env"])
def test_a_folder_for_temporary_files_inside_the_environment(
    repository: Path, open_workspace: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    write(
        tmp_path, {"env/pyvenv.cfg": "home = /usr\n", "env/bin/tool": "#!/bin/sh\necho tool\n", "env/tmp/mine": "1\n"}
    )
    (tmp_path / "env/bin/tool").chmod(0o755)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / place))
    base = git(repository, "rev-parse", "HEAD")
    active = {"VIRTUAL_ENV": str(tmp_path / "env"), "PATH": f"{tmp_path}/env/bin{os.pathsep}{os.environ['PATH']}"}
    result = open_workspace(**active).run_check(base, {}, 'tool; cd "$VIRTUAL_ENV"; find . -type f', 60)
    assert sorted(result.output.split()) == ["./bin/tool", "./pyvenv.cfg", "./tmp/mine", "tool"]
    assert sorted(read_all(tmp_path / "env")) == ["bin/tool", "pyvenv.cfg", "tmp/mine"]
