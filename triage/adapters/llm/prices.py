"""What a call costs. Prices come from the `genai-prices` package, which carries its table, or from the project."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from genai_prices import Usage, calc_price

from triage.adapters.llm.token_count import TokenCount
from triage.domain.project_config import Price

MILLION = 1_000_000


@dataclass(frozen=True)
class PriceTable:
    """US dollars by model; the project's own prices win over the built-in ones."""

    own: Mapping[str, Price] = field(default_factory=dict)

    def cost_usd(self, model: str, counted: TokenCount) -> float | None:
        """US dollars for one call, or none when the model's price is not known.

        Args:
            model: Name as the endpoint knows it; gateways put `provider/` before it.
            counted: What the call took.
        """
        own = self.own.get(model) or self.own.get(model.rpartition("/")[2])
        if own is None:
            return _list_price_usd(model, counted)
        cached = own.input if own.cached_input is None else own.cached_input
        fresh = counted.input - counted.cached
        return (fresh * own.input + counted.cached * cached + counted.output * own.output) / MILLION


def _list_price_usd(model: str, counted: TokenCount) -> float | None:
    known = _find_model(model)
    if known is None:
        return None
    name, provider = known
    usage = Usage(input_tokens=counted.input, output_tokens=counted.output, cache_read_tokens=counted.cached)
    return float(calc_price(usage, model_ref=name, provider_id=provider).total_price)


@cache
def _find_model(model: str) -> tuple[str, str | None] | None:
    """Name and provider under which the table knows a model.

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
