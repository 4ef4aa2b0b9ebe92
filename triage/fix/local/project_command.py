"""Runs a command of the project: in `/bin/sh`, with a timeout, without input, and ends everything that it started."""

import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from triage.base.errors import BadInput
from triage.base.processes import run_process
from triage.fix.fix_ports import CheckResult
from triage.safety.clean_text import clean_text

MAX_OUTPUT_CHARS = 8_000
_MAX_OUTPUT_BYTES = 4 * MAX_OUTPUT_CHARS + 32_768
"""Colours take some of it."""
EXAMPLE_SECONDS = 180.0
"""For two runs, each of which its recorder ends earlier."""
MAX_EXAMPLE_BYTES = 1_000_000
MAX_NAMES = 2_000
MAX_NAME_CHARS = 300
MAX_REPORT_BYTES = 5_000_000
"""About 34,000 tests of pytest that pass. What is larger is other XML, such as coverage."""
_INSTALLED = ("node_modules", ".venv", ".git")
_CANNOT_RUN = {126: "is not executable", 127: "was not found"}
"""Exit codes of shells. They say something about the command and nothing about the patch."""
_PYTHON_FILES = ("pyproject.toml", "setup.py", "setup.cfg")


def run_command(command: str, folder: Path, environment: Mapping[str, str], seconds: float) -> CheckResult:
    """Run a command line. Return how it ended, the end of what it printed, and what its JUnit reports say.

    Args:
        command: For `/bin/sh`.
        folder: Where it runs. In a Python project it comes first on PYTHONPATH, before packages that are installed
            in editable mode.
        environment: Of the command.
        seconds: After which the command and all processes that it started are ended.

    Raises:
        BadInput: The shell says that there is no such command.
    """
    before = find_reports(folder)
    command_line = ["/bin/sh", "-c", command]
    result = run_process(command_line, folder, _prepare_environment(environment, folder), seconds, _MAX_OUTPUT_BYTES)
    output = clean_text(result.output.decode("utf-8", "replace")).strip()
    if result.is_late:
        text = _cut_start(f"{output}\n[stopped after {seconds:g} seconds]")
        return CheckResult(is_ok=False, output=text)  # what was not run may fail as well
    if result.code in _CANNOT_RUN:
        raise BadInput(f"The check's command {_CANNOT_RUN[result.code]}. Try it yourself in the checkout.")
    failed = list_failed_tests(path for path, _ in find_reports(folder) - before)
    return CheckResult(is_ok=result.code == 0, output=_cut_start(output), failed=failed)


def run_example(files: Mapping[str, str], folder: Path, environment: Mapping[str, str]) -> bytes:
    """Run the `example.sh` of some files in a folder of the project. Return what it prints to its standard output."""
    with TemporaryDirectory(prefix="triage-example-") as own:
        for name, text in files.items():
            Path(own, name).write_text(text, encoding="utf-8")
        command = ["/bin/sh", str(Path(own, "example.sh"))]
        environment = _prepare_environment(environment, folder)
        done = run_process(command, folder, environment, EXAMPLE_SECONDS, MAX_EXAMPLE_BYTES, has_errors_apart=True)
        return done.output


def _prepare_environment(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    if not any((folder / name).is_file() for name in _PYTHON_FILES):
        return dict(environment)
    paths = [str(folder / "src"), str(folder), environment.get("PYTHONPATH", "")]
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def _cut_start(text: str) -> str:
    return text if len(text) <= MAX_OUTPUT_CHARS else "…" + text[1 - MAX_OUTPUT_CHARS :]


def find_reports(folder: Path) -> set[tuple[Path, int]]:
    """Return all files that may be reports, and when each was written. Each test runner has another place for them."""
    found: set[tuple[Path, int]] = set()
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _INSTALLED]
        for path in (Path(parent, name) for name in names if name.endswith(".xml")):
            with suppress(OSError):
                entry = path.lstat()
                if stat.S_ISREG(entry.st_mode) and entry.st_size <= MAX_REPORT_BYTES:
                    found.add((path, entry.st_mtime_ns))
    return found


def list_failed_tests(reports: Iterable[Path]) -> list[str]:
    """Return the names of the tests that failed, sorted; none of what is no report."""
    names: set[str] = set()
    for report in reports:
        # A report is as hostile as the command that wrote it, as the user. Expat bounds what entities become, and
        # its wrapper raises the last two for an encoding that it does not read.
        with suppress(OSError, ElementTree.ParseError, ValueError, LookupError):
            for _, element in ElementTree.iterparse(report):  # noqa: S314
                if element.tag == "testcase" and any(child.tag in ("failure", "error") for child in element):
                    names.add(f"{element.get('classname', '')} {element.get('name', '')}".strip()[:MAX_NAME_CHARS])
                element.clear()
    return sorted(names)[:MAX_NAMES]
