"""The weeks in a file between jobs."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from triage.backtest.scorecard.trend_file import MAX_FILE_BYTES, CachedTrend


def now() -> datetime:
    return datetime(2026, 11, 22, tzinfo=UTC)


def open_file(folder: Path | None, repository: str = "acme/ledger") -> CachedTrend:
    return CachedTrend(folder, repository, now)


def test_what_was_written_is_read_by_the_next_job_of_the_repository(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "scorecard"
    assert open_file(folder).read() == ""
    open_file(folder).write("[]")
    assert open_file(folder, "Acme/Ledger").read() == "[]"
    assert open_file(folder, "acme/other").read() == ""
    open_file(folder).write("[1]")
    assert open_file(folder).read() == "[1]"
    assert len(list(folder.iterdir())) == 1


def test_without_a_folder_nothing_is_stored() -> None:
    open_file(None).write("[]")
    assert open_file(None).read() == ""


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    open_file(tmp_path / "file" / "scorecard").write("[]")
    assert open_file(tmp_path / "file" / "scorecard").read() == ""


@pytest.mark.parametrize("content", [b"x" * (MAX_FILE_BYTES + 1), b"\xff\xfe"])
def test_odd_content(tmp_path: Path, content: bytes) -> None:
    file = open_file(tmp_path)
    file.write("[]")
    next(tmp_path.iterdir()).write_bytes(content)
    assert file.read() in ("", "\ufffd\ufffd")


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("[1]")
    folder = tmp_path / "scorecard"
    open_file(folder).write("[]")
    [stored] = folder.iterdir()
    stored.unlink()
    stored.symlink_to(secret)
    assert open_file(folder).read() == ""
    open_file(folder).write("[]")
    assert secret.read_text() == "[1]"
