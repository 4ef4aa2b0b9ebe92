"""Weeks are counted, merged with those that were stored, and read back strictly."""

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from tests.backtest.sample_issues import DATES, ISSUES, START, at, comment, issue, judge, named
from triage.backtest.weekly_trend import (
    MAX_FILE_BYTES,
    MAX_WEEKS,
    Week,
    count_weeks,
    dump_weeks,
    find_monday,
    load_weeks,
    merge_weeks,
    parse_marker,
    read_week_file,
    render_marker,
    write_week_file,
)

MONDAY = START.date()
counts = st.integers(0, 1_000_000)
weeks = st.builds(
    Week,
    monday=st.integers(0, 2_000).map(lambda number: date(1990, 1, 1) + timedelta(weeks=number)),
    **{name: counts for name in Week.model_fields if name != "monday"},
)


def week(number: int, triaged: int = 1) -> Week:
    zeros = dict.fromkeys(Week.model_fields, 0)
    return Week.model_validate(zeros | {"monday": MONDAY + timedelta(weeks=number), "triaged": triaged})


def test_an_issue_counts_in_the_week_in_which_it_was_closed() -> None:
    found = count_weeks(judge(*ISSUES))
    assert [one.monday for one in found] == [MONDAY + timedelta(weeks=number) for number in range(4)]
    assert [(one.triaged, one.named, one.first, one.any) for one in found] == [
        (2, 2, 1, 2),
        (3, 1, 0, 0),
        (2, 0, 0, 0),
        (3, 1, 1, 1),
    ]
    assert [(one.asked, one.answered, one.labels, one.labels_on_issue) for one in found[:2]] == [
        (0, 0, 1, 1),
        (2, 1, 0, 0),
    ]
    assert [(one.hidden, one.thumbs_up, one.thumbs_down) for one in found] == [
        (0, 0, 0),
        (1, 0, 1),
        (0, 0, 0),
        (0, 1, 0),
    ]


@pytest.mark.parametrize(("day", "number"), [(0, 0), (6.999, 0), (7, 1), (-0.001, -1)])
def test_a_week_begins_on_monday_in_utc(day: float, number: int) -> None:
    assert find_monday(at(day)) == MONDAY + timedelta(weeks=number)


class TestMerge:
    def test_weeks_that_were_counted_whole_replace_the_stored_ones(self) -> None:
        merged = merge_weeks([week(-1, 5), week(0, 5), week(1, 5)], [week(0, 7)], START)
        # The week without any issue now had one that was opened again.
        assert merged == [week(-1, 5), week(0, 7)]

    @pytest.mark.parametrize("late", [0.0001, 1, 6.9])
    def test_a_week_that_was_counted_in_part_replaces_none(self, late: float) -> None:
        assert merge_weeks([week(0, 5)], [week(0, 2), week(1, 3)], at(late)) == [week(0, 5), week(1, 3)]
        assert merge_weeks([], [week(0, 2)], at(late)) == [week(0, 2)]

    def test_two_years_are_stored(self) -> None:
        merged = merge_weeks([week(number) for number in range(-200, 0)], [week(0)], START)
        assert (len(merged), merged[-1], merged[0]) == (MAX_WEEKS, week(0), week(1 - MAX_WEEKS))

    def test_counting_again_changes_nothing(self) -> None:
        counted = count_weeks(judge(*ISSUES))
        assert merge_weeks(counted, counted, START) == counted


@given(st.lists(weeks, max_size=8, unique_by=lambda one: one.monday))
def test_what_is_stored_is_read_back(stored: list[Week]) -> None:
    stored.sort(key=lambda one: one.monday)
    assert load_weeks(dump_weeks(stored)) == stored
    assert parse_marker(f"{render_marker(stored)}\nText") == stored


def test_two_years_of_large_weeks_are_read_back() -> None:
    many = [
        Week(monday=MONDAY + timedelta(weeks=n), **dict.fromkeys(list(Week.model_fields)[1:], 1_000_000))
        for n in range(MAX_WEEKS)
    ]
    assert load_weeks(dump_weeks(many)) == many


ROW = json.loads(dump_weeks([week(0)]))[0]


@each_row(
    "rows",
    [
        "",
        "null",
        "{}",
        "[1]",
        "[[]]",
        '["2026-09-07"]',
        json.dumps([ROW[:-1]]),
        json.dumps([[*ROW, 0]]),
        json.dumps([["2026-09-08", *ROW[1:]]]),
        json.dumps([["9999-12-27", *ROW[1:]]]),
        json.dumps([[*ROW[:-1], -1]]),
        json.dumps([[*ROW[:-1], 1e9]]),
        json.dumps([[*ROW[:-1], "<script>"]]),
        "[" * 100_000,
        json.dumps([ROW] * 2_000),
    ],
)
def test_anything_else_is_no_weeks(rows: str) -> None:
    assert load_weeks(rows) == []
    assert parse_marker(f"<!-- bug-triage-scorecard v1 {rows} -->\ntext") == []


@given(st.text(max_size=100))
def test_any_text_can_be_read(text: str) -> None:
    load_weeks(text)
    parse_marker(text)


def test_a_result_of_an_unknown_chance_does_not_break_a_week() -> None:
    assert count_weeks(judge(issue(ours=comment(named(DATES, chance=1.0)), fix=[DATES])))[0].first == 1


def store(folder: Path | None, *weeks: Week) -> None:
    write_week_file(folder, "acme/ledger", weeks, datetime(2026, 11, 22, tzinfo=UTC))


def test_what_was_written_is_read_by_the_next_job_of_the_repository(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "scorecard"
    assert read_week_file(folder, "acme/ledger") == []
    store(folder)
    store(folder, week(0), week(1))
    assert read_week_file(folder, "Acme/Ledger") == [week(0), week(1)]
    assert read_week_file(folder, "acme/other") == []
    assert len(list(folder.iterdir())) == 1


def test_without_a_folder_nothing_is_stored() -> None:
    store(None, week(0))
    assert read_week_file(None, "acme/ledger") == []


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store(tmp_path / "file" / "scorecard", week(0))
    assert read_week_file(tmp_path / "file" / "scorecard", "acme/ledger") == []


@pytest.mark.parametrize("content", [b"x" * (MAX_FILE_BYTES + 1), b"\xff\xfe", b"", b"[[", b'[["2026-09-08",1]]'])
def test_odd_content_counts_as_none(tmp_path: Path, content: bytes) -> None:
    store(tmp_path, week(0))
    next(tmp_path.iterdir()).write_bytes(content)
    assert read_week_file(tmp_path, "acme/ledger") == []


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret", tmp_path / "scorecard"
    secret.write_text(dump_weeks([week(0)]))
    store(folder, week(1))
    [stored] = folder.iterdir()
    stored.unlink()
    stored.symlink_to(secret)
    assert read_week_file(folder, "acme/ledger") == []
    store(folder, week(1))
    assert secret.read_text() == dump_weeks([week(0)])
