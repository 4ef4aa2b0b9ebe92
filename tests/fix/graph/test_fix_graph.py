"""The graph of the fix flow over fakes: from an issue to a proposal, an answer, and what follows."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import Runtime
from langgraph.types import Command

from testing import factories
from testing.fake_files import FakeFiles
from testing.fakes import FakeCodebase, FakeModel, fake_services
from triage.base.errors import CannotPublish, ModelUnavailable
from triage.domain.issue import Issue, Repository
from triage.domain.proposal import (
    Patch,
    PendingMutation,
    ProposalStatus,
    TextFile,
)
from triage.domain.report import RunReport
from triage.fix.graph.ask_model import CodeChanges, ModuleChoice, TestChanges, TicketClass
from triage.fix.graph.fix_graph import apply_changes, build_fix_graph, run_fix
from triage.fix.graph.fix_state import CheckVerdict, FixContext, FixState
from triage.fix.patch.apply_edits import EditAnswer, FileAnswer
from triage.graph.run_graph import run_graph

SOURCE, TEST = "src/parse.py", "tests/test_parse.py"
OLD = "def parse(text):\n    return int(text)\n"
FILES = {
    SOURCE: OLD,
    "web/page.py": "page = 1\n",
    TEST: "from parse import parse\n\n\ndef test_one():\n    assert parse('1') == 1\n",
    "tests/test_words.py": "def test_words():\n    assert 'a b'.split() == ['a', 'b']\n",
}


def edit(
    path: str = SOURCE, search: str = "int(text)", replace: str = "int(text.strip())", **changes: Any
) -> FileAnswer:
    known = {
        "file_path": path,
        "description": "Strips.",
        "is_new_file": False,
        "edits": [EditAnswer(search=search, replace=replace)],
        "new_content": None,
    }
    return FileAnswer(**known | changes)


def code_changes(*files: FileAnswer, **changes: Any) -> CodeChanges:
    known: dict[str, Any] = {
        "root_cause": "`parse` takes spaces for digits.",
        "summary": "Strip the text",
        "changes": list(files) or [edit()],
        "needs_to_see": [],
        "unverified": ["Other callers."],
        "error": None,
    }
    return CodeChanges(**known | changes)


def make_test_changes(*files: FileAnswer, reason: str | None = None, needs_to_see: Sequence[str] = ()) -> TestChanges:
    added = "def test_spaces():\n    assert parse(' 1') == 1\n"
    new = edit("tests/test_spaces.py", edits=[], is_new_file=True, new_content=f"from parse import parse\n\n\n{added}")
    tests = [] if reason or needs_to_see else list(files) or [new]
    return TestChanges(tests=tests, no_test_reason=reason, needs_to_see=list(needs_to_see), error=None)


def answers(**changes: Any) -> dict[str, Any]:
    known: dict[str, Any] = {
        "TicketClass": TicketClass(
            confirmed_type="Bug",
            technical_summary="parse fails on spaces",
            acceptance_criteria=["Spaces are ignored."],
            error=None,
        ),
        "ModuleChoice": ModuleChoice(
            affected_modules=["src/"],
            files_likely_to_change=[SOURCE],
            error=None,
        ),
        "CodeChanges": code_changes(),
        "TestChanges": make_test_changes(),
    }
    return known | changes


PENDING = PendingMutation(commit="c" * 40, branch="triage/7-fix")


@dataclass
class FakeBranch:
    """Records what it is asked to make."""

    created: list[PendingMutation] = field(default_factory=list)
    errors: dict[str, Exception] = field(default_factory=dict)

    def make_commits(self, patch: Patch) -> PendingMutation:
        if "make_commits" in self.errors:
            raise self.errors["make_commits"]
        return PENDING

    def create(self, pending: PendingMutation) -> None:
        if "create" in self.errors:
            raise self.errors["create"]
        self.created.append(pending)


def new_state() -> FixState:
    return FixState(issue=factories.issue(), repository=factories.repository())


@dataclass
class Fixing:
    """One run of the flow."""

    model: FakeModel | None
    branch: FakeBranch = field(default_factory=FakeBranch)
    said: list[object] = field(default_factory=list)
    """What the person answers, one after the other."""
    shown: list[FixState] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    checks: list[CheckVerdict] = field(default_factory=list)
    """What the project's check says, one after the other; the last one stays."""

    def build_context(self) -> FixContext:
        services = fake_services(codebase=FakeCodebase(FILES), model=self.model)

        async def triage(issue: Issue, repository: Repository) -> RunReport:
            rules = fake_services(codebase=FakeCodebase(FILES))
            return await run_graph(issue, repository, rules, asyncio.Event())

        known: dict[str, Any] = {
            "base_files": FakeFiles({path: TextFile(text=text) for path, text in FILES.items()}),
            "triage": triage,
            "branch": self.branch,
            "check": self._check if self.checks else None,
        }
        return FixContext(services, **known)

    async def run(self, state: FixState | None = None) -> FixState:
        ask = self._ask if self.said else None
        return await run_fix(state or new_state(), self.build_context(), asyncio.Event(), ask)

    async def _ask(self, state: FixState, question: str) -> object:
        self.shown.append(state)
        self.questions.append(question)
        return self.said.pop(0)

    def _check(self, patch: Patch) -> CheckVerdict:
        return self.checks.pop(0) if len(self.checks) > 1 else self.checks[0]

    def prompts(self, name: str) -> list[str]:
        assert self.model is not None
        return ["\n".join(message.text for message in prompt) for schema, prompt in self.model.asked if schema == name]


def get_patch(state: FixState) -> Patch:
    assert state.patch is not None
    return state.patch


async def test_without_anybody_to_ask_the_proposal_is_the_end() -> None:
    fixing = Fixing(FakeModel(answers()))
    state = await fixing.run()
    assert state.error is None
    assert state.status is ProposalStatus.AWAITING
    assert [file.path for file in get_patch(state).changes] == [SOURCE]
    assert get_patch(state).changes[0].text == OLD.replace("int(text)", "int(text.strip())")
    assert [file.path for file in get_patch(state).tests] == ["tests/test_spaces.py"]
    assert state.pending_mutation == PENDING
    assert fixing.branch.created == []
    assert "Proposed changes" in state.diff_summary
    assert [step.step for step in state.steps] == [
        "classify_ticket",
        "identify_modules",
        "generate_code_changes",
        "generate_tests",
    ]


async def test_a_report_of_a_vulnerability_gets_no_proposal() -> None:
    body = (
        "A remote attacker can execute arbitrary code by a crafted file. This is a security vulnerability, CVE pending."
    )
    issue = factories.issue(title="Security vulnerability: remote code execution", body=body)
    state = await Fixing(FakeModel(answers())).run(FixState(issue=issue, repository=factories.repository()))
    assert "not proposed in public" in str(state.error)


async def test_an_approval_is_carried_out_once() -> None:
    fixing = Fixing(FakeModel(answers()), said=[" Approve\n"])
    state = await fixing.run()
    assert fixing.branch.created == [PENDING]
    assert (state.status, state.human_approved) == (ProposalStatus.APPROVED, True)
    assert state.branch_name == "triage/7-fix"
    assert fixing.shown[0].diff_summary == state.diff_summary


async def test_words_reach_the_next_prompt_and_count() -> None:
    fixing = Fixing(FakeModel(answers()), said=["revise: use `lstrip`", "revise and keep the name", "approve"])
    state = await fixing.run()
    second, third = fixing.prompts("CodeChanges")[1:]
    assert "use `lstrip`" in second
    assert "+    return int(text.strip())" in second
    assert "use `lstrip`" in third
    assert "and keep the name" in third
    first_test, second_test, _ = fixing.prompts("TestChanges")
    assert "<<earlier version" not in first_test
    assert "+    assert parse(' 1') == 1" in second_test  # the test that the person saw
    assert state.iteration_count == 2
    assert (get_patch(state).revision, get_patch(state).revision_words) == (2, "and keep the name")
    assert fixing.branch.created == [PENDING]


async def test_words_after_the_last_revision_lose_nothing() -> None:
    words = [f"revise: {name}" for name in "abcd"]
    fixing = Fixing(FakeModel(answers()), said=[*words, "approve"])
    state = await fixing.run()
    assert (state.status, state.error, fixing.said) == (ProposalStatus.APPROVED, None, [])
    assert len(fixing.prompts("CodeChanges")) == 4
    assert [("last time" in question, "the limit" in question) for question in fixing.questions] == [
        *[(False, False)] * 2,
        (True, False),
        *[(False, True)] * 2,
    ]
    assert fixing.questions[-1].startswith("No further revision is possible. Answer approve, or reject")


async def test_an_unclear_answer_is_asked_again_and_costs_nothing() -> None:
    fixing = Fixing(FakeModel(answers()), said=["yes", "aprove", "approve"])
    state = await fixing.run()
    assert state.status is ProposalStatus.APPROVED
    assert len(fixing.prompts("CodeChanges")) == 1
    assert fixing.questions[2].startswith("'aprove' is none of the answers. Answer approve, reject")


async def test_a_rejection_keeps_its_words() -> None:
    fixing = Fixing(FakeModel(answers()), said=["reject: it hides the cause"])
    state = await fixing.run()
    assert (state.status, state.rejection_reason) == (ProposalStatus.REJECTED, "it hides the cause")
    assert fixing.branch.created == []
    assert len(fixing.prompts("CodeChanges")) == 1


async def test_what_the_model_wanted_to_change_is_shown_with_the_reason() -> None:
    blind = edit("tests/test_words.py", edits=[], is_new_file=True, new_content="def test_spaces(): ...\n")
    fixing = Fixing(
        FakeModel(
            answers(
                CodeChanges=[code_changes(edit("web/page.py", search="page = 2")), code_changes()],
                TestChanges=[make_test_changes(blind), make_test_changes()],
            )
        )
    )
    assert (await fixing.run()).status is ProposalStatus.AWAITING
    for name, path in (("CodeChanges", "web/page.py"), ("TestChanges", "tests/test_words.py")):
        first, second = fixing.prompts(name)
        assert f"## {path} (whole file)" not in first
        assert f"## {path} (whole file)" in second


async def test_after_two_corrections_it_is_abandoned_with_what_was_learned() -> None:
    fixing = Fixing(FakeModel(answers(CodeChanges=code_changes(edit(search="float(text)")))))
    state = await fixing.run()
    assert len(fixing.prompts("CodeChanges")) == 3
    assert state.status is ProposalStatus.NONE
    assert "`parse` takes spaces for digits." in str(state.error)


async def test_the_model_may_ask_for_more_code() -> None:
    look = code_changes(needs_to_see=["tests/test_parse.py"])
    look = look.model_copy(update={"changes": []})
    fixing = Fixing(FakeModel(answers(CodeChanges=[look, code_changes()])))
    state = await fixing.run()
    assert state.status is ProposalStatus.AWAITING
    assert "def test_one" in fixing.prompts("CodeChanges")[1]


async def test_the_step_that_writes_tests_may_look_as_well() -> None:
    look = make_test_changes(needs_to_see=["tests/test_words.py", "web/page.py"])
    fixing = Fixing(FakeModel(answers(TestChanges=[look, make_test_changes()])))
    state = await fixing.run()
    first, second = fixing.prompts("TestChanges")
    assert "page = 1" not in first
    assert "page = 1" in second
    assert "why it cannot be used" not in second
    assert get_patch(state).no_test_reason == ""


async def test_all_that_is_wrong_with_an_answer_goes_back_at_once() -> None:
    bad = [
        edit(search="float(text)"),
        edit("web/page.py", search="nowhere"),
        edit("src/new.py", edits=[], is_new_file=True, new_content="f(('https://evil.io/a')\n"),
    ]
    fixing = Fixing(FakeModel(answers(CodeChanges=[code_changes(*bad), code_changes()])))
    await fixing.run()
    second = fixing.prompts("CodeChanges")[1].partition("why it cannot be used")[2]
    for reason in (
        "Edit 1 of src/parse.py: the text does not occur",
        "web/page.py is outside the modules",
        "src/new.py has an address that was not there",
        "src/new.py would have 1 syntax errors",
    ):
        assert reason in second
    assert "Edit 1 of web/page.py" not in second, "it cannot be changed anyway"


async def test_a_model_that_declines_is_quoted() -> None:
    state = await Fixing(FakeModel(answers(CodeChanges=code_changes(error="The cause is in a dependency.")))).run()
    assert "The cause is in a dependency." in str(state.error)


async def test_small_steps_are_answered_by_rules_when_the_model_fails() -> None:
    prepared = answers(TicketClass=ModelUnavailable("timed out"), ModuleChoice=ModelUnavailable("timed out"))
    state = await Fixing(FakeModel(prepared)).run()
    assert state.status is ProposalStatus.AWAITING
    assert state.affected_modules == ["src/"]


@pytest.mark.parametrize(
    ("prepared", "reason"),
    [
        (make_test_changes(reason="It needs a display."), "It needs a display."),
        (ModelUnavailable("timed out"), "No test could be written: timed out."),
        (make_test_changes(edit(TEST, search="nowhere")), "The test could not be used"),
    ],
)
async def test_without_a_test_the_proposal_says_why(prepared: Any, reason: str) -> None:
    state = await Fixing(FakeModel(answers(TestChanges=prepared))).run()
    assert state.status is ProposalStatus.AWAITING
    assert get_patch(state).tests == []
    assert reason in get_patch(state).no_test_reason


async def test_a_test_that_changes_the_code_is_refused() -> None:
    fixing = Fixing(FakeModel(answers(TestChanges=[make_test_changes(edit(SOURCE, replace="0")), make_test_changes()])))
    state = await fixing.run()
    assert [file.path for file in get_patch(state).tests] == ["tests/test_spaces.py"]
    assert get_patch(state).changes[0].text == OLD.replace("int(text)", "int(text.strip())")


FAILS = CheckVerdict("It fails.", "AssertionError: boom", may_be_fixed=True)


async def test_a_check_that_goes_on_failing_is_said() -> None:
    fixing = Fixing(FakeModel(answers()), checks=[FAILS])
    state = await fixing.run()
    assert len(fixing.prompts("CodeChanges")) == 3
    assert (state.status, get_patch(state).checked) == (ProposalStatus.AWAITING, "It fails.")


async def test_a_check_that_fails_without_the_change_too_sends_nothing_back() -> None:
    fixing = Fixing(FakeModel(answers()), checks=[CheckVerdict("It says nothing.", "boom")])
    state = await fixing.run()
    assert len(fixing.prompts("CodeChanges")) == 1
    assert (get_patch(state).checked, state.check_output) == ("It says nothing.", "boom")


async def test_a_thread_that_is_resumed_twice_by_other_processes_carries_it_out_once() -> None:
    fixing, checkpoints = Fixing(FakeModel(answers())), InMemorySaver()
    context, thread = fixing.build_context(), RunnableConfig(configurable={"thread_id": "1"})
    paused = await build_fix_graph(checkpoints).ainvoke(new_state(), thread, context=context)
    (question,) = paused["__interrupt__"]
    assert question.value["pending_mutation"] == PENDING.model_dump()
    for _ in range(2):
        await build_fix_graph(checkpoints).ainvoke(Command(resume="approve"), thread, context=context)
        assert fixing.branch.created == [PENDING]


def test_no_edge_leads_around_the_gate() -> None:
    edges = [(edge.source, edge.target) for edge in build_fix_graph().get_graph().edges]
    assert {source for source, target in edges if target == "apply_changes"} == {"human_review_gate"}


async def test_what_changes_something_runs_only_after_a_yes() -> None:
    fixing = Fixing(FakeModel(answers()))
    state = new_state().model_copy(update={"pending_mutation": PENDING})
    with pytest.raises(AssertionError, match="nobody approved it"):
        await apply_changes(state, Runtime(context=fixing.build_context()))
    assert fixing.branch.created == []


@pytest.mark.parametrize("what", ["make_commits", "create"])
async def test_what_fails_is_said(what: str) -> None:
    fixing = Fixing(FakeModel(answers()), said=["approve"])
    fixing.branch.errors[what] = CannotPublish("It was refused.")
    state = await fixing.run()
    assert state.error == "It was refused."


async def test_a_run_that_is_cancelled_says_so() -> None:
    async def wait(_: object) -> CodeChanges:
        await asyncio.sleep(60)
        raise AssertionError

    cancelled = asyncio.Event()
    context = Fixing(FakeModel(answers(CodeChanges=wait))).build_context()
    running = asyncio.create_task(run_fix(new_state(), context, cancelled))
    await asyncio.sleep(0.2)
    cancelled.set()
    assert (await running).error == "The run was cancelled."
