"""A model and embeddings that ask a server of the tests."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from pydantic import BaseModel, SecretStr

from testing.fakes import NOW
from testing.servers.scripted_server import ScriptedServer as Server
from triage.base.progress import MeasuredStep, measure_step
from triage.domain.project_config import Price
from triage.domain.run import Limits, Tier
from triage.outside.model.budget import Budget
from triage.outside.model.chat_model import ChatModel
from triage.outside.model.embeddings import MeteredEmbeddings
from triage.outside.model.endpoint import Endpoint, RetryPolicy


class Colour(BaseModel):
    name: str
    depth: int


GREEN = '{"name": "green", "depth": 3}'


@dataclass
class ModelSetup:
    """Model and embeddings of one run, as the wiring builds them. Waits are recorded instead of made."""

    server: Server
    limits: Limits = field(default_factory=Limits)
    prices: Mapping[str, Price] = field(default_factory=dict)
    main: str = "gpt-4o"
    fast: str = "gpt-4o-mini"
    fallback: str = "gpt-4o-mini"
    waited: list[float] = field(default_factory=list)
    sleep: Callable[[float], Awaitable[None]] | None = None
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        async def record_wait(seconds: float) -> None:
            self.waited.append(seconds)

        self.endpoint = Endpoint(SecretStr("sk-test"), "run-7", f"{self.server.url}/v1")
        self.budget = Budget(self.limits, self.prices, self.clock, lambda: NOW)
        self.retry = RetryPolicy(self.clock, self.sleep or record_wait, self.waited.append)
        models: dict[Tier, str] = {"main": self.main, "fast": self.fast}
        self.model = ChatModel(self.endpoint, models, self.fallback, self.budget, self.retry)

    def embeddings(self, model: str = "text-embedding-3-small") -> MeteredEmbeddings:
        return MeteredEmbeddings(self.endpoint, model, self.budget, self.retry)


async def colour(model: ChatModel, prompt: str = "Which colour?") -> Colour:
    answer: Colour = await model.structured_output(Colour, "main", 50).ainvoke(prompt)
    return answer


def measure(seconds: float) -> AbstractContextManager[MeasuredStep]:
    return measure_step(time.monotonic() + seconds)


async def cancel_call(setup: ModelSetup) -> None:
    """Cancels a call as soon as the endpoint has the request, as the time limit of an agent does."""
    before = len(setup.server.requests)
    asking = asyncio.ensure_future(colour(setup.model))
    while len(setup.server.requests) == before:  # noqa: ASYNC110 - the server is a thread
        await asyncio.sleep(0.005)
    asking.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asking


def asked_models(server: Server) -> list[str]:
    return [request.body["model"] for request in server.requests]


def asked_modes(server: Server) -> list[str]:
    """The mode of each request."""
    asked = [request.body for request in server.requests]
    return ["tools" if "tools" in body else body.get("response_format", {}).get("type", "plain") for body in asked]
