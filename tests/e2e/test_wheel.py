"""The wheel of this tree in a fresh environment, and by `uvx`. Needs a package index: `make package` runs it."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from triage import __version__

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
pytestmark = pytest.mark.package


def run(*command: str | Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=BIN, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # Setuptools leaves its work in the source tree.
    source = shutil.copytree(
        ROOT, folder / "source", ignore=shutil.ignore_patterns(".*", "tests", "trust", "bench", "__pycache__")
    )
    run(BIN / "uv", "build", "--quiet", "--wheel", "--out-dir", folder, source)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_runs_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(BIN / "uv", "pip", "install", "--quiet", "--no-deps", "--python", python, wheel)
    # The dependencies are those of this environment: what is tried is what the wheel itself brings.
    packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    Path(packages, "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    command = tmp_path / "venv" / "bin" / "bug-triage"
    assert run(command, "--version") == f"bug-triage {__version__}\n"
    assert "backtest" in run(command, "--help")
    shown = run(command, "run", "--repo", ROOT / "bench/data/shop", "--issue", ROOT / "bench/data/shop/issue.md")
    assert "shop/prices.py" in shown


def test_uvx_runs_the_wheel(wheel: Path) -> None:
    shown = run(BIN / "uv", "tool", "run", "--quiet", "--isolated", "--from", wheel, "bug-triage", "--version")
    assert shown == f"bug-triage {__version__}\n"
