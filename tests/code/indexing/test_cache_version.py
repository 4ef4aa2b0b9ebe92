"""A cache of another program is not this program's."""

import re
import shutil
from importlib.metadata import version
from pathlib import Path

import pytest

from triage.code.indexing import cache_version as module
from triage.code.indexing.cache_version import cache_version


def compute_version() -> str:
    cache_version.cache_clear()
    return cache_version()


@pytest.fixture(autouse=True)
def unchanged_afterwards():
    yield
    cache_version.cache_clear()


def test_it_is_the_same_each_time():
    assert compute_version() == compute_version()
    assert re.fullmatch("[0-9a-f]{32}", cache_version())


def test_any_module_of_the_index_changes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home = tmp_path / "index"
    shutil.copytree(Path(module.__file__).parents[1], home, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(module, "__file__", str(home / "build" / "cache_version.py"))
    before = compute_version()
    (home / "parse" / "chunks.py").write_text((home / "parse" / "chunks.py").read_text() + "#\n")
    assert compute_version() != before


def test_a_grammars_version_changes_it(monkeypatch: pytest.MonkeyPatch):
    before = compute_version()
    monkeypatch.setattr(module, "version", lambda name: "9" if name == "tree_sitter_go" else version(name))
    assert compute_version() != before
