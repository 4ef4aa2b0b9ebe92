"""Golden files: texts that people read, stored as files. `--golden` writes them again."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def pytest_addoption(parser):
    parser.addoption("--golden", action="store_true", help="write the golden files again")


@pytest.fixture
def golden(request):
    """Compares a text with a file of the repository, or writes it."""
    rewrite = request.config.getoption("--golden", default=False)

    def compare(path, text):
        file = ROOT / path
        if rewrite:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.exists(), f"{path} is missing: make golden"
        assert text == file.read_text(encoding="utf-8"), f"{path} differs: make golden, and read the diff"

    return compare
