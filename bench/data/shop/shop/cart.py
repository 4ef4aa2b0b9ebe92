"""What a customer is about to buy."""

from collections import Counter

from .prices import PriceList


class Cart:
    def __init__(self) -> None:
        self.articles: Counter[str] = Counter()

    def add(self, article: str, count: int = 1) -> None:
        self.articles[article] += count

    def total(self, prices: PriceList) -> int:
        """Return the sum in cents."""
        return sum(count * prices.find(article) for article, count in self.articles.items())
