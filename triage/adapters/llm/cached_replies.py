"""Answers that were paid for are not asked for again: an interrupted run finds them in the reply store."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from langchain_core.messages import BaseMessage, convert_to_openai_messages

from triage import __version__
from triage.adapters.llm.model_reply import ModelReply
from triage.adapters.llm.output_formats import OutputFormat
from triage.ports import ResponseCache


@dataclass(frozen=True)
class CachedReplies:
    """Kept answers of one endpoint; none without a store."""

    cache: ResponseCache | None = None
    base_url: str = ""

    def build_key(self, model: str, messages: Sequence[BaseMessage], shape: OutputFormat[Any], max_tokens: int) -> str:
        """Digest of all that shapes the answer.

        In which mode it was asked for, and which model took over, belongs to the answer instead: both depend on how
        the endpoint fared.
        """
        asked = [
            __version__,
            self.base_url,
            model,
            convert_to_openai_messages(list(messages)),
            [getattr(message, "invalid_tool_calls", []) for message in messages],  # which the line above leaves out
            shape.name,
            [dict(mode.arguments) for mode in shape.modes],
            max_tokens,
        ]
        return blake2b(json.dumps(asked, sort_keys=True).encode(), digest_size=16).hexdigest()

    def get(self, key: str) -> ModelReply | None:
        """The answer; one that cannot be read is none."""
        kept = self.cache.get(key) if self.cache else None
        try:
            return ModelReply.model_validate(json.loads(kept), strict=True) if kept else None
        except (ValueError, RecursionError):
            return None

    def put(self, key: str, reply: ModelReply) -> None:
        """Remember it."""
        if self.cache:
            self.cache.put(key, json.dumps(reply.model_dump()))  # which takes lone surrogates, unlike pydantic's own
