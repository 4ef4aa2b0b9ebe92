"""Where an approved patch goes on GitHub: a branch at the very commit that was shown, and a draft pull request."""

from triage.approval.proposal_id import compute_proposal_id
from triage.base.errors import CannotPublish, PullRequestRefused, TriageError
from triage.comment.hidden_state import parse_state
from triage.domain.issue import Issue
from triage.domain.proposal import ProposalTests, StoredProposal
from triage.domain.task import FixTask
from triage.fix.branch_name import make_branch_name
from triage.fix.commit_text import format_subject
from triage.fix.graph.fix_state import FixState
from triage.fix.jobs.fix_comment import plan_proposal_part
from triage.fix.jobs.fix_flow import FixFlow
from triage.fix.proposal_text import render_opened, render_pull_request_body, render_refused_pull_request
from triage.writes.apply_effects import apply_issue_effects
from triage.writes.apply_local_effects import PublishResult
from triage.writes.deduplicate import find_our_comment

_NAME_TAKEN = "The branch {name} exists and has other commits. Rename or delete it, then approve again."


class ApprovedChange:
    """Implements `graph.fix_context.ChangeTarget`. Every step may be repeated after a run that was killed."""

    def __init__(self, task: FixTask, issue: Issue, stored: StoredProposal, flow: FixFlow) -> None:
        self._task, self._issue, self._stored, self._flow = task, issue, stored, flow
        self._refusal = ""
        self.text = ""
        """What the comment says afterwards."""

    def apply(self, state: FixState) -> str:
        del state
        name = make_branch_name(self._task.number, self._issue.title)
        if not self._flow.store.create_branch(name, self._stored.proposal.commit):
            raise CannotPublish(_NAME_TAKEN.format(name=name))
        return name

    def open_pull_request(self, state: FixState) -> str | None:
        title = f"[#{self._task.number}] {format_subject(self._issue.title) or 'Proposed change'}"
        body = render_pull_request_body(
            compute_proposal_id(self._stored.proposal),
            self._issue.url,
            self._task.actor or "a workflow",
            self._read_tests(),
            has_test=self._stored.proposal.test_commit is not None,
        )
        try:
            opened = self._flow.store.open_pull_request(state.branch_name, self._stored.proposal.commit, title, body)
        except PullRequestRefused as error:
            self._refusal = str(error)
            return None
        self.text = render_opened(self._task.actor or "a workflow", opened.number, opened.url)
        return opened.url

    def _read_tests(self) -> ProposalTests:
        """Return what the tests said, from our comment, if nobody else has edited it."""
        comment = find_our_comment(self._issue)
        if comment is None or comment.comment_id is None:
            return ""
        try:
            record = self._flow.context.approvals.read_comment_record(comment.comment_id)
        except TriageError:
            return ""
        known = parse_state(record.body) if record and record.is_ours_alone else None
        is_this = known is not None and known.proposal == compute_proposal_id(self._stored.proposal)
        return known.tests if known and is_this else ""

    def report(self, state: FixState) -> None:
        """Say on the issue what was done, then delete the proposal: until then, an approval can be repeated."""
        if not state.pr_url:
            if not self._refusal:
                raise CannotPublish(state.error or "The pull request could not be opened.")
            url = self._flow.store.build_compare_url(state.branch_name)
            self.text = render_refused_pull_request(
                self._task.actor or "a workflow", state.branch_name, url, self._refusal
            )
        done = PublishResult()
        apply_issue_effects(list(plan_proposal_part(self._issue, self.text)), self._flow.context.github, done)
        if done.failures:
            raise CannotPublish(" ".join(done.failures))
        self._flow.store.delete(self._stored)
