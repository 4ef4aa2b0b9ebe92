"""The fix flow on LangGraph Server: each request by a graph of its own, as after a restart, over one store of threads."""

import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from testing import factories
from testing.checkouts.git_repositories import ENVIRONMENT, commit, git
from testing.fakes import FakeCodebase, FakeModel, fake_services
from tests.fix.graph.test_fix_graph import FILES, SOURCE, answers
from triage.agents.services import Services
from triage.app.server import RequestRefused
from triage.base.errors import BadInput
from triage.fix import fix_server
from triage.fix.base_files import open_base_files
from triage.fix.fix_server import ONE_ISSUE, build_server_graph
from triage.fix.graph.fix_graph import build_checkpointer
from triage.fix.local_branch import LocalBranch
from triage.git.write import UserRepository

ISSUE = factories.issue(number=7).model_dump(mode="json")
ASKED: dict[str, Any] = {"issue": ISSUE, "repository": {"slug": "octo/shop"}, "change_request": "Strip it"}


class FixServer:
    """The server's checkout, its threads, and a model."""

    def __init__(self, folder: Path) -> None:
        commit(folder, FILES)
        self.folder, self.threads = folder, build_checkpointer()
        self.model = FakeModel(factories.answers() | answers())
        self.opened: list[tuple[str, str]] = []

    def open(self, repository: str, base: str) -> tuple[Services, LocalBranch]:
        self.opened.append((repository, base))
        if repository == "octo/none":
            raise BadInput("repository: this server has no such checkout.")
        branch = LocalBranch(open_base_files(self.folder, base), UserRepository(self.folder, ENVIRONMENT))
        return fake_services(codebase=FakeCodebase(FILES), model=self.model), branch

    async def send(self, given: Any, thread: str = "1") -> dict[str, Any]:
        graph: Any = build_server_graph(self.open).copy({"checkpointer": self.threads})
        answer: dict[str, Any] = await graph.ainvoke(given, {"configurable": {"thread_id": thread}})
        return answer

    def branches(self) -> str:
        return git(self.folder, "branch", "--format=%(refname:short)", "--list", "triage/*")


@pytest.fixture
def server(tmp_path: Path) -> FixServer:
    return FixServer(tmp_path)


def shown(answer: dict[str, Any]) -> dict[str, Any]:
    """What a person sees at the interrupt. A server sends it as JSON."""
    value: dict[str, Any] = json.loads(json.dumps(answer["__interrupt__"][0].value))
    return value


async def test_a_person_sees_the_diff_and_what_they_approve_is_a_branch(server: FixServer) -> None:
    question = shown(await server.send(ASKED))
    assert "+    return int(text.strip())" in question["diff"]
    assert question["checks"] == {"checked": "", "output": ""}
    assert question["prompt"].startswith("Answer approve, reject: why, or revise")
    assert server.branches() == ""
    done = await server.send(Command(resume="approve"))
    assert (done["status"], done.get("error")) == ("approved", None)
    assert server.branches() == done["branch_name"] != ""
    assert "int(text.strip())" in git(server.folder, "show", f"{done['branch_name']}:{SOURCE}")
    base = git(server.folder, "rev-parse", "HEAD")
    assert server.opened == [("octo/shop", "HEAD"), ("octo/shop", base)]


async def test_a_revision_is_asked_about_again_and_a_rejection_leaves_no_branch(server: FixServer) -> None:
    await server.send(ASKED)
    question = shown(await server.send(Command(resume="revise: handle tabs too")))
    assert "+    return int(text.strip())" in question["diff"]
    prompts = [str(prompt) for name, prompt in server.model.asked if name == "CodeChanges"]
    assert "handle tabs too" not in prompts[0]
    assert "handle tabs too" in prompts[1]
    done = await server.send(Command(resume="reject: not needed"))
    assert (done["status"], done["rejection_reason"]) == ("rejected", "not needed")
    assert server.branches() == ""


async def test_no_client_sends_a_commit_that_nobody_has_seen(server: FixServer) -> None:
    pending = {"commit": git(server.folder, "rev-parse", "HEAD"), "branch": "triage/7-x"}
    question = shown(await server.send(ASKED | {"pending_mutation": pending}))
    assert question["pending_mutation"]["commit"] != pending["commit"]


async def test_a_thread_is_for_one_issue(server: FixServer) -> None:
    await server.send(ASKED)
    with pytest.raises(RequestRefused, match=ONE_ISSUE):
        await server.send({"issue": ISSUE | {"number": 8}})


async def test_what_cannot_be_opened_is_said_in_our_words(server: FixServer) -> None:
    with pytest.raises(ValueError, match="no such checkout"):
        await server.send(ASKED | {"repository": {"slug": "octo/none"}})


def test_the_server_finds_it_beside_the_triage() -> None:
    graphs = json.loads(Path(__file__).parents[2].joinpath("langgraph.json").read_text())["graphs"]
    assert graphs["fix"] == "./triage/fix/fix_server.py:graph"
    assert "human_review_gate" in fix_server.graph({}).get_graph().nodes
