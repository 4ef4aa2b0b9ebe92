"""The endpoint's clients."""

from dataclasses import dataclass, field
from functools import cached_property

import openai
from langchain_openai import ChatOpenAI
from openai.resources import Embeddings
from pydantic import SecretStr

from triage.llm.breaker import Breaker

OPENAI = "https://api.openai.com/v1"
TIMEOUT = openai.Timeout(60.0, connect=10.0)
"""Seconds between two pieces of an answer, and until the line is open. The SDK's own is ten minutes."""


@dataclass
class Endpoint:
    """An OpenAI-compatible endpoint.

    Every request carries the run's id as `X-Request-ID`. The SDK's own retries are off: they would multiply with
    ours, nine requests on a steady 429.
    """

    api_key: SecretStr
    request_id: str
    base_url: str = OPENAI
    """Always said: else the SDK would take another from the environment."""
    breaker: Breaker = field(default_factory=Breaker)
    _chats: dict[tuple[str, bool], ChatOpenAI] = field(default_factory=dict, repr=False)

    def chat(self, model: str, *, temperature: bool = True) -> ChatOpenAI:
        """The client for a model; without temperature for models that refuse the parameter."""
        key = (model, temperature)
        if key not in self._chats:
            self._chats[key] = ChatOpenAI(
                model=model,
                temperature=0 if temperature else None,
                base_url=self.base_url,
                api_key=self.api_key,
                timeout=TIMEOUT,
                max_retries=0,
                default_headers=self._headers,
                use_responses_api=False,
            )
        return self._chats[key]

    @cached_property
    def embeddings(self) -> Embeddings:
        """The client for embedding models: the SDK's, as LangChain's hides what a call took."""
        client = openai.OpenAI(
            api_key=self.api_key.get_secret_value(),
            base_url=self.base_url,
            timeout=TIMEOUT,
            max_retries=0,
            default_headers=self._headers,
        )
        return client.embeddings

    @property
    def _headers(self) -> dict[str, str]:
        return {"X-Request-ID": self.request_id}
