"""The project's own check at a terminal: it runs in a clean work tree."""

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from triage.base.errors import BadInput
from triage.base.processes import run_process
from triage.fix.graph.fix_state import CheckVerdict
from triage.git.write import UserRepository
from triage.safety.clean_text import clean_text

CHECK_SECONDS = 600.0
"""For one run of the command."""
MAX_OUTPUT_CHARS = 8_000
_MAX_OUTPUT_BYTES = 4 * MAX_OUTPUT_CHARS + 32_768
"""Colours take some of it."""
MAX_NAMES = 2_000
MAX_NAME_CHARS = 300
MAX_SHOWN_NAMES = 20
MAX_REPORT_BYTES = 5_000_000
"""About 34,000 tests of pytest that pass. What is larger is other XML, such as coverage."""
_INSTALLED = ("node_modules", ".venv", ".git")
_CANNOT_RUN = {126: "is not executable", 127: "was not found"}
"""Exit codes of shells. They say something about the command and nothing about the patch."""
_PYTHON_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
FAILS_ANYWAY = "The check fails with this change, and without it too, so it says nothing."
FAILS = "The check fails with this change."
NO_OUTPUT = "(The check failed and printed nothing.)"


class CheckResult(NamedTuple):
    is_ok: bool
    output: str
    """The end of what it printed, at most 8,000 characters."""
    failed: Sequence[str] = ()
    """Names of the tests that failed, by the JUnit reports that it wrote."""


class ProjectCheck:
    """Use `run` for the base commit first: a command that does not exist must cost no model call."""

    def __init__(self, repository: UserRepository, base: str, command: str) -> None:
        self._repository, self._base, self._command = repository, base, command
        self._unchanged: CheckResult | None = None

    def run(self, commit: str) -> CheckResult:
        """Run the command in a work tree of a commit.

        Raises BadInput if there is no such command, or git refuses.
        """
        with self._repository.open_clone(self._base, commit) as folder:
            return run_command(self._command, folder, self._repository.environment, CHECK_SECONDS)

    def run_on_base(self) -> CheckResult:
        """Return what it says of the base commit. It runs there once. Raises as `run`."""
        if self._unchanged is None:
            self._unchanged = self.run(self._base)
        return self._unchanged

    def judge(self, commits: Sequence[str]) -> CheckVerdict:
        """Say what it makes of a patch: a commit with all of it, perhaps behind one with its tests alone.

        Where the base commit fails, only tests count that do not fail there. Raises as `run`.
        """
        base, whole = self.run_on_base(), self.run(commits[-1])
        if whole.is_ok:
            passes = "The check passes with this change"
        elif not base.is_ok and not base.failed:
            return CheckVerdict(FAILS_ANYWAY, whole.output or NO_OUTPUT)
        else:
            broken = sorted(set(whole.failed) - set(base.failed))
            if broken or base.is_ok or not whole.failed:
                return CheckVerdict(FAILS, _format_output(whole, broken), may_be_fixed=True)
            count = f"{len(whole.failed)} test{'s' * (len(whole.failed) != 1)}"
            passes = f"The check fails with this change only where it fails without it too ({count})"
        return CheckVerdict(passes + self._describe_proof(commits[:-1], base, whole))

    def _describe_proof(self, tests: Sequence[str], base: CheckResult, whole: CheckResult) -> str:
        """Return the end of the sentence: what the new test proves, which alone is there when it runs once more."""
        if not tests:
            return " and fails without it." if whole.is_ok and not base.is_ok else "."
        before = self.run(tests[0])
        if not before.is_ok and (base.is_ok or whole.is_ok or {*before.failed} - {*base.failed, *whole.failed}):
            return " and fails without it." if whole.is_ok else ". A new test passes with it and fails without it."
        proves_nothing = " and passes without it too: the test proves nothing, or the check does not run it."
        return proves_nothing if whole.is_ok else "."


def _format_output(whole: CheckResult, names: Sequence[str]) -> str:
    listed = "".join(f"\n- {name}" for name in names[:MAX_SHOWN_NAMES])
    output = whole.output or NO_OUTPUT
    return f"{output}\n\nThese tests do not fail without the change:{listed}" if listed else output


def run_command(command: str, folder: Path, environment: Mapping[str, str], seconds: float) -> CheckResult:
    """Run a command line for `/bin/sh`. Return how it ended, the end of what it printed, and what its reports say.

    After `seconds` the command and all processes that it started are ended.

    Raises BadInput if the shell says that there is no such command.
    """
    before = find_reports(folder)
    environment = _prepare_environment(environment, folder)
    result = run_process(["/bin/sh", "-c", command], folder, environment, seconds, _MAX_OUTPUT_BYTES)
    output = clean_text(result.output.decode("utf-8", "replace")).strip()
    if result.is_late:
        return CheckResult(is_ok=False, output=_cut_start(f"{output}\n[stopped after {seconds:g} seconds]"))
    if result.code in _CANNOT_RUN:
        raise BadInput(f"The check's command {_CANNOT_RUN[result.code]}. Try it yourself in the checkout.")
    failed = list_failed_tests(path for path, _ in find_reports(folder) - before)
    return CheckResult(result.code == 0, _cut_start(output), failed)


def _prepare_environment(environment: Mapping[str, str], folder: Path) -> Mapping[str, str]:
    """In a Python project the folder comes first on PYTHONPATH, before packages that are installed in editable mode."""
    if not any((folder / name).is_file() for name in _PYTHON_FILES):
        return environment
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
