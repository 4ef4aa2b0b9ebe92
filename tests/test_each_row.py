"""A table of cases in one test."""

import asyncio

import pytest

from testing.each_row import each_row


def test_every_row_that_fails_is_reported():
    @each_row("number", [1, 2, 3, 4])
    def only_odd(number: int) -> None:
        if number == 4:
            pytest.fail("four")
        assert number % 2

    with pytest.raises(BaseExceptionGroup, match="2 of 4 rows fail") as failure:
        only_odd()
    assert [error.__notes__ for error in failure.value.exceptions] == [["row: {'number': 2}"], ["row: {'number': 4}"]]


def test_a_coroutine_is_awaited():
    @each_row("number", [1, 2])
    async def only_odd(number: int) -> None:
        await asyncio.sleep(0)
        assert number % 2

    with pytest.raises(BaseExceptionGroup, match="1 of 2 rows fail"):
        asyncio.run(only_odd())


def test_a_table_without_rows_is_refused():
    with pytest.raises(AssertionError, match="tests nothing"):
        each_row("number", [])
