"""Past issues are read whole once; then only what changed. A cache from anywhere harms nothing."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from triage.base.errors import GitHubUnavailable
from triage.domain.memory import PastIssue
from triage.output.past_issue_cache import CachedPastIssues

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)


def issue(number: int, hours_ago: int = 5, title: str = "It breaks") -> PastIssue:
    at = NOW - timedelta(hours=hours_ago)
    return PastIssue(number=number, title=title, created_at=at, updated_at=at)


@dataclass
class Source:
    pages: list[list[PastIssue]]
    error: Exception | None = None
    asked: list[tuple[datetime | None, str]] = field(default_factory=list)

    def __call__(self, since: datetime | None, words: str) -> Iterator[list[PastIssue]]:
        self.asked.append((since, words))
        yield from self.pages
        if self.error:
            raise self.error


def read(folder: Path | None, source: Source, limit: int = 3, repository: str = "octo/shop") -> list[int]:
    cached = CachedPastIssues(folder, repository, limit, source, lambda: NOW)
    return [issue.number for page in cached.iterate("words") for issue in page]


def test_the_second_run_asks_for_changes_only(tmp_path: Path):
    assert read(tmp_path / "issues", first := Source([[issue(3), issue(2, 2)], [issue(1, 9)]])) == [3, 2, 1]
    assert first.asked == [(None, "words")]
    again = Source([[issue(4, 1), issue(2, 1, "Edited")]])
    assert read(tmp_path / "issues", again) == [3, 2, 1, 4, 2]
    assert again.asked == [(NOW - timedelta(hours=2), "words")]
    assert read(tmp_path / "issues", Source([])) == [4, 3, 2], "the newest three, without the oldest"


def test_without_a_folder_nothing_is_cached():
    source = Source([[issue(1)]])
    assert read(None, source) == [1]
    assert source.asked == [(None, "words")]


def test_another_repository_has_another_cache(tmp_path: Path):
    read(tmp_path, Source([[issue(1)]]))
    assert read(tmp_path, Source([]), repository="octo/other") == []


def test_what_was_not_read_to_its_end_is_not_cached(tmp_path: Path):
    with pytest.raises(GitHubUnavailable):
        read(tmp_path, Source([[issue(9)]], GitHubUnavailable("down")))
    assert read(tmp_path, Source([])) == []


def test_only_the_owner_can_read_it(tmp_path: Path):
    read(tmp_path / "issues", Source([[issue(1)]]))
    [file] = (tmp_path / "issues").iterdir()
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[",
        b"{}",
        b"[1]",
        b"null",
        b"\xff",
        json.dumps({"limit": 3, "read_at": "2026-11-21T08:00:00", "issues": []}).encode(),
        b"[" * 100_000,
    ],
)
def test_a_damaged_cache_counts_as_none(tmp_path: Path, data: bytes):
    read(tmp_path, Source([[issue(1)]]))
    [file] = tmp_path.iterdir()
    file.write_bytes(data)
    source = Source([[issue(2)]])
    assert read(tmp_path, source) == [2]
    assert source.asked == [(None, "words")]
    assert read(tmp_path, Source([])) == [2], "it is written anew"


def test_a_time_to_come_hides_no_change(tmp_path: Path):
    read(tmp_path, Source([[issue(1, -100), issue(2)]]))
    source = Source([])
    assert read(tmp_path, source) == [2]
    assert source.asked == [(NOW - timedelta(hours=5), "words")]


def test_a_larger_limit_and_a_week_read_all_anew(tmp_path: Path):
    read(tmp_path, Source([[issue(1)]]))
    read(tmp_path, larger := Source([[issue(1)]]), limit=9)
    assert larger.asked == [(None, "words")]
    later = CachedPastIssues(tmp_path, "octo/shop", 9, again := Source([]), lambda: NOW + timedelta(days=8))
    assert [*later.iterate("words")] == [[]]
    assert again.asked == [(None, "words")]


def test_a_link_in_its_place_is_not_followed(tmp_path: Path):
    read(tmp_path, Source([[issue(1)]]))
    [file] = tmp_path.iterdir()
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    assert read(tmp_path, Source([[issue(2)]])) == [2]
    assert json.loads(elsewhere.read_bytes())["issues"][0]["number"] == 1


def test_a_folder_that_cannot_be_written_costs_only_the_cache(tmp_path: Path):
    (tmp_path / "file").write_text("")
    assert read(tmp_path / "file" / "issues", Source([[issue(1)]])) == [1]
