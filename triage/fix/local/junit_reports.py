"""Which tests failed, by the JUnit reports that a command leaves in its work tree."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

MAX_NAMES = 2_000
MAX_NAME_CHARS = 300


def find_reports(folder: Path) -> set[Path]:
    """Return all files that may be reports. Each test runner writes them to another place."""
    return set(folder.rglob("*.xml"))


def list_failed_tests(reports: Iterable[Path]) -> list[str]:
    """Return the names of the tests that failed, sorted; none of what is no report."""
    names: set[str] = set()
    for report in reports:
        # A report is as hostile as the command that wrote it, as the user. Expat bounds what entities become.
        with suppress(OSError, ElementTree.ParseError):
            for _, element in ElementTree.iterparse(report):  # noqa: S314
                if element.tag == "testcase":
                    if element.find("failure") is not None or element.find("error") is not None:
                        names.add(f"{element.get('classname', '')} {element.get('name', '')}".strip()[:MAX_NAME_CHARS])
                    element.clear()
    return sorted(names)[:MAX_NAMES]
