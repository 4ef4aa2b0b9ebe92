"""What a call costs. Prices come from the `genai-prices` package, which carries its table with it."""

from functools import cache

from genai_prices import Usage, calc_price


@cache
def _known(model: str) -> tuple[str, str | None] | None:
    """Name and provider under which the table knows a model; gateways put `provider/` before the name.

    Embedding models are found under their provider only.
    """
    for name in (model, model.rpartition("/")[2]):
        for provider in (None, "openai"):
            try:
                calc_price(Usage(input_tokens=1), model_ref=name, provider_id=provider)
            except LookupError:
                continue
            return name, provider
    return None


def usd(model: str, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float | None:
    """US dollars for one call, or none when the model's price is not known.

    Args:
        model: Name as the endpoint knows it.
        input_tokens: Tokens of the prompt, cached ones included.
        output_tokens: Tokens of the answer, reasoning included.
        cached_tokens: Part of `input_tokens` that was read from the provider's cache.
    """
    known = _known(model)
    if known is None:
        return None
    name, provider = known
    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=cached_tokens)
    return float(calc_price(usage, model_ref=name, provider_id=provider).total_price)
