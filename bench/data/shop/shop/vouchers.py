"""Vouchers are articles whose number says what they are worth."""

PREFIX = "VOUCHER-"


def is_voucher(article: str) -> bool:
    return article.startswith(PREFIX)


def count_cents(article: str) -> int:
    """Return what a voucher such as `VOUCHER-10` is worth: euros, as cents."""
    return 100 * int(article.removeprefix(PREFIX))
