"""The endpoint's clients."""

from dataclasses import dataclass, field

from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from openai import Timeout
from pydantic import SecretStr

CONNECT_SECONDS = 10.0
READ_SECONDS = 60.0


@dataclass
class Endpoint:
    """An OpenAI-compatible endpoint.

    Every request carries the run's id as `X-Request-ID`. The SDK's own retries are off: they would multiply with
    ours, nine requests on a steady 429.
    """

    api_key: SecretStr
    request_id: str
    base_url: str | None = None
    """None means OpenAI's."""
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
                timeout=Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
                max_retries=0,
                default_headers={"X-Request-ID": self.request_id},
                use_responses_api=False,
            )
        return self._chats[key]

    def embeddings(self, model: str) -> OpenAIEmbeddings:
        """The client for an embedding model. Token counting is off: it would download a table."""
        return OpenAIEmbeddings(
            model=model,
            openai_api_base=self.base_url,
            openai_api_key=self.api_key,
            check_embedding_ctx_length=False,
            request_timeout=READ_SECONDS,
            max_retries=2,
            default_headers={"X-Request-ID": self.request_id},
        )
