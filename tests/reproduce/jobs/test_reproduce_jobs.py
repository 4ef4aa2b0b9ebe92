"""The jobs over fakes: whom they admit, what they say, and what they believe of the file of the job before."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing import factories
from testing.comment_parts import CommentParts, join_comment, split_comment
from testing.fakes import NOW
from tests.reproduce.runs import CODE, MAIN, failed, pages, passed, selection, target
from tests.run.run_harness import RunHarness, our_comment
from triage.base.errors import BadInput, CannotPublish, GitHubUnavailable, IssueMoved, WrongUsage
from triage.domain.effect import Policy
from triage.domain.issue import Issue, IssueComment
from triage.domain.project_config import ProjectConfig
from triage.domain.run import Status
from triage.domain.task import ReproduceTask, RunKey, Trigger
from triage.reproduce.evidence import Change, Evidence, Execution, FailurePlace, Selection, Target
from triage.reproduce.jobs.execute_job import MAX_SECONDS
from triage.reproduce.jobs.handover import Order, Orders, dump_results, parse_orders
from triage.reproduce.jobs.reproduce_job import ReproduceJob
from triage.reproduce.jobs.run_reproduce_job import run_reproduce_job
from triage.reproduce.pages import Pages
from triage.reproduce.project_checkout import NothingToRun
from triage.reproduce.verdict import choose_measure, decide_verdict, summarize
from triage.run.may_run.event import Event
from triage.run.may_run.route import parse_command
from triage.safety.active_content import find_active_content
from triage.say.hidden_state import (
    CommentState,
    FailingLine,
    Reproduced,
    hash_example,
    parse_state,
    render_state,
)


def make_evidence(named: Execution, main: Execution) -> Evidence:
    chosen = selection()
    measure = choose_measure([named, main], chosen.expected)
    runs = [
        summarize(one.on, [run, run], chosen.expected, measure).model_copy(update={"commit": one.commit})
        for one, run in zip(chosen.targets, (named, main), strict=True)
    ]
    return Evidence(verdict=decide_verdict(chosen, runs, measure), measure=measure, runs=runs)


STILL = make_evidence(failed(), failed())
FIXED = make_evidence(failed(), passed())
NOT_REPRODUCED = make_evidence(passed(), passed())
OTHER = make_evidence(passed(), failed("TypeError: no"))


@dataclass
class ReproduceHarness(RunHarness):
    files: dict[str, bytes] = field(default_factory=dict)
    actor: str = "maintainer"
    words: str = ""
    found: Evidence = STILL
    chosen: Selection = field(default_factory=selection)
    asked: list[tuple[Issue, Sequence[str], str]] = field(default_factory=list)
    problem: Exception | None = None
    digest: str = ""
    seconds: list[float] = field(default_factory=list)
    reproduced: list[int] = field(default_factory=lambda: [9, 7])
    before_edit: Callable[[], None] = lambda: None
    config: ProjectConfig = field(default_factory=ProjectConfig)

    def __post_init__(self) -> None:
        self.github.roles["maintainer"] = "triage"
        self.command()

    def command(self, *before: IssueComment, **changes: Any) -> None:
        said = IssueComment(author=self.actor, body="/triage reproduce", comment_id=77, created_at=NOW)
        self.set_thread(*before, said, **changes)
        self.event = Event(issue=factories.issue(**{"snapshot_time": NOW, **changes}), comment=said)

    def job(self) -> ReproduceJob:
        run = self.build_context()
        object.__setattr__(run, "config", self.config)
        return ReproduceJob(
            context=run,
            select=self.select,
            list_reproduced=lambda: self.reproduced,
            execute=self.execute,
            open_pages=self.open_pages,
            read_file=self.files.get,
            write_file=self.write,
            selection_sha256=self.digest,
        )

    def open_pages(self) -> Pages:
        self.before_edit()
        return pages()

    def select(self, issue: Issue, on: Sequence[str], own: str) -> Selection:
        self.asked.append((issue, on, own))
        if self.problem:
            raise self.problem
        return self.chosen

    def execute(self, chosen: Selection, seconds: float, bisect: Callable[[Evidence], bool]) -> Iterator[Evidence]:
        self.seconds.append(seconds)
        yield self.found
        if bisect(self.found):
            yield self.found.model_copy(update={"first_bad": Change(release="2.4.0", before="2.3.0")})

    def write(self, name: str, text: str) -> str:
        self.files[name] = text.encode()
        if name == "selection.json":
            self.digest = sha256(self.files[name]).hexdigest()
        return f".triage/{name}"

    def run_job(self, stage: str) -> Status:
        trigger = Trigger.COMMAND if self.actor else Trigger.OPENED
        task = ReproduceTask(number=7, trigger=trigger, actor=self.actor, words=self.words)
        return asyncio.run(run_reproduce_job(f"reproduce-{stage}", task, self.job()))

    def run_all(self) -> str:
        self.run_job("select")
        if self.output.values["next-job"] == "run":
            self.run_job("run")
        self.run_job("report")
        return self.parts.reply or self.parts.reproduction

    @property
    def parts(self) -> CommentParts:
        bodies = [body for _, body in self.github.posted] + [body for _, body in self.github.edited]
        return split_comment(bodies[-1]) if bodies else CommentParts("", "")

    @property
    def state(self) -> CommentState:
        """What the comment remembers, but for where its parts stand."""
        return (parse_state(self.parts.state_line) or CommentState()).model_copy(update={"parts": []})

    @property
    def known(self) -> Reproduced:
        assert self.state.reproduced is not None
        return self.state.reproduced


class TestWhoMay:
    @pytest.mark.parametrize("role", ["read", "none"])
    def test_nobody_else_is_answered(self, role: str) -> None:
        harness = ReproduceHarness()
        harness.github.roles["maintainer"] = role
        assert harness.run_job("select") is Status.SKIPPED
        assert harness.run_job("report") is Status.SKIPPED
        assert (harness.files, harness.asked, harness.writes) == ({}, [], 0)

    def test_the_author_of_an_issue_with_the_opt_in_label_may(self) -> None:
        harness = ReproduceHarness(actor="reporter", config=ProjectConfig(opt_in_label="Run it"))
        harness.run_job("select")
        assert harness.output.values["next-job"] == ""
        harness.command(author="reporter", labels=["run it"])
        harness.run_job("select")
        assert harness.output.values["next-job"] == "run"
        harness.actor = "stranger"
        harness.output.values["next-job"] = ""
        harness.run_job("select")
        assert harness.output.values["next-job"] == ""

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"locked": True}, "The issue is locked."),
            ({"labels": ["no-triage"]}, "The issue carries the project's opt-out label."),
            ({"labels": []}, "The issue does not carry the project's opt-in label."),
        ],
    )
    def test_what_is_skipped(self, changes: dict[str, Any], reason: str) -> None:
        harness = ReproduceHarness(actor="", config=ProjectConfig(opt_in_label="triage", opt_out_label="no-triage"))
        harness.command(**changes)
        assert harness.run_job("select") is harness.run_job("report") is Status.SKIPPED
        assert reason in harness.output.summaries[-1]
        assert (harness.asked, harness.writes) == ([], 0)

    def test_a_security_report_is_refused(self) -> None:
        harness = ReproduceHarness()
        harness.command(title="Security vulnerability: remote code execution")
        assert "it may be a security report" in harness.run_all()
        assert harness.output.values["next-job"] == ""
        assert harness.asked == []


class TestLimit:
    """Commands count toward the same three a day and issue as those of a triage."""

    def invite(self, *earlier: IssueComment, number: int = 77, runs: Sequence[int] = ()) -> ReproduceHarness:
        harness = ReproduceHarness(actor="mona", config=ProjectConfig(opt_in_label="triage"))
        said = IssueComment(author="mona", body="/triage reproduce", comment_id=number, created_at=NOW)
        keys = [f"{int(NOW.timestamp())}.{one}" for one in runs]
        ours = [our_comment(join_comment(CommentParts(render_state(CommentState(runs=keys)), "")))] if runs else []
        harness.set_thread(*ours, *earlier, said, author="mona", labels=["triage"])
        issue = harness.github.issues[7].model_copy(update={"thread": [], "snapshot_time": NOW})
        harness.event = Event(issue=issue, comment=said)
        return harness

    def write(self, body: str, number: int, author: str = "mona") -> IssueComment:
        return IssueComment(author=author, body=body, comment_id=number, created_at=NOW)

    def test_of_eight_commands_three_are_run(self) -> None:
        thread, tasks = list[IssueComment](), list[str]()
        for number in range(101, 109):
            harness = self.invite(*thread, number=number)
            harness.run_job("select")
            tasks.append(harness.output.values["next-job"])
            thread.append(self.write("/triage reproduce", number))
        assert tasks == ["run"] * 3 + [""] * 5

    def test_a_command_that_was_deleted_while_it_ran_is_remembered(self) -> None:
        harness = self.invite(runs=[1, 2])
        harness.run_job("select")
        harness.run_job("run")
        harness.set_thread(*harness.github.issues[7].thread[:-1], author="mona", labels=["triage"])
        harness.run_job("report")
        assert "the comment with the command is not there" in harness.parts.reply
        assert [key.comment_id for key in harness.state.past_runs] == [1, 2, 77]
        again = self.invite(number=78, runs=[1, 2, 77])
        assert again.run_job("select") is Status.SKIPPED


class TestWhatIsRun:
    @pytest.mark.parametrize(
        ("words", "on"),
        [
            ("on 2.4.1", ["2.4.1"]),
            ("on v1, main", ["v1", "main"]),
            ("on 1!2.0,1.0.0-1 , release/3", ["1!2.0", "1.0.0-1", "release/3"]),
            ("", []),
        ],
    )
    def test_versions(self, words: str, on: list[str]) -> None:
        harness = ReproduceHarness(words=words)
        harness.run_job("select")
        assert harness.asked[0][1:] == (on, "")

    @pytest.mark.parametrize(
        "words", ["2.4.1", "please", "on $(id)", "on v1~3", "on 2.4.1 please", "on 1, 2, 3, 4", "on 1,", "on"]
    )
    def test_words_that_are_not_understood_are_answered_with_the_form(self, words: str) -> None:
        harness = ReproduceHarness(words=f"{words}\n```python\nimport shop\n```")
        assert harness.run_all().startswith("**Nothing was run:** after `/triage reproduce` stands nothing, or `on ")
        assert harness.asked == []

    @pytest.mark.parametrize("words", ["", " on 2.4.1"])
    def test_a_block_below_the_command_is_run_instead_of_the_report(self, words: str) -> None:
        command = parse_command(f"/triage reproduce{words}\n```python\nimport shop\n```\n")
        assert command is not None
        harness = ReproduceHarness(words=command.words)
        assert "The example from the command" in harness.run_all()
        ((report, _, own),) = harness.asked
        assert (report.body, own) == (factories.issue().body, "```python\nimport shop\n```")

    def test_the_text_is_that_of_the_event(self) -> None:
        harness = ReproduceHarness()
        harness.github.issues[7] = harness.github.issues[7].model_copy(update={"body": "edited since"})
        harness.run_job("select")
        assert harness.asked[0][0].body == factories.issue().body


class TestMachineTime:
    def open_issue(self, recent: Sequence[int] = ()) -> ReproduceHarness:
        harness = ReproduceHarness(actor="")
        harness.github.recent_issues = list(recent)
        return harness

    def test_the_search_is_for_those_who_may_command(self) -> None:
        assert "First release with it" in ReproduceHarness().run_all()
        opened = self.open_issue().run_all()
        assert "Still happens" in opened
        assert "First release with it" not in opened

    @pytest.mark.parametrize(("others", "task"), [(19, "run"), (20, "")])
    def test_opened_issues_beyond_twenty_a_day_are_not_run(self, others: int, task: str) -> None:
        harness = self.open_issue(range(100, 100 + others))
        harness.run_job("select")
        assert harness.output.values["next-job"] == task

    def test_issues_share_the_time_and_leave_what_they_do_not_need(self) -> None:
        harness = ReproduceHarness(actor="")
        orders = [Order(number=number, selection=selection()) for number in (7, 8, 9)]
        harness.write("selection.json", Orders(orders=orders).model_dump_json())
        asyncio.run(run_reproduce_job("reproduce-run", ReproduceTask(), harness.job()))
        assert harness.seconds == pytest.approx([MAX_SECONDS / 3, MAX_SECONDS / 2, MAX_SECONDS], rel=0.01)


class TestReport:
    def test_what_others_wrote_into_the_comment_meanwhile_stays(self) -> None:
        harness = ReproduceHarness(found=NOT_REPRODUCED)
        state = render_state(CommentState(text_hash="0" * 16))

        def triage() -> None:
            harness.set_thread(our_comment(join_comment(CommentParts(state, "The report of today."))))

        harness.command(our_comment(join_comment(CommentParts(state, "The report."))))
        harness.before_edit = triage
        harness.run_all()
        assert harness.parts.report == "The report of today."

    def test_what_the_comment_says_and_remembers(self) -> None:
        harness = ReproduceHarness()
        assert harness.run_all().startswith("**Still happens on `main` (`1a2b3c4`).**")
        assert harness.known == Reproduced(
            example=hash_example(CODE),
            fails=True,
            on="2.4.1",
            frame=FailingLine(path="src/shop/cart.py", line=12, function="total"),
            executed=["src/shop/cart.py"],
        )
        assert [key.comment_id for key in harness.state.past_runs] == [77]
        assert harness.github.reactions == [(77, "rocket")]

    @pytest.mark.parametrize("remembered", [None, Reproduced(example="0" * 16, fails=True, on="2.4.1")])
    def test_a_block_of_the_command_leaves_what_is_remembered_of_the_report(self, remembered: Any) -> None:
        harness = ReproduceHarness(words="\n```python\nimport shop\n```", found=NOT_REPRODUCED)
        state = CommentState(reproduced=remembered).with_run(RunKey(at=NOW, comment_id=77))
        harness.command(our_comment(join_comment(CommentParts(render_state(state), "The report."))))
        assert "The example from the command" in harness.run_all()
        assert harness.state == state

    @pytest.mark.parametrize(
        ("first", "on"),
        [
            (target("1.0.0-1"), "1.0.0-1"),
            (target("v2--<rc>"), ""),
            (target("3" * 40, "3" * 40), "3" * 40),
            (MAIN, ""),
        ],
    )
    def test_which_version_is_remembered(self, first: Target, on: str) -> None:
        runs = [STILL.runs[0].model_copy(update={"on": first.on, "commit": first.commit}), STILL.runs[1]]
        found = STILL.model_copy(update={"runs": runs})
        harness = ReproduceHarness(found=found, chosen=selection(targets=[first, MAIN]))
        harness.run_all()
        assert (harness.known.fails, harness.known.on) == (True, on)

    def test_everything_else_in_the_comment_stays(self) -> None:
        harness = ReproduceHarness(found=FIXED)
        state = CommentState(text_hash="0" * 16, suspects=["a.py"])
        before = CommentParts(render_state(state), "The report.", "A patch.", "An answer.")
        harness.command(our_comment(join_comment(before)))
        block = harness.run_all()
        after = harness.parts
        assert after._replace(state_line=before.state_line) == before._replace(reply="", reproduction=block)
        known = Reproduced(example=hash_example(CODE), fails=False, on="2.4.1", gone=True)
        expected = state.with_run(RunKey(at=NOW, comment_id=77)).model_copy(update={"reproduced": known})
        assert harness.state == expected

    def test_why_nothing_was_run_stands_below_an_earlier_result(self) -> None:
        harness = ReproduceHarness()
        before = "It still happens."
        harness.command(our_comment(join_comment(CommentParts(render_state(CommentState()), "", reproduction=before))))
        harness.problem = WrongUsage("There is no @octocat.")
        harness.run_all()
        assert harness.parts.reproduction == before
        assert harness.parts.reply == "**Nothing was run:** There is no `@octocat`."
        assert harness.github.reactions == [(77, "confused")]

    def test_a_job_that_failed(self) -> None:
        harness = ReproduceHarness()
        harness.run_job("select")
        harness.run_job("report")
        assert "has ended without a result" in harness.parts.reply

    def test_a_reporter_is_asked_in_their_language(self) -> None:
        harness = ReproduceHarness(found=make_evidence(passed(), passed()))
        harness.command(title="Fehler beim Summieren", body="Das Programm stürzt beim Summieren immer wieder ab. " * 4)
        assert "Hier läuft das Beispiel ohne diesen Fehler." in harness.run_all()

    @pytest.mark.parametrize("policy", [Policy(comment="never"), Policy(dry_run=True)])
    def test_nothing_is_written_where_nothing_may_be(self, policy: Policy) -> None:
        harness = ReproduceHarness(policy=policy)
        assert harness.run_all() == ""
        assert harness.writes == 0
        assert "Still happens" in harness.output.summaries[-1]

    @pytest.mark.parametrize(
        ("found", "is_said"), [(STILL, True), (make_evidence(passed("1"), failed("ImportError: x")), False)]
    )
    def test_on_an_opened_issue_only_what_is_worth_it_is_said(self, found: Evidence, is_said: bool) -> None:
        harness = ReproduceHarness(actor="", found=found)
        assert bool(harness.run_all()) is is_said
        assert any("The example" in page for page in harness.output.summaries)


class TestNextTriage:
    """What a run saw is remembered for the next triage. The report of the comment stays as it is."""

    def remember(self, found: Evidence) -> Reproduced:
        harness = ReproduceHarness(found=found)
        harness.command(our_comment(join_comment(CommentParts(render_state(CommentState()), "The report."))))
        harness.run_all()
        assert (harness.parts.report, harness.writes) == ("The report.", 1)
        return harness.known

    @pytest.mark.parametrize(
        ("found", "function"), [(STILL, "total"), (make_evidence(passed(), failed()), "total"), (OTHER, "")]
    )
    def test_what_fails_is_remembered_with_what_it_executes(self, found: Evidence, function: str) -> None:
        known = self.remember(found)
        assert known.executed == ["src/shop/cart.py"]
        assert (known.frame.function if known.frame else "") == function
        assert not known.gone

    @pytest.mark.parametrize(
        ("found", "gone"),
        [(FIXED, True), (NOT_REPRODUCED, False), (make_evidence(failed(executed=[]), failed(executed=[])), False)],
    )
    def test_what_does_not_fail_in_the_code_leads_nowhere(self, found: Evidence, *, gone: bool) -> None:
        known = self.remember(found)
        assert (known.executed_code, known.gone) == (None, gone)

    def test_on_a_quiet_issue_only_a_person_gets_an_answer(self) -> None:
        quiet = our_comment(join_comment(CommentParts(render_state(CommentState(quiet=True)), "The report.")))
        opened, asked = ReproduceHarness(actor=""), ReproduceHarness()
        for harness in (opened, asked):
            harness.command(quiet)
            harness.run_all()
        assert opened.writes == 0
        assert asked.parts.reproduction.startswith("**Still")
        assert asked.state.quiet


class TestAgain:
    REMEMBERED = Reproduced(example=hash_example(CODE), fails=True, on="2.4.1")

    def run_again(
        self, found: Evidence, remembered: Reproduced | None = REMEMBERED, **changes: Any
    ) -> ReproduceHarness:
        harness = ReproduceHarness(actor="", found=found, policy=changes.pop("policy", Policy(comment="always")))
        state = render_state(CommentState(reproduced=remembered, quiet=changes.pop("quiet", False)))
        ours = our_comment(join_comment(CommentParts(state, "The report.", reproduction="It fails.")))
        harness.set_thread(ours, **changes)
        harness.github.issues[9] = factories.issue(number=9, thread=[])
        harness.event = None
        for stage in ("select", "run", "report"):
            asyncio.run(run_reproduce_job(f"reproduce-{stage}", ReproduceTask(), harness.job()))
            if stage == "select" and not harness.output.values["next-job"]:
                break
        return harness

    def test_what_fails_no_more_is_said_in_the_same_comment(self) -> None:
        harness = self.run_again(FIXED)
        assert harness.asked[0][1] == ["2.4.1"]
        assert len(harness.github.edited) == 1
        assert harness.parts.reproduction.startswith(
            "It failed when it was run before, and does not any more: a maintainer may close this issue.\n\n"
            "**No longer happens on `main`"
        )
        assert harness.parts.report == "The report."
        assert harness.known == self.REMEMBERED.model_copy(update={"fails": False, "gone": True}), "it is not run again"

    def test_what_still_fails_changes_nothing(self) -> None:
        harness = self.run_again(STILL)
        assert harness.writes == 0
        assert "- `#7`: still" in harness.output.summaries[-1]

    @pytest.mark.parametrize(
        ("remembered", "changes"),
        [
            (None, {}),
            (REMEMBERED.model_copy(update={"fails": False}), {}),
            (REMEMBERED.model_copy(update={"example": "0" * 16}), {}),
            (REMEMBERED, {"quiet": True}),
            (REMEMBERED, {"locked": True}),
        ],
    )
    def test_what_is_not_run_again(self, remembered: Reproduced | None, changes: dict[str, Any]) -> None:
        harness = self.run_again(FIXED, remembered, **changes)
        assert (harness.output.values["next-job"], harness.writes) == ("", 0)

    def test_a_comment_that_became_quiet_meanwhile_stays_as_it_is(self) -> None:
        harness = ReproduceHarness(actor="", found=FIXED)
        for quiet, stages in ((False, ("select", "run")), (True, ("report",))):
            state = render_state(CommentState(reproduced=self.REMEMBERED, quiet=quiet))
            harness.set_thread(our_comment(join_comment(CommentParts(state, "The report.", reproduction="It fails."))))
            harness.github.issues[9] = factories.issue(number=9, thread=[])
            harness.event = None
            for stage in stages:
                asyncio.run(run_reproduce_job(f"reproduce-{stage}", ReproduceTask(), harness.job()))
        assert harness.writes == 0
        assert "- `#7`: fixed" in harness.output.summaries[-1]

    @pytest.mark.parametrize("error", [GitHubUnavailable("Issue 9: no answer."), IssueMoved("Issue 9 was moved.")])
    def test_an_issue_that_cannot_be_read_stops_no_other_one(self, error: Exception) -> None:
        class Issues(dict[int, Issue]):
            def __getitem__(self, number: int) -> Issue:
                if number == 9:
                    raise error
                return super().__getitem__(number)

        harness = ReproduceHarness(actor="", found=FIXED)
        state = render_state(CommentState(reproduced=self.REMEMBERED))
        harness.set_thread(our_comment(join_comment(CommentParts(state, "The report.", reproduction="It fails."))))
        harness.github.issues = Issues(harness.github.issues | {9: factories.issue(number=9)})
        harness.event = None
        harness.github.errors["edit_comment"] = CannotPublish("Comments cannot be edited.")
        ends = [
            asyncio.run(run_reproduce_job(f"reproduce-{stage}", ReproduceTask(), harness.job()))
            for stage in ("select", "run")
        ]
        orders = parse_orders(harness.files["selection.json"])
        harness.write("selection.json", Orders(orders=[*orders, Order(number=9)]).model_dump_json())
        ends.append(asyncio.run(run_reproduce_job("reproduce-report", ReproduceTask(), harness.job())))
        is_down = isinstance(error, GitHubUnavailable)
        assert ends == [Status.DEGRADED if is_down else Status.COMPLETE, Status.COMPLETE, Status.DEGRADED]
        said = [text for _, text in harness.output.annotations]
        assert any("Comments cannot be edited." in text for text in said), "what happened before is told"
        assert sum("no answer" in text for text in said) == (2 if is_down else 0)
        assert "- `#7`: fixed" in harness.output.summaries[-1]

    @pytest.mark.parametrize(("found", "is_searched"), [(FIXED, True), (STILL, False)])
    def test_only_what_was_fixed_is_searched(self, found: Evidence, is_searched: bool) -> None:
        harness = self.run_again(found)
        assert (b'"first_bad":{' in harness.files["evidence.json"]) is is_searched

    def test_an_issue_that_was_closed_meanwhile_stays_as_it_is(self) -> None:
        assert self.run_again(FIXED, state="closed").writes == 0


class TestHandover:
    def test_a_verdict_is_the_one_that_the_runs_have(self) -> None:
        harness = ReproduceHarness(found=STILL.model_copy(update={"verdict": "fixed"}))
        assert harness.run_all().startswith("**Still happens")

    def test_a_selection_that_was_replaced_is_refused(self) -> None:
        harness = ReproduceHarness()
        harness.run_job("select")
        assert harness.output.values["reproduce-selection"] == harness.digest
        harness.run_job("run")
        harness.files["selection.json"] += b" "
        for digest in (harness.digest, ""):
            harness.digest = digest
            with pytest.raises(BadInput, match="The selection is not that of the job"):
                harness.run_job("report")
        assert harness.writes == 0

    @pytest.mark.parametrize(
        "change",
        [
            Change(release="2.4.0", before="9.9"),
            Change(release="call 555-1234", before="2.3.0"),
            Change(release="2.4.0", before="2.3.0", gap=["call 555-1234"]),
        ],
    )
    def test_a_change_in_a_version_that_the_project_does_not_have_is_no_result(self, change: Change) -> None:
        harness = ReproduceHarness(found=STILL.model_copy(update={"first_good": change}))
        harness.words = "on 2.4.1"
        assert "has ended without a result" in harness.run_all()

    def test_the_default_branch_must_have_run(self) -> None:
        harness = ReproduceHarness(found=STILL.model_copy(update={"runs": STILL.runs[:1]}))
        assert "has ended without a result" in harness.run_all()

    def test_why_nothing_was_found_is_a_sentence_of_ours(self) -> None:
        evidence = json.dumps({"orders": [{"number": 7, "evidence": STILL.model_dump() | {"searched": "Pay me."}}]})
        with pytest.raises(BadInput):
            parse_orders(evidence.encode())

    def test_what_is_executed_is_there_for_the_last_version_and_bounded(self) -> None:
        places = [FailurePlace(path=f"shop/{number}.py", line=1) for number in range(500)]
        runs = [run.model_copy(update={"executed": places}) for run in STILL.runs]
        text, left_out = dump_results({7: STILL.model_copy(update={"runs": runs})})
        (result,) = parse_orders(text.encode())
        assert result.evidence
        assert [len(run.executed) for run in result.evidence.runs] == [0, 500]
        assert left_out == []

    def test_the_largest_results_are_left_out_of_a_file_that_would_be_too_large(self) -> None:
        run = STILL.runs[0].model_copy(update={"output": "\u0001" * 8_000, "reason": "\u0001" * 2_000})
        large = STILL.model_copy(update={"runs": [run] * 12})
        text, left_out = dump_results({7: STILL} | dict.fromkeys(range(8, 27), large))
        numbers = [result.number for result in parse_orders(text.encode())]
        assert 7 in numbers
        assert len(left_out) > 5
        assert sorted([*numbers, *left_out]) == list(range(7, 27))

    @pytest.mark.parametrize("run", [{"on": "9.9"}, {"commit": "0" * 40}])
    def test_runs_of_other_versions_are_no_result(self, run: dict[str, Any]) -> None:
        others = [STILL.runs[0], STILL.runs[1].model_copy(update=run)]
        harness = ReproduceHarness(found=STILL.model_copy(update={"runs": others}))
        assert "has ended without a result" in harness.run_all()

    def test_a_result_for_another_issue_is_none(self) -> None:
        harness = ReproduceHarness()
        harness.run_job("select")
        harness.run_job("run")
        harness.files["evidence.json"] = harness.files["evidence.json"].replace(b'"number":7', b'"number":8')
        harness.run_job("report")
        assert "has ended without a result" in harness.parts.reply

    @pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"orders": 7}', b"[" * 100_000, b" " * 8_000_001])
    def test_a_file_that_is_none_of_ours_fails_the_job(self, data: bytes) -> None:
        with pytest.raises(BadInput, match="cannot be read"):
            parse_orders(data)

    def test_without_an_example_nothing_runs(self) -> None:
        harness = ReproduceHarness(problem=NothingToRun("no block."))
        assert harness.run_all() == "**Nothing was run:** no block."
        assert parse_orders(harness.files["selection.json"])[0].selection is None


HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["@octocat", "</details>"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def spoil(value: Any, path: list[int], by: Any) -> Any:
    """Return the JSON with one part replaced, chosen by the path."""
    if not path or not value or not isinstance(value, dict | list):
        return by
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[path[0] % len(keys)]
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[key] = spoil(changed[key], path[1:], by)
    return changed


@given(st.lists(st.integers(0, 40), max_size=7), HOSTILE)
def test_hostile_json_is_refused_or_shown_as_text(path: list[int], by: Any) -> None:
    harness = ReproduceHarness()
    harness.run_job("select")
    harness.run_job("run")
    harness.files["evidence.json"] = json.dumps(spoil(json.loads(harness.files["evidence.json"]), path, by)).encode()
    try:
        harness.run_job("report")
    except BadInput:
        return
    body = harness.github.posted[0][1]
    assert len(body) < 65_536
    assert find_active_content(split_comment(body).reproduction, pages().links) == []
