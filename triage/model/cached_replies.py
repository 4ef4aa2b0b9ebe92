"""Paid replies of an interrupted run, which the next run uses instead of asking again."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from langchain_core.messages import BaseMessage, convert_to_openai_messages

from triage import __version__
from triage.model.model_reply import ModelReply
from triage.model.output_formats import OutputFormat
from triage.model.response_cache import FileResponseCache


@dataclass(frozen=True)
class CachedReplies:
    """Cached replies of one endpoint. Without a cache there are none."""

    cache: FileResponseCache | None = None
    base_url: str = ""

    def build_key(
        self, model: str, messages: Sequence[BaseMessage], output_format: OutputFormat[Any], max_tokens: int
    ) -> str:
        """Returns a digest of everything that affects the answer.

        The mode of the request and a fallback model are not part of it: both depend on the state of the endpoint, and
        are stored with the reply.
        """
        parts = [
            __version__,
            self.base_url,
            model,
            convert_to_openai_messages(list(messages)),
            [getattr(message, "invalid_tool_calls", []) for message in messages],  # the line above leaves them out
            output_format.name,
            [dict(mode.arguments) for mode in output_format.modes],
            max_tokens,
        ]
        return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()

    def get(self, key: str) -> ModelReply | None:
        text = self.cache.get(key) if self.cache else None
        try:
            return ModelReply.model_validate(json.loads(text), strict=True) if text else None
        except (ValueError, RecursionError):
            return None

    def put(self, key: str, reply: ModelReply) -> None:
        if self.cache:
            # pydantic's own JSON refuses lone surrogates.
            self.cache.put(key, json.dumps(reply.model_dump()))
