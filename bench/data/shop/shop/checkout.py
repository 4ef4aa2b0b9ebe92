"""Turns a cart into an order."""

from .cart import Cart
from .prices import PriceList


def pay(cart: Cart, prices: PriceList) -> str:
    total = cart.total(prices)
    return f"To pay: {total // 100}.{total % 100:02} euros"
