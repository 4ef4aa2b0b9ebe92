"""Which failures are the same: in one place, with one error."""

import pytest

from tests.reproduce.runs import IN_SHOP
from triage.reproduce.evidence import Evidence, FailurePlace, Run
from triage.reproduce.pages import find_failure


def fail(error: str = "KeyError: 'a' at 3", place: FailurePlace | None = IN_SHOP, **changes: object) -> str:
    fields = {"same_failure": True} | changes
    run = Run(on="main", outcome="failed", error=error, place=place, **fields)
    return find_failure(Evidence(verdict="still", measure="error", runs=[run]), {"shop/cart.py": "src/cart.py"}.get)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "other",
    [
        fail("KeyError: 'b' at 4"),
        fail(place=IN_SHOP.model_copy(update={"line": 99})),
        fail(place=IN_SHOP.model_copy(update={"function": "Cart.total"})),
    ],
)
def test_values_lines_and_classes_do_not_count(other: str) -> None:
    assert other == fail()


@pytest.mark.parametrize(
    "other",
    [
        fail("TypeError: 'a' at 3"),
        fail("KeyError: 'a' is no key"),
        fail(place=IN_SHOP.model_copy(update={"function": "add"})),
        fail(same_failure=False),
        fail(place=None),
        fail(place=FailurePlace(path="<example>", line=1)),
    ],
)
def test_another_error_or_place_is_another_failure(other: str) -> None:
    assert other != fail()
