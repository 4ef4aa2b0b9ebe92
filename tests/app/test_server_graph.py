"""The graph as a server runs it: services opened for each run, small input, the report as output."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from testing import factories
from testing.fakes import FakeCodebase, fake_services
from triage.agents.services import Services
from triage.app.server import build_server_graph
from triage.base.errors import BadInput
from triage.domain.report import RunReport
from triage.graph.routing import MAX_ROUNDS
from triage.graph.run_graph import compute_recursion_limit

SERVERS_LIMIT = 25
"""Of supersteps, if the client sets none (langgraph_api, utils/config.py)."""
ISSUE: dict[str, Any] = {"title": factories.issue().title, "body": factories.issue().body, "number": 7}
ASKED: dict[str, Any] = {"issue": ISSUE, "repository": {"slug": "octo/shop"}}


class FakeServer:
    """Opens services over fakes, and records what is asked and exported."""

    def __init__(self, **changes: Any) -> None:
        self.changes: dict[str, Any] = {"codebase": FakeCodebase(factories.FILES), **changes}
        self.opened: list[str] = []
        self.exported: list[RunReport] = []

    def open(self, repository: str) -> Services:
        self.opened.append(repository)
        if repository == "octo/none":
            raise BadInput("repository: this server has no checkout of it.")
        return fake_services(**self.changes)

    async def tell(self, report: RunReport, _: Services) -> None:
        self.exported.append(report)

    def graph(self) -> Any:
        """Untyped, as clients send JSON."""
        return build_server_graph(self.open, self.tell)


async def test_an_issue_goes_in_and_the_report_comes_out():
    server = FakeServer()
    report = (await server.graph().ainvoke(ASKED))["report"]
    assert report.repository == "octo/shop"
    assert report.issue.number == 7
    assert report.suspects[0].path == "src/parse.py"
    assert server.opened == ["octo/shop"]
    assert server.exported == [report]


async def test_what_is_refused_is_said_in_our_words_as_a_value_error():
    with pytest.raises(ValueError, match="no checkout of it"):
        await FakeServer().graph().ainvoke(ASKED | {"repository": {"slug": "octo/none"}})


@pytest.mark.parametrize("issue", [None, {}, {"title": 5}])
async def test_what_is_no_issue_opens_nothing(issue: Any):
    server = FakeServer()
    with pytest.raises(ValueError, match="issue"):
        await server.graph().ainvoke(ASKED | {"issue": issue})
    assert server.opened == []


@pytest.mark.parametrize("end", [[], ["finish"], ["investigator"], ["read_and_index", "fetch_past_issues"]], ids=str)
async def test_a_thread_is_for_one_run_wherever_the_first_one_ended(end: list[str]):
    server, saver = FakeServer(), InMemorySaver()
    thread: Any = {"configurable": {"thread_id": "1"}}
    await server.graph().copy({"checkpointer": saver, "interrupt_after_nodes": end}).ainvoke(ASKED, thread)
    with pytest.raises(ValueError, match="new thread"):
        await server.graph().copy({"checkpointer": saver}).ainvoke(ASKED, thread)
    assert len(server.opened) == 1


async def test_what_only_the_graph_writes_no_client_sends():
    clean = await FakeServer().graph().ainvoke(ASKED)
    sent = {"iterations": 99, "steps": [{"no": "step"}], "report": 5, "index": None, "what": "ever"}
    answer = await FakeServer().graph().ainvoke(ASKED | sent)
    assert (answer["iterations"], len(answer["steps"])) == (clean["iterations"], len(clean["steps"]))


async def test_a_run_goes_on_after_the_server_was_started_anew():
    indexed: list[bool] = []
    server = FakeServer(codebase=FakeCodebase(factories.FILES, on_index=lambda: indexed.append(True)))
    saver = InMemorySaver()
    thread: Any = {"configurable": {"thread_id": "1"}}
    before = server.graph().copy({"checkpointer": saver, "interrupt_after_nodes": ["investigator"]})
    assert "report" not in await before.ainvoke(ASKED, thread)
    answer = await server.graph().copy({"checkpointer": saver}).ainvoke(None, thread)
    assert answer["report"].suspects[0].path == "src/parse.py"
    assert server.opened == ["octo/shop", "octo/shop"]
    assert indexed == [True, True], "the index is in no checkpoint"


def test_a_run_of_all_rounds_fits_into_the_servers_limit():
    assert compute_recursion_limit(2 + 2 * MAX_ROUNDS) <= SERVERS_LIMIT
