"""What a client of the server can follow: real requests to an endpoint that streams, if it is asked to."""

from pathlib import Path
from typing import Any

import pytest

from testing.apps import make_app
from testing.runs import sample_bug
from testing.runs.external_services import ExternalServices
from testing.servers.github_api import GitHubApi
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, serve_script, stream_completion
from triage.agents.services import Services
from triage.app.server import build_server_graph
from triage.app.settings.inputs import Settings
from triage.domain.report import RunReport

ASKED: Any = {
    "issue": {"title": sample_bug.TITLE, "body": sample_bug.BODY, "number": 7},
    "repository": {"slug": "octo/shop"},
}


class Server:
    """The graph with wired services over a model endpoint."""

    def __init__(self, folder: Path, *, knows_usage: bool = True) -> None:
        self.folder, self.knows_usage = folder, knows_usage
        self.requests: list[ReceivedRequest] = []
        self.reports: list[RunReport] = []
        self._services = ExternalServices(GitHubApi())

    def reply(self, request: ReceivedRequest) -> ScriptedReply:
        self.requests.append(request)
        return stream_completion(self._services.reply(request), request, knows_usage=self.knows_usage)

    def graph(self, url: str) -> Any:
        def open_services(_: str) -> Services:
            settings = Settings(model_api_key="sk-test", model_base_url=f"{url}/v1")
            return make_app(settings, self.folder, "octo/shop").open_services()

        async def keep(report: RunReport, _: Services) -> None:
            self.reports.append(report)

        return build_server_graph(open_services, keep)

    async def follow(self, *modes: Any) -> list[tuple[str, Any]]:
        """Returns the stream of a run in these modes."""
        with serve_script(self.reply) as endpoint:
            graph: Any = self.graph(endpoint.url)
            return [event async for event in graph.astream(ASKED, stream_mode=list(modes))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    sample_bug.commit_plain_checkout(tmp_path)
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
