"""What a client of the server can follow: real requests to an endpoint that streams, if it is asked to."""

import json
from pathlib import Path
from typing import Any

import pytest

from testing.apps import make_app
from testing.checkouts.git_repositories import commit
from testing.fakes import FakeProgressLog, fake_services
from testing.runs import sample_bug
from testing.runs.external_services import ExternalServices
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, serve_script, stream_completion
from tests.comment.sample_reports import FULL
from triage.app.settings import Settings
from triage.domain.issue import Repository
from triage.domain.report import RunReport
from triage.graph.server_graph import ServerGraph, build_server_graph, write_events
from triage.ports import Services

ASKED: Any = {"issue_title": sample_bug.TITLE, "issue_body": sample_bug.BODY, "issue_number": 7}
WRITTEN = "`basket.py` does not know the price of a fruit."
"""What the model writes for the comment."""


class Server:
    """The graph with wired services over a model endpoint."""

    def __init__(self, folder: Path, *, knows_usage: bool = True) -> None:
        self.folder, self.knows_usage = folder, knows_usage
        self.requests: list[ReceivedRequest] = []
        self.reports: list[RunReport] = []
        self._services = ExternalServices(sample_bug.TITLE, sample_bug.BODY)

    def reply(self, request: ReceivedRequest) -> ScriptedReply:
        self.requests.append(request)
        return stream_completion(self._services.reply(request), request, knows_usage=self.knows_usage)

    def graph(self, url: str) -> ServerGraph:
        def open_services(_: str) -> tuple[Repository, Services]:
            settings = Settings(model_api_key="sk-test", model_base_url=f"{url}/v1")
            return Repository(slug="octo/shop"), make_app(settings, self.folder, "octo/shop").open_services()

        async def keep(report: RunReport, _: Services) -> None:
            self.reports.append(report)

        return build_server_graph(open_services, keep)

    async def follow(self, *modes: Any) -> list[tuple[str, Any]]:
        """Returns the stream of a run in these modes."""
        with serve_script(self.reply) as endpoint:
            graph: Any = self.graph(endpoint.url)
            return [event async for event in graph.astream(ASKED, stream_mode=list(modes))]

    async def trace(self) -> str:
        """Returns LangChain's events of a run, as the mode `events` of LangGraph Server sends them."""
        with serve_script(self.reply) as endpoint:
            events = [event async for event in self.graph(endpoint.url).astream_events(ASKED, version="v2")]
        return "\n".join(f"{event['event']} {event['name']}" for event in events)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sample_bug.write_plain_checkout(tmp_path)
    commit(tmp_path)
    return tmp_path


@pytest.mark.parametrize("knows_usage", [True, False])
async def test_a_client_that_follows_messages_sees_none_and_changes_no_count(folder: Path, knows_usage: bool):
    plain, followed = Server(folder, knows_usage=knows_usage), Server(folder, knows_usage=knows_usage)
    await plain.follow("updates")
    events = await followed.follow("messages", "updates")
    assert {mode for mode, _ in events} == {"updates"}
    assert followed.reports[0].usage.tokens == plain.reports[0].usage.tokens > 0
    assert not any(call.estimated for step in followed.reports[0].steps for call in step.calls)
    assert not any(request.body.get("stream") for request in followed.requests)


async def test_events_name_nodes_and_no_request_to_a_model(folder: Path):
    traced = await Server(folder).trace()
    assert "on_chain_end writer" in traced
    assert "model" not in traced
    assert "gpt" not in traced


async def test_custom_events_are_steps_and_then_the_texts_of_the_report(folder: Path):
    server = Server(folder)
    events = [event for _, event in await server.follow("custom")]
    steps = [event for event in events if "step" in event]
    assert [event["step"] for event in steps] == ["prepare", "investigator", "codebase_search", "critic", "writer"]
    assert {key for event in steps for key in event} == {
        *("step", "round", "engine", "outcome", "seconds"),
        *("tokens", "usd", "tools"),
    }
    assert sum(event["tokens"] for event in steps) == server.reports[0].usage.tokens > 0
    texts = {event["section"]: event["text"] for event in events[len(steps) :]}
    assert {"summary", "root_cause"} <= texts.keys()
    assert WRITTEN in texts["why"]
    json.dumps(events)


def test_a_client_that_breaks_ends_no_run():
    def write(event: Any) -> None:
        raise ConnectionError("gone")

    progress = FakeProgressLog()
    write_events(write, {"report": FULL}, fake_services(progress=progress))
    assert progress.lines == ["An event could not be streamed: ConnectionError."]


async def test_texts_of_the_stream_are_inert_and_without_secrets(folder: Path):
    server, reply = Server(folder), Server(folder).reply
    key = "gh" + "p_" + "a1" * 18

    def write_too_much(request: ReceivedRequest) -> ScriptedReply:
        answered = reply(request)
        text = json.dumps(answered.body).replace(WRITTEN, f"{key} basket @everyone <img src=x onerror=y>")
        return ScriptedReply(json.loads(text))

    server.reply = write_too_much  # type: ignore[method-assign]
    (text,) = [event["text"] for _, event in await server.follow("custom") if event.get("section") == "why"]
    assert key not in text
    assert "<img" not in text
    assert "`@everyone`" in text, "a name in code notifies nobody"
