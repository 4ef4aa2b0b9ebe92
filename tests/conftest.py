"""Settings for all tests."""

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.find.staying_parsers import keep_parsers, stop_parsers
from triage.outside.github.repository_connection import RepositoryConnection

gc.disable()  # until all is imported
# A busy machine must not fail a test: how cost grows is tested by `testing.cost_growth`.
# Each run tries other examples, and CI runs the suite on four Pythons: half of Hypothesis's default is enough for each.
settings.register_profile("suite", deadline=None, max_examples=50)
settings.load_profile("suite")

ROOT = Path(__file__).parents[1]
# Assertions of all tests are rewritten once, not by each worker of each run; never beside the sources.
sys.dont_write_bytecode = False
sys.pycache_prefix = str(ROOT / ".pytest_cache" / "bytecode")


@pytest.fixture(autouse=True)
def no_wait_between_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub asks for a second between two writes. A server on loopback needs none."""
    open_client = RepositoryConnection._open_client
    monkeypatch.setattr(RepositoryConnection, "_open_client", lambda self, retry, _: open_client(self, retry, None))


@pytest.fixture(autouse=True)
def parsers_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a test does not start its own, in `code.parse`."""
    keep_parsers(monkeypatch)


@pytest.fixture(autouse=True, scope="session")
def _no_parser_is_left() -> Iterator[None]:
    yield
    stop_parsers()


def pytest_collection_finish():
    """Modules stay: the collector never looks at them, which would be a fifth of the suite's time."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


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
