"""Tables of cases: one test tries each row, and reports every row that fails."""

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

Test = Callable[..., Any]
MAX_NOTE_CHARS = 500


def each_row(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Return a decorator that calls a test with each row, as `pytest.mark.parametrize` does, but as one test.

    For quick cases without fixtures: rows share the fixtures of their test. Several decorators try all combinations.
    """
    columns = [names] if isinstance(names, str) else [*names]
    table = [dict(zip(columns, [row] if isinstance(names, str) else row, strict=True)) for row in rows]
    assert table, "a table without rows tests nothing"

    def decorate(test: Test) -> Test:
        wrapped = _wrap_async(test, table) if inspect.iscoroutinefunction(test) else _wrap(test, table)
        signature = inspect.signature(test)
        others = [parameter for name, parameter in signature.parameters.items() if name not in columns]
        wrapped.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return wrapped

    return decorate


def _wrap(test: Test, table: list[dict[str, Any]]) -> Test:
    @functools.wraps(test)
    def try_rows(*instance: Any, **fixtures: Any) -> None:
        failures = _Failures(len(table))
        for row in table:
            with failures.collect(row):
                test(*instance, **fixtures, **row)
        failures.report()

    return try_rows


def _wrap_async(test: Callable[..., Awaitable[None]], table: list[dict[str, Any]]) -> Test:
    @functools.wraps(test)
    async def try_rows(*instance: Any, **fixtures: Any) -> None:
        failures = _Failures(len(table))
        for row in table:
            with failures.collect(row):
                await test(*instance, **fixtures, **row)
        failures.report()

    return try_rows


class _Failures:
    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.found: list[BaseException] = []

    @contextmanager
    def collect(self, row: dict[str, Any]) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - `report` raises it
            error.add_note(f"row: {row!r}"[:MAX_NOTE_CHARS])
            self.found.append(error)

    def report(self) -> None:
        if self.found:
            raise BaseExceptionGroup(f"{len(self.found)} of {self.rows} rows fail", self.found)
