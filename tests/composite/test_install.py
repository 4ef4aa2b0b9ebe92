"""The installation of the composite action: pip, and a package index in a folder."""

import base64
import hashlib
import os
import runpy
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "composite" / "install.py"
INSTALL = runpy.run_path(str(SCRIPT), run_name="probe")
WHEEL = "sample_triage_package-1.0-py3-none-any.whl"


def write_wheel(folder: Path, source: str) -> str:
    """Writes a package of one module, and returns its hash."""
    folder.mkdir(parents=True, exist_ok=True)
    info = "sample_triage_package-1.0.dist-info"
    files = {
        "sample_triage_package.py": source,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: sample-triage-package\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(text.encode())}\n"
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        for name, text in (files | {f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}).items():
            wheel.writestr(zipfile.ZipInfo(name), text)
    return hashlib.sha256((folder / WHEEL).read_bytes()).hexdigest()


@dataclass
class Machine:
    """A runner: the action's folder, and the variables of a step."""

    folder: Path
    index: str

    @property
    def home(self) -> Path:
        return self.folder / "temp" / "bug-triage"

    def run(self, command: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": self.index,
            "RUNNER_TEMP": str(self.folder / "temp"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            **variables,
        }
        script = str(self.folder / "action" / "composite" / "install.py")
        return subprocess.run(
            [sys.executable, "-I", script, command], env=environment, capture_output=True, text=True, check=False
        )

    def plan(self) -> dict[str, str]:
        """Returns the outputs."""
        (self.folder / "output").unlink(missing_ok=True)
        done = self.run("plan")
        assert done.returncode == 0, done.stdout
        return dict(line.split("=", 1) for line in (self.folder / "output").read_text().splitlines())

    def imported(self) -> str:
        """What the installed package says."""
        code = "import sample_triage_package as package; print(package.WORD)"
        python = self.plan()["python"]
        return subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "action" / "composite").mkdir(parents=True)
    (tmp_path / "temp").mkdir()
    shutil.copy(SCRIPT, tmp_path / "action" / "composite")
    digest = write_wheel(tmp_path / "index" / "sample-triage-package", "WORD = 'locked'\n")
    (tmp_path / "index" / "sample-triage-package" / "index.html").write_text(f'<a href="{WHEEL}">{WHEEL}</a>')
    lock = f"sample-triage-package==1.0 \\\n    --hash=sha256:{digest}\n"
    (tmp_path / "action" / "requirements.txt").write_text(lock)
    return Machine(tmp_path, (tmp_path / "index").as_uri())


def test_packages_come_from_the_index(machine: Machine) -> None:
    assert machine.plan()["ready"] == "false"
    done = machine.run("install", PIP_TARGET=str(machine.folder / "elsewhere"), PIP_USER="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert machine.imported() == "locked"
    assert machine.plan()["ready"] == "true"


def test_without_an_index_nothing_is_installed(machine: Machine) -> None:
    machine.index = "file:///no/such/index"
    done = machine.run("install")
    assert done.returncode == 1
    assert "::error::The packages could not be installed" in done.stdout
    assert machine.plan()["ready"] == "false"


def test_a_changed_package_of_the_index_is_not_installed(machine: Machine) -> None:
    write_wheel(machine.folder / "index" / "sample-triage-package", "WORD = 'changed'\n")
    assert machine.run("install").returncode == 1
    assert machine.plan()["ready"] == "false"


@pytest.mark.parametrize(
    ("system", "machine", "problem"),
    [
        ("Linux", "x86_64", ""),
        ("Linux", "aarch64", ""),
        ("Darwin", "arm64", ""),
        ("Darwin", "x86_64", "Intel"),
        ("Windows", "AMD64", "Windows"),
    ],
)
def test_machines_that_cannot_run_it(system: str, machine: str, problem: str) -> None:
    found = INSTALL["find_problem"](system, machine)
    assert problem in found
    assert bool(found) == bool(problem)


def test_other_requirements_have_another_mark() -> None:
    make_mark = INSTALL["make_mark"]
    assert make_mark(b"a==1") == make_mark(b"a==1") != make_mark(b"a==2")
