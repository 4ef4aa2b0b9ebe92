"""Token counts of a call: estimated before it, reported by the endpoint after it."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from langchain_core.messages import BaseMessage

BYTES_PER_TOKEN = 3.0
"""Bytes of UTF-8. English prose has about 4, code about 3, Chinese 3 to 4, an emoji 2 to 4. Too high an estimate
only reserves more. A tokenizer would have to be downloaded."""
TOKENS_PER_MESSAGE = 4
MAX_COUNT = 10**9
"""A larger number cannot be the tokens of one call."""


@dataclass(frozen=True)
class TokenCount:
    """Tokens of one call. Output includes reasoning; input includes what came from the provider's cache.

    Raises ValueError for numbers that no call can have: a negative one would raise the caps of the run.
    """

    input: int
    output: int = 0
    cached: int = 0

    def __post_init__(self) -> None:
        if not all(_is_count(number) for number in (self.input, self.output, self.cached)) or self.cached > self.input:
            raise ValueError("not a count of tokens")


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

    One number that cannot be right makes the whole report unusable, so that our own estimate counts. Some endpoints
    leave reasoning out of `completion_tokens`, but never out of `total_tokens`.
    """
    if not isinstance(usage, Mapping):
        return None
    reported = [usage.get(name) or 0 for name in ("prompt_tokens", "completion_tokens", "total_tokens")]
    if not all(map(_is_count, reported)) or not reported[0]:  # no prompt is empty
        return None
    prompt, completion, total = reported
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
    # Cached tokens are cheaper: a number that cannot be right counts as none.
    return TokenCount(prompt, max(completion, total - prompt), cached if _is_count(cached) and cached <= prompt else 0)


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_COUNT
