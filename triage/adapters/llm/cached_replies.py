"""Answers that were paid for are not asked for again: an interrupted run finds them in the reply store."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from langchain_core.messages import BaseMessage, convert_to_openai_messages

from triage import __version__
from triage.adapters.llm.model_reply import Reply
from triage.adapters.llm.output_formats import Shape
from triage.ports import Replies


@dataclass(frozen=True)
class Replays:
    """Kept answers of one endpoint; none without a store."""

    store: Replies | None = None
    base_url: str = ""

    def key(self, model: str, messages: Sequence[BaseMessage], shape: Shape[Any], max_tokens: int) -> str:
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

    def known(self, key: str) -> Reply | None:
        """The answer; one that cannot be read is none."""
        kept = self.store.known(key) if self.store else None
        try:
            return Reply.model_validate(json.loads(kept), strict=True) if kept else None
        except (ValueError, RecursionError):
            return None

    def keep(self, key: str, reply: Reply) -> None:
        """Remember it."""
        if self.store:
            self.store.keep(key, json.dumps(reply.model_dump()))  # which takes lone surrogates, unlike pydantic's own
