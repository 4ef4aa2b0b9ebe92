"""All services of a run on loopback: GitHub, a model with embeddings, and a web search, with one list of requests."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from testing import factories
from testing.runs import sample_bug
from testing.runs.job import Job
from testing.servers.github_api import ApiFault, ApiRequest, GitHubApi, serve_issue
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion
from testing.servers.scripted_server import serve_script as endpoint_serving
from triage.domain.findings import CitedPlace

HANG_SECONDS = 3600.0
"""A server that hangs is released at the end of the test."""


@dataclass(frozen=True)
class TimedRequest:
    """One request, with its time by `time.monotonic`."""

    at: float
    what: str
    """Text such as `POST /repos/octo/shop/issues/7/comments`, `model TicketDraft`, `search`."""

    @property
    def is_publishing(self) -> bool:
        """Whether it writes to the issue, or reads it before writing."""
        return "/issues/" in self.what


@dataclass
class ExternalServices:
    """Common state of the servers: their requests and delays."""

    github: GitHubApi
    url: str = ""
    """Of the model, the embeddings and the search."""
    requests: list[TimedRequest] = field(default_factory=list)
    request_bodies: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Requests to models, embeddings and search."""
    on_request: Callable[[int, str], None] = lambda number, what: None
    """Called with the number of each request, from 1 on, before the response."""
    delay_for: Callable[[int, str], float] = lambda number, what: 0.0
    """Seconds before the response to a request."""

    def __post_init__(self) -> None:
        self.github.on_request = self.delay_github

    def record_request(self, what: str) -> float:
        """Records a request and returns the seconds until its response."""
        self.requests.append(TimedRequest(time.monotonic(), what))
        number = len(self.requests)
        self.on_request(number, what)
        return self.delay_for(number, what)

    def delay_github(self, asked: ApiRequest) -> ApiFault | None:
        """Waits before an answer of GitHub; without one at the end of the test."""
        return ApiFault("") if self.github.released.wait(self.record_request(asked.line)) else None

    def reply(self, request: ReceivedRequest) -> ScriptedReply:
        """Answers for the model, the embeddings or the search."""
        what, reply = default_reply(request)
        self.request_bodies.append((what, request.body))
        return ScriptedReply(reply.body, delay_seconds=self.record_request(what))


def default_reply(request: ReceivedRequest) -> tuple[str, ScriptedReply]:
    """Returns a name of the request and the default reply."""
    if request.path.endswith("/search"):
        page = {"title": "Empty baskets", "url": "https://docs.example.com/baskets", "content": "KeyError: 'pear'"}
        return "search", ScriptedReply({"results": [page]})
    if request.path.endswith("/embeddings"):
        texts = request.body["input"]
        vectors = [{"object": "embedding", "index": i, "embedding": [1.0, i + 1.0]} for i in range(len(texts))]
        return "embeddings", ScriptedReply({"object": "list", "data": vectors, "model": "m", "usage": {}})
    shape = request.body.get("response_format", {})
    if shape.get("type") == "json_schema":
        name = shape["json_schema"]["name"]
        return f"model {name}", chat_completion(MODEL_ANSWERS[name].model_dump_json())
    tools = [tool["function"]["name"] for tool in request.body.get("tools", [])]
    if "read_lines" in tools:
        return "model look up", chat_completion("I have seen enough.")
    if "tavily_search" in tools:
        call = ("tavily_search", '{"query": "KeyError pear"}')
        return "model choose", chat_completion(tool_calls=[call], finish_reason="tool_calls")
    return "model words", chat_completion("It is a schema in the prompt that is answered.")


MODEL_ANSWERS: dict[str, Any] = {
    "InvestigatorFinding": factories.investigation(),
    "CodebaseFinding": factories.codebase(
        places=[CitedPlace(cite="1:5-6", reason="looks the price up")],
        why="`Basket.total` does not know the price of a fruit [1:6].",
        # So that a critic is asked.
        confidence=0.6,
    ),
    "WebSearchFinding": factories.web(relevant_results=[]),
    "CritiqueFinding": factories.critique(),
    "TicketDraft": factories.ticket(title="Empty basket"),
}
"""Answers of the model by requested schema."""


@contextmanager
def serve_all(folder: Path, *, with_model: bool = True) -> Iterator[tuple[ExternalServices, Job]]:
    """Yields the servers, and a job that uses a model, embeddings and a search, or none of them."""
    with serve_issue(sample_bug.TITLE, sample_bug.BODY) as github:
        services = ExternalServices(github)
        with endpoint_serving(services.reply) as endpoint:
            services.url = endpoint.url
            job = Job(folder, github)
            if with_model:
                job.inputs |= {
                    "engine": "model",
                    "model-api-key": "sk-" + "y2" * 20,
                    "model-base-url": f"{endpoint.url}/v1",
                    "embedding-model": "text-embedding-3-small",
                    "tavily-api-key": "tvly-" + "z3" * 16,
                }
                job.variables["TAVILY_BASE_URL"] = endpoint.url
            sample_bug.commit_plain_checkout(job.workspace)
            yield services, job


def find_session_processes(session: int) -> list[str]:
    """Returns the command lines of the processes of a session."""
    found: list[str] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(after_name[3]) == session and after_name[0] != "Z":
                found.append((stat.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found
