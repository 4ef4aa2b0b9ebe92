"""The language of a project is that of its README."""

import pytest

from testing.fakes import FakeCodebase
from triage.issue.project_language import detect_project_language

GERMAN = "# Kalender\n\n[![build](https://ci.test/b.svg)](https://ci.test)\n\nDiese Bibliothek liest Kalender und schreibt sie wieder.\n"
ENGLISH = "# Calendar\n\nThis library reads calendars and writes them again.\n"


@pytest.mark.parametrize(
    ("files", "language"),
    [
        ({}, "en"),
        ({"README.md": GERMAN}, "de"),
        ({"readme.rst": GERMAN}, "de"),
        ({"README": GERMAN}, "de"),
        ({"README.md": ENGLISH, "README.de.md": GERMAN}, "en"),
        ({"docs/README.md": GERMAN}, "en"),
        ({"README.md": "# 日历\n\n这个库可以读取和写入日历文件，支持多种格式。\n"}, "zh-Hans"),
        ({"README.md": ""}, "en"),
    ],
)
def test_the_readme_in_the_root_decides(files: dict[str, str], language: str) -> None:
    assert detect_project_language(FakeCodebase(files)) == language
