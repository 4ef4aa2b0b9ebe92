"""Prices of model calls, from the project's settings or the table in the `genai-prices` package."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from genai_prices import Usage, calc_price

from triage.domain.project_config import Price
from triage.model.token_count import TokenCount

MILLION = 1_000_000


@dataclass(frozen=True)
class PriceTable:
    """Prices by model. The project's own win over the built-in ones."""

    own: Mapping[str, Price] = field(default_factory=dict)

    def cost_usd(self, model: str, tokens: TokenCount) -> float | None:
        """Returns US dollars for one call, or None for a model without a known price.

        `model` is its name as the endpoint knows it; gateways put `provider/` before it.
        """
        own = self.own.get(model) or self.own.get(model.rpartition("/")[2])
        if own is None:
            return _list_price_usd(model, tokens)
        cached = own.input if own.cached_input is None else own.cached_input
        fresh = tokens.input - tokens.cached
        return (fresh * own.input + tokens.cached * cached + tokens.output * own.output) / MILLION


def _list_price_usd(model: str, tokens: TokenCount) -> float | None:
    known = _find_model(model)
    if known is None:
        return None
    name, provider = known
    usage = Usage(input_tokens=tokens.input, output_tokens=tokens.output, cache_read_tokens=tokens.cached)
    return float(calc_price(usage, model_ref=name, provider_id=provider).total_price)


@cache
def _find_model(model: str) -> tuple[str, str | None] | None:
    # Embedding models are found under their provider only.
    for name in (model, model.rpartition("/")[2]):
        for provider in (None, "openai"):
            try:
                calc_price(Usage(input_tokens=1), model_ref=name, provider_id=provider)
            except LookupError:
                continue
            return name, provider
    return None
