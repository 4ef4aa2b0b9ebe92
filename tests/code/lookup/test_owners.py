"""Who knows some lines: the newer a line the more it weighs, and nobody who left, and no bot."""

from datetime import UTC, datetime, timedelta

import pytest

from triage.code.lookup.owners import list_code_owners, weigh_authors
from triage.domain.code import Author, BlamedLine, Owner

NOW = datetime(2026, 11, 1, tzinfo=UTC)
MONA = Author(name="Mona Lisa", email="12+mona@users.noreply.github.com")
OLAF = Author(name="Olaf", email="olaf@example.org")
BOT = Author(name="dependabot[bot]", email="49699333+dependabot[bot]@users.noreply.github.com")


def lines(author: Author, count: int, days: int = 10) -> list[BlamedLine]:
    return [BlamedLine(author=author, at=NOW - timedelta(days=days), commit="a" * 40)] * count


def names(*blamed: list[BlamedLine], active: list[Author] | None = None) -> list[str]:
    everybody = [MONA, OLAF, BOT] if active is None else active
    return [owner.name for owner in weigh_authors([line for one in blamed for line in one], everybody, NOW)]


def test_an_author_with_a_known_login_and_one_without():
    assert weigh_authors([*lines(MONA, 6), *lines(OLAF, 4, days=400)], [MONA, OLAF], NOW) == [
        Owner(name="mona", source="history", reason="wrote 6 of the 10 lines, the last in 2026-10"),
        Owner(name="Olaf", source="history", reason="wrote 4 of the 10 lines, the last in 2025-09"),
    ]


def test_one_line_and_all_lines():
    [one], [all_lines] = (weigh_authors(lines(OLAF, count), [OLAF], NOW) for count in (1, 3))
    assert one.reason.startswith("wrote this line,")
    assert all_lines.reason.startswith("wrote all 3 lines,")


def test_new_lines_weigh_more():
    assert names(lines(OLAF, 6, days=1500), lines(MONA, 4)) == ["mona"]


def test_a_single_new_line_among_many_says_little():
    assert names(lines(OLAF, 30, days=1500), lines(MONA, 1)) == ["Olaf"]


def test_a_bot_and_who_left_are_nobody():
    assert names(lines(BOT, 6), lines(OLAF, 3)) == ["Olaf"]
    assert names(lines(MONA, 6), lines(OLAF, 3), active=[OLAF]) == ["Olaf"]
    assert names(lines(MONA, 9), active=[]) == []


@pytest.mark.parametrize("name", ["bors", "k8s-ci-robot", "GitHub Action", "ann@corp.example", "Mergify"])
def test_a_robot_or_an_address_is_nobody(name: str):
    author = Author(name=name, email="x@example.org")
    assert names(lines(author, 5), active=[author]) == []


def test_a_new_address_is_the_same_person():
    assert names(lines(OLAF, 3), active=[Author(name="Olaf", email="olaf@elsewhere.example")]) == ["Olaf"]


def test_three_code_owners_at_most():
    assert [owner.name for owner in list_code_owners(["acme/core", "a", "b", "c"])] == ["acme/core", "a", "b"]
