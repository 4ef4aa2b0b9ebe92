"""What a call costs. Prices come from the `genai-prices` package, which carries its table with it."""

from functools import cache

from genai_prices import Usage, calc_price


@cache
def _known(model: str) -> str | None:
    """The name under which the table knows a model; gateways put `provider/` before it."""
    for name in (model, model.rpartition("/")[2]):
        try:
            calc_price(Usage(input_tokens=1, output_tokens=1), model_ref=name)
        except LookupError:
            continue
        return name
    return None


def usd(model: str, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float | None:
    """US dollars for one call, or none when the model's price is not known.

    Args:
        model: Name as the endpoint knows it.
        input_tokens: Tokens of the prompt, cached ones included.
        output_tokens: Tokens of the answer, reasoning included.
        cached_tokens: Part of `input_tokens` that was read from the provider's cache.
    """
    name = _known(model)
    if name is None:
        return None
    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=cached_tokens)
    return float(calc_price(usage, model_ref=name).total_price)
