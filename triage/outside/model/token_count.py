"""Tokens of a call, estimated before it and reported by the endpoint after it, and what they cost.

Prices are the project's own, or those in the `genai-prices` package.
"""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeGuard

from genai_prices import Usage, calc_price
from langchain_core.messages import BaseMessage

from triage.domain.project_config import Price

BYTES_PER_TOKEN = 3.0
"""Bytes of UTF-8. English prose has about 4, code about 3, Chinese 3 to 4, an emoji 2 to 4. Too high an estimate
only reserves more. A tokenizer would have to be downloaded."""
TOKENS_PER_MESSAGE = 4
TOKENS_PER_PICTURE = 2_500
"""What OpenAI's models count at most at their default detail: 1,536 patches of up to 1.62 tokens."""
MAX_COUNT = 10**9
"""A larger number cannot be the tokens of one call."""


@dataclass(frozen=True)
class TokenCount:
    """Tokens of one call. Output includes reasoning; input includes what was read from and written to a cache."""

    input: int
    output: int = 0
    cached: int = 0
    """Read from the provider's cache."""
    written: int = 0
    """Written to it, which some providers charge for."""
    reasoning: int = 0


def estimate_text(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


def estimate_prompt(messages: Sequence[BaseMessage], extra: str) -> int:
    """Return the estimated tokens of messages, their tool calls, and `extra`: a schema or tools as JSON."""
    tool_calls = [calls for calls in (getattr(message, "tool_calls", None) for message in messages) if calls]
    texts = [
        extra,
        *(message.text for message in messages),
        json.dumps(tool_calls, ensure_ascii=False) if tool_calls else "",
    ]
    pictures = sum(map(is_picture, (block for message in messages for block in message.content)))
    return estimate_text("".join(texts)) + TOKENS_PER_MESSAGE * len(messages) + TOKENS_PER_PICTURE * pictures


def is_picture(block: Any) -> bool:
    """Return whether a block of a message's content is one."""
    return isinstance(block, dict) and block.get("type") == "image"


def parse_usage(usage: Any) -> TokenCount | None:
    """Return what an endpoint reports as billed, or None when it reports nothing usable.

    Reads the names of chat completions, of the Responses API, and of LangChain. One number that cannot be right makes
    the whole report unusable, so that our own estimate counts. Some endpoints leave reasoning out of their output, but
    never out of `total_tokens`.
    """
    if not isinstance(usage, Mapping):
        return None
    reported = [usage.get(f"{name}_tokens") or 0 for name in ("prompt", "input", "completion", "output", "total")]
    if not all(map(_is_count, reported)) or not (prompt := reported[0] or reported[1]):  # no prompt is empty
        return None
    output = max(reported[2] or reported[3], reported[4] - prompt)
    cached = _find_part(usage, prompt, "cached_tokens", "cache_read")
    written = _find_part(usage, prompt - cached, "cache_write_tokens", "cache_creation")
    return TokenCount(prompt, output, cached, written, _find_part(usage, output, "reasoning_tokens", "reasoning"))


def _find_part(usage: Mapping[str, Any], whole: int, *names: str) -> int:
    """Return a part of the tokens. One that cannot be right counts as none: what is cached is cheaper."""
    details = [part for key, part in usage.items() if str(key).endswith("_details") and isinstance(part, Mapping)]
    found = (part.get(name) for part in details for name in names)
    return next((count for count in found if _is_count(count) and count <= whole), 0)


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_COUNT


def cost_usd(prices: Mapping[str, Price], model: str, tokens: TokenCount) -> float | None:
    """Return US dollars for one call, or None for a model without a known price.

    `prices` are the project's own by model, which win over the built-in ones. `model` is its name as the endpoint knows
    it; gateways put `provider/` before it.
    """
    own = prices.get(model) or prices.get(model.rpartition("/")[2])
    if own is None:
        return _list_price_usd(model, tokens)
    cached = own.input if own.cached_input is None else own.cached_input
    written = own.input if own.cache_write is None else own.cache_write
    fresh = tokens.input - tokens.cached - tokens.written
    parts = (fresh, own.input), (tokens.cached, cached), (tokens.written, written), (tokens.output, own.output)
    return sum(count * price for count, price in parts) / 1_000_000


def _list_price_usd(model: str, tokens: TokenCount) -> float | None:
    """Return the price by the list that the package has; None for an unknown model."""
    usage = Usage(
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cached,
        cache_write_tokens=tokens.written,
    )
    for name in (model, model.rpartition("/")[2]):
        for provider in (None, "openai"):  # embedding models are found under their provider only
            with suppress(LookupError):
                return float(calc_price(usage, model_ref=name, provider_id=provider).total_price)
    return None
