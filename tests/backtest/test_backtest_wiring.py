"""Thresholds go into the settings file, and nothing else changes."""

from codecs import BOM_UTF8
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit
from testing.sessions import make_session
from triage.app.settings import Settings
from triage.backtest.backtest_wiring import write_thresholds
from triage.base.errors import BadInput
from triage.domain.project_config import Thresholds

PATH = ".github/triage.yml"
LINE = "thresholds: {trace: 0.3, message: 0.5, name: 0.8, duplicate: 0.6}"
NEW = Thresholds(name=0.8)


def write(root: Path, before: bytes) -> bytes:
    commit(root, {PATH: before})
    setup = make_session(Settings(), root).with_project_config()
    assert "Commit it" in write_thresholds(setup, NEW)
    return (root / PATH).read_bytes()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"ignore: [third/**] # not ours\n", f"ignore: [third/**] # not ours\n{LINE}\n"),
        (b"thresholds: {name: 0.9}\n# then\nignore: [a]\n", f"{LINE}\n# then\nignore: [a]\n"),
        (b"ignore: [a]\r\n", f"ignore: [a]\r\n{LINE}\r\n"),
    ],
)
def test_everything_else_stays(tmp_path: Path, before: bytes, after: str):
    assert write(tmp_path, before).decode() == after


def test_a_mark_at_the_beginning_stays(tmp_path: Path):
    assert write(tmp_path, BOM_UTF8 + b"ignore: [a]\n") == BOM_UTF8 + f"ignore: [a]\n{LINE}\n".encode()


def test_a_file_is_made_where_there_is_none(tmp_path: Path):
    commit(tmp_path, {"a.py": "x = 1\n"})
    write_thresholds(make_session(Settings(), tmp_path), NEW)
    assert (tmp_path / PATH).read_text() == f"{LINE}\n"


@pytest.mark.parametrize("before", [b"{ignore: [a]}\n", b"ignore: [a]\n...\n"])
def test_a_form_that_cannot_be_edited_is_left_alone(tmp_path: Path, before: bytes):
    commit(tmp_path, {PATH: before})
    with pytest.raises(BadInput, match="Add this line to it"):
        write_thresholds(make_session(Settings(), tmp_path).with_project_config(), NEW)
    assert (tmp_path / PATH).read_bytes() == before
