"""Token counts of a call: estimated before it, reported by the endpoint after it."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage

BYTES_PER_TOKEN = 3.0
"""Bytes of UTF-8. English prose has about 4, code about 3, Chinese 3 to 4, an emoji 2 to 4. Too high an estimate
only reserves more. A tokenizer would have to be downloaded."""
TOKENS_PER_MESSAGE = 4
MAX_COUNT = 10**9
"""A larger number cannot be the tokens of one call."""


@dataclass(frozen=True)
class TokenCount:
    """Tokens of one call. Output includes reasoning; input includes what came from the provider's cache."""

    input: int
    output: int = 0
    cached: int = 0


def estimate_text(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


def estimate_prompt(messages: Sequence[BaseMessage], extra: str) -> int:
    """Returns the estimated tokens of messages, their tool calls, and `extra`: a schema or tools as JSON."""
    tool_calls = [calls for calls in (getattr(message, "tool_calls", None) for message in messages) if calls]
    texts = [
        extra,
        *(message.text for message in messages),
        json.dumps(tool_calls, ensure_ascii=False) if tool_calls else "",
    ]
    return estimate_text("".join(texts)) + TOKENS_PER_MESSAGE * len(messages)


def parse_usage(usage: Any) -> TokenCount | None:
    """Returns what an endpoint reports as billed, or None when it reports nothing usable.

    Some endpoints leave reasoning out of `completion_tokens`, but never out of `total_tokens`.
    """
    if not isinstance(usage, Mapping):
        return None
    prompt, completion = _valid_count(usage.get("prompt_tokens")), _valid_count(usage.get("completion_tokens"))
    if not prompt:  # no prompt is empty
        return None
    output = max(completion or 0, (_valid_count(usage.get("total_tokens")) or 0) - prompt)
    details = usage.get("prompt_tokens_details")
    cached = _valid_count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
    return TokenCount(prompt, output, min(cached or 0, prompt))


def _valid_count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_COUNT else None
