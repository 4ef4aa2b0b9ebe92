"""What articles cost."""

from collections.abc import Mapping


class PriceList:
    """Prices in cents, by article number."""

    def __init__(self, cents: Mapping[str, int]) -> None:
        self._cents = dict(cents)

    def find(self, article: str) -> int:
        """Return the price of an article in cents."""
        return self._cents[article]

    def change(self, article: str, cents: int) -> None:
        if cents < 0:
            raise ValueError("a price is not negative")
        self._cents[article] = cents
