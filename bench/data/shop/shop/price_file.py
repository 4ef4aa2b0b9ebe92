"""Reads new prices from a file of the wholesaler."""

from collections.abc import Iterable

from .prices import PriceList


def load_prices(prices: PriceList, rows: Iterable[str]) -> None:
    """Take lines such as `PEAR;0.45`."""
    for row in rows:
        article, _, euros = row.partition(";")
        prices.change(article, round(100 * float(euros)))
