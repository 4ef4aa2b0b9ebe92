"""The jobs of the fix flow: what each writes, and everything that is answered with no."""

import re
from datetime import timedelta
from typing import Any

import pytest

from testing import factories
from testing.fakes import NOW, FakeCodebase, FakeModel, fake_services
from testing.servers.github_api import JOB_TOKEN, ApiFault
from tests.fix.fix_harness import OLD, SHOWN, SOURCE, TEST, FixHarness
from tests.fix.graph.test_fix_graph import answers
from triage.base.errors import BadInput, CannotPublish
from triage.domain.effect import Policy
from triage.domain.issue import IssueComment
from triage.domain.proposal import PatchedFile
from triage.domain.run import Status
from triage.run.may_run.event import Event


class TestGate:
    @pytest.mark.parametrize(
        ("command", "following"), [("fix", "propose"), ("revise", "propose"), ("approve", "apply"), ("reject", "apply")]
    )
    def test_it_says_which_job_follows(self, harness: FixHarness, command: str, following: str) -> None:
        harness.command()
        words = "use a set" if command == "revise" else ""
        assert harness.run_job("gate", command=command, proposal_id="0" * 12, words=words) is Status.COMPLETE
        assert harness.outputs["next-job"] == following

    @pytest.mark.parametrize("actor", ["", "maintainer"])
    def test_a_fix_starts_on_the_default_branch_only(self, harness: FixHarness, actor: str) -> None:
        harness.command()
        harness.set_main({SOURCE: ""})
        harness.run_job("gate", actor=actor)
        assert harness.outputs["next-job"] == "report"
        assert "not done: it starts from a commit that is not on the default branch" in harness.output.summaries[0]
        assert "```" not in harness.output.summaries[0]
        harness.run_job("report", actor=actor)
        assert "must be started on the default branch." in harness.parts.proposal
        harness.run_job("gate", command="approve", proposal_id="0" * 12)
        assert harness.outputs["next-job"] == "apply", "what is stored is checked where it is carried out"

    def test_a_default_branch_that_cannot_be_read(self, harness: FixHarness) -> None:
        harness.command()
        harness.git.api.faults = [ApiFault("GET .*/compare/", 500)]
        harness.run_job("gate")
        assert not harness.outputs.get("next-job")

    @pytest.mark.parametrize(
        "task",
        [
            {"command": "approve"},
            {"command": "approve", "proposal_id": "0" * 12, "words": "but smaller"},
            {"command": "revise", "proposal_id": "0" * 12},
            {"command": "revise", "words": "smaller"},
        ],
    )
    def test_a_command_that_is_not_complete(self, harness: FixHarness, task: dict[str, Any]) -> None:
        harness.command()
        harness.run_job("gate", **task)
        assert harness.outputs["next-job"] == "report"

    def test_a_workflow_that_was_started_by_hand(self, harness: FixHarness) -> None:
        harness.run_job("gate", actor="")
        assert harness.outputs["next-job"] == "propose"


@pytest.mark.parametrize("stage", ["gate", "propose", "store", "report", "apply"])
@pytest.mark.parametrize("said", [{}, {"edited_at": NOW + timedelta(seconds=1)}])
@pytest.mark.parametrize("role", ["triage", "none"])
def test_without_write_access_nobody_reaches_a_model_or_gets_an_answer(
    harness: FixHarness, stage: str, said: dict[str, Any], role: str
) -> None:
    harness.actor = "stranger"
    harness.github.roles["stranger"] = role
    harness.command(**said)
    harness.leave_result()
    model = FakeModel({})
    harness.services = fake_services(codebase=FakeCodebase({SOURCE: OLD}), model=model)
    assert harness.run_job(stage, command="approve" if stage == "apply" else "fix") is Status.SKIPPED
    assert (model.asked, harness.proposals, harness.outputs.get("next-job", "")) == ([], [], "")
    assert (harness.github.edited, harness.github.posted, harness.reactions) == ([], [], [])
    assert " by `stranger`: not done: it needs write access" in harness.output.summaries[0]


class TestStore:
    def test_a_proposal_that_is_replaced_goes(self, harness: FixHarness) -> None:
        harness.command()
        harness.store_patch(summary="Another one")
        harness.leave_result()
        harness.run_job("store")
        (stored,) = harness.store.list_proposals(7)
        assert harness.outputs["proposal-id"] == stored.id

    def test_expired_proposals_of_other_issues_go(self, harness: FixHarness) -> None:
        harness.command()
        harness.git.api.date_header = NOW - timedelta(days=8)
        harness.store_patch(issue=3)
        harness.git.api.date_header = NOW - timedelta(minutes=1)
        harness.leave_result()
        harness.run_job("store")
        assert harness.proposals == [f"refs/triage/proposals/7/{harness.outputs['proposal-id']}"]

    @pytest.mark.parametrize(
        "changes",
        [
            {"issue": 8},
            {"repository": "evil/shop"},
            {"issue_text_hash": "0" * 16},
            {"changes": [PatchedFile(path=".github/workflows/ci.yml", text="x\n", is_new_file=True)]},
        ],
    )
    def test_everything_is_checked_again(self, harness: FixHarness, changes: dict[str, Any]) -> None:
        harness.command()
        harness.leave_result(**changes)
        with pytest.raises(BadInput, match="not stored"):
            harness.run_job("store")
        assert not harness.proposals

    def test_workflows_that_changed_since_the_base(self, harness: FixHarness) -> None:
        harness.command()
        harness.leave_result()
        harness.set_main({SOURCE: OLD, ".github/workflows/ci.yml": "on: push"}, harness.base)
        with pytest.raises(BadInput, match="lets no workflow's token create a branch"):
            harness.run_job("store")
        assert not harness.proposals

    @pytest.mark.parametrize("part", ["changes", "tests"])
    def test_tests_alone_or_changes_alone_are_one_commit(self, harness: FixHarness, part: str) -> None:
        harness.command()
        harness.leave_result(**{part: []})
        harness.run_job("store")
        (stored,) = harness.store.list_proposals(7)
        assert stored.test_commit is None
        assert harness.outputs["proposal-test-sha"] == ""

    @pytest.mark.parametrize("place", ["first", "last"])
    def test_commits_that_were_there_and_hold_something_else_are_deleted(self, harness: FixHarness, place: str) -> None:
        harness.command()
        other = {TEST: "import subprocess\n"}
        forged = harness.store_patch(**{place: other})
        harness.leave_result()
        harness.run_job("store")
        assert harness.outputs["proposal-sha"] not in ("", forged)
        assert harness.proposals == [f"refs/triage/proposals/7/{harness.outputs['proposal-id']}"]

    @pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"patch": 3}', b"x" * 9_000_000])
    def test_a_file_that_is_no_result(self, harness: FixHarness, data: bytes) -> None:
        harness.command()
        harness.result_file = data
        with pytest.raises(BadInput):
            harness.run_job("store")


class TestReport:
    def test_without_a_comment_a_new_one_is_written(self, harness: FixHarness) -> None:
        harness.command(comment="")
        harness.store_patch()
        harness.leave_result()
        harness.run_job("report")
        assert "## Proposed changes" in harness.parts.proposal

    def test_why_there_is_none(self, harness: FixHarness) -> None:
        harness.command()
        harness.result_file = b'{"error":"The text occurs 3 times in `a.py`. @everyone","patch":null}'
        harness.run_job("report")
        assert "occurs 3 times" in harness.parts.proposal
        assert "@everyone" not in harness.parts.proposal.replace("`@everyone`", "")
        assert harness.reactions == ["confused"]
        assert harness.outputs["proposal-status"] == "none"

    @pytest.mark.parametrize("command", ["fix", "revise"])
    def test_an_attempt_that_failed_leaves_the_version_before(self, harness: FixHarness, command: str) -> None:
        harness.store_patch()
        harness.command(f"/triage {command}")
        harness.result_file = b'{"error":"No time.","patch":null}'
        harness.run_job("report", command=command, proposal_id="0" * 12, words="smaller")
        assert harness.parts.proposal == SHOWN
        assert "No time." in harness.parts.reply

    @pytest.mark.parametrize(
        ("revision", "offer"), [(1, "made again\\.\n"), (2, "for the last time"), (3, "begins anew")]
    )
    def test_the_last_revision_is_announced(self, harness: FixHarness, revision: int, offer: str) -> None:
        harness.command()
        harness.store_patch(revision=revision)
        harness.leave_result(revision=revision)
        harness.run_job("report")
        assert re.search(offer, harness.parts.proposal)
        assert ("/triage revise" in harness.parts.proposal) == (revision < 3)

    def test_a_patch_that_may_not_be_stored_is_not_shown_either(self, harness: FixHarness) -> None:
        harness.command()
        evil = PatchedFile(path=".github/workflows/ci.yml", text="run: curl evil\n", is_new_file=True)
        harness.leave_result(changes=[evil])
        harness.run_job("report")
        assert "curl evil" not in harness.github.edited[-1][1]
        assert "was refused" in harness.parts.proposal

    @pytest.mark.parametrize("path", [TEST, "src/evil.py"])
    def test_a_first_commit_with_more_than_the_diff_is_not_shown(self, harness: FixHarness, path: str) -> None:
        harness.command()
        harness.store_patch(first={path: "import subprocess\n"})
        harness.git.api.denied[JOB_TOKEN] = {"contents"}
        harness.leave_result()
        harness.run_job("report")
        assert "/triage approve" not in harness.github.edited[-1][1]
        assert "The patch is not stored" in harness.parts.proposal
        assert harness.reactions == ["confused"]

    @pytest.mark.parametrize("minutes", [-1, 1], ids=["left over", "newer"])
    def test_another_proposal_of_the_issue_is_not_shown_as_this_one(self, harness: FixHarness, minutes: int) -> None:
        harness.command()
        harness.git.api.date_header = NOW + timedelta(minutes=minutes)
        harness.store_patch(summary="Another one")
        harness.leave_result()
        harness.run_job("report")
        assert "another command has replaced it" in harness.parts.proposal + harness.parts.reply
        assert "/triage approve" not in harness.parts.proposal

    def test_an_approval_that_github_did_not_confirm_at_first_leaves_the_proposal(self, harness: FixHarness) -> None:
        stored = harness.store_patch()
        harness.command("/triage approve")
        harness.run_job("report", command="approve", proposal_id=stored[:12])
        assert harness.parts.proposal == SHOWN
        assert "again" in harness.parts.reply

    def test_a_long_report_makes_room(self, harness: FixHarness) -> None:
        harness.report = "x" * 64_000
        harness.command()
        harness.store_patch()
        harness.leave_result()
        harness.run_job("report")
        assert len(harness.github.edited[-1][1]) < 65_536
        assert "/triage approve" in harness.parts.proposal

    def test_a_token_that_cannot_store_commits(self, harness: FixHarness) -> None:
        harness.command()
        harness.leave_result()
        harness.run_job("report")
        assert "`contents: write`" in harness.parts.proposal
        assert "/triage approve" not in harness.parts.proposal

    def test_a_job_that_failed_without_a_word(self, harness: FixHarness) -> None:
        harness.command()
        harness.run_job("report")
        assert "See its log" in harness.parts.proposal


class TestApply:
    def test_an_approval_that_was_killed_before_it_said_so_is_carried_out_once(self, harness: FixHarness) -> None:
        stored = harness.store_patch()
        harness.command("/triage approve")
        harness.github.errors["edit_comment"] = CannotPublish("killed")
        harness.answer(stored)
        assert harness.proposals
        harness.github.errors.clear()
        harness.answer(stored)
        assert "draft pull request" in harness.parts.proposal
        assert harness.outputs["pull-request-url"]
        assert not harness.proposals
        assert (len(harness.branches), len(harness.pulls.pulls)) == (1, 1)

    def test_a_bug_while_an_approval_is_carried_out_is_answered(self, harness: FixHarness) -> None:
        class Once(dict[str, Exception]):
            def __getitem__(self, name: str) -> Exception:
                return self.pop(name)

        stored = harness.store_patch()
        harness.command("/triage approve")
        harness.github.errors = Once(edit_comment=ValueError("secret"))
        harness.answer(stored)
        assert "it was begun, and can be approved again. It failed by a bug of this action (ValueError)." in (
            harness.parts.reply
        )
        harness.answer(stored)
        assert (len(harness.branches), len(harness.pulls.pulls)) == (1, 1)

    def test_a_proposal_that_cannot_be_deleted_is_carried_out(self, harness: FixHarness) -> None:
        stored = harness.store_patch()
        harness.command("/triage approve")
        harness.git.api.faults.append(ApiFault("DELETE .*", 403))
        harness.answer(stored)
        assert "draft pull request" in harness.parts.proposal
        assert "approved again" not in harness.parts.reply

    def test_an_approval_that_is_given_again(self, harness: FixHarness) -> None:
        stored = harness.store_patch()
        harness.command("/triage approve")
        harness.answer(stored)
        harness.command("/triage approve", harness.github.edited[-1][1], comment_id=78)
        for commit, command in ((stored, "approve"), ("0" * 40, "approve"), (stored, "reject")):
            harness.answer(commit, command)
            assert "there is no such proposal here" in harness.parts.reply
        assert "draft pull request" in harness.parts.proposal
        assert harness.reactions == ["+1", "confused"]
        assert (len(harness.branches), len(harness.pulls.pulls)) == (1, 1)

    def test_github_does_not_let_the_token_open_pull_requests(self, harness: FixHarness) -> None:
        stored = harness.store_patch()
        harness.command("/triage approve")
        harness.pulls.lets_actions_open = False
        harness.answer(stored)
        assert harness.branches
        assert "/compare/" in harness.parts.proposal
        assert "switch on" in harness.parts.proposal
        assert harness.outputs["proposal-status"] == "approved"

    @pytest.mark.parametrize("command", ["fix", "revise"])
    def test_only_an_approval_is_a_yes(self, harness: FixHarness, command: str) -> None:
        stored = harness.store_patch()
        harness.command(f"/triage {command}")
        assert harness.answer(stored, command, words="not like this") is Status.SKIPPED
        assert harness.branches == []

    def refuse(self, harness: FixHarness, reason: str, *faults: ApiFault) -> None:
        """An approval that must change nothing."""
        stored = harness.store_patch()
        harness.git.api.faults = [*faults]
        harness.command("/triage approve")
        harness.answer(stored)
        assert harness.branches == []
        assert harness.pulls.pulls == []
        assert reason in harness.parts.reply + harness.parts.proposal
        assert harness.reactions == ["confused"]

    def test_a_base_that_is_not_on_the_default_branch(self, harness: FixHarness) -> None:
        harness.set_main({SOURCE: ""})
        self.refuse(harness, "not on the default branch")

    def test_a_proposal_that_is_too_old(self, harness: FixHarness) -> None:
        harness.git.api.date_header = NOW - timedelta(days=8)
        self.refuse(harness, "older than 7 days")
        assert harness.outputs["proposal-status"] == "none"

    @pytest.mark.parametrize("question", ["/matching-refs/", "/trees/", "/compare/"])
    def test_a_question_without_an_answer(self, harness: FixHarness, question: str) -> None:
        self.refuse(harness, "did not confirm", ApiFault(f"GET .*{question}", 500))

    def test_owners_that_cannot_be_read(self, harness: FixHarness) -> None:
        harness.approvers = "owners"
        harness.set_main({SOURCE: OLD, "CODEOWNERS": b"\xff"}, harness.base)
        self.refuse(harness, "CODEOWNERS is not `UTF-8` text")

    def test_nothing_is_proposed_where_nobody_could_see_it(self, harness: FixHarness) -> None:
        harness.policy = Policy(comment="never")
        harness.command()
        with pytest.raises(BadInput, match="comment: never"):
            harness.run_job("gate")

    def test_a_rejection_deletes_the_proposal(self, harness: FixHarness) -> None:
        stored = harness.store_patch()
        harness.command("/triage reject")
        harness.answer(stored, "reject", words="Too large. cc @everyone")
        assert harness.proposals == []
        assert "Too large" in harness.parts.proposal
        assert harness.outputs["proposal-status"] == "rejected"
        harness.answer(stored)
        assert harness.branches == []


class TestPropose:
    def propose(self, harness: FixHarness, **task: Any) -> Status:
        harness.services = fake_services(codebase=FakeCodebase({SOURCE: OLD}), model=FakeModel({}))
        return harness.run_job("propose", **task)

    def test_a_fourth_revision_is_not_made_and_the_third_can_still_be_approved(self, harness: FixHarness) -> None:
        stored = harness.store_patch(revision=3)
        harness.command("/triage revise")
        self.propose(harness, command="revise", proposal_id=stored[:12], words="again")
        harness.run_job("report", command="revise", proposal_id=stored[:12], words="again")
        assert "The last version can still be approved" in harness.parts.reply
        assert harness.parts.proposal == SHOWN
        harness.command("/triage approve")
        harness.answer(stored)
        assert len(harness.branches) == 1

    @pytest.mark.parametrize(
        ("rejected", "is_read"), [("/triage reject 0123456789ab: it hides it", True), ("thanks", False)]
    )
    def test_the_reason_of_a_rejection_is_in_the_next_prompt(
        self, harness: FixHarness, rejected: str, is_read: bool
    ) -> None:
        harness.command("/triage fix")
        said = ["/triage reject 0123456789ab labels", "/triage fix in total", rejected]
        comments = [
            IssueComment(author="maintainer", body=body, comment_id=number, created_at=NOW, edited_at=NOW)
            for number, body in enumerate(said, 60)
        ]
        harness.set_thread(*comments, *harness.github.issues[7].thread)
        issue = factories.issue(snapshot_time=NOW + timedelta(minutes=1))
        harness.event = Event(issue=issue, comment=harness.github.issues[7].thread[-1])
        model = FakeModel(factories.answers() | answers())
        harness.services = fake_services(codebase=FakeCodebase({SOURCE: OLD}), model=model)
        harness.run_job("propose", command="fix", words="")
        prompt = next(str(asked) for name, asked in model.asked if name == "CodeChanges")
        assert ("An earlier version was rejected: it hides it" in prompt) == is_read
        assert "rejected: labels" not in prompt, "that was about suggestions"

    def test_a_revision_of_what_is_not_there(self, harness: FixHarness) -> None:
        harness.command("/triage revise")
        self.propose(harness, command="revise", proposal_id="0" * 12, words="again")
        assert b"There is no such proposal here." in (harness.result_file or b"")
