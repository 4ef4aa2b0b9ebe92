"""Opens the pull request of a stored patch on GitHub, if an approval of it counts."""

from triage.approval.decide_approval import (
    DRY_RUN,
    EDITED_COMMENT,
    UNKNOWN_ID,
    ApprovalFacts,
    proposal_problem,
)
from triage.approval.owner_rights import owner_problem
from triage.base.errors import CannotPublish, PullRequestRefused, TriageError
from triage.comment.hidden_state import CommentState, hash_text, parse_state
from triage.domain.proposal import PendingMutation, ProposalTests, StoredProposal
from triage.domain.task import FixTask
from triage.fix.commit_text import format_subject, make_branch_name
from triage.fix.jobs.fix_job import AdmittedFix, FixJob, plan_proposal_part
from triage.fix.proposal_text import (
    render_opened,
    render_pull_request_body,
    render_refused_pull_request,
    render_rejected,
)
from triage.safety.code_owners import CodeOwners
from triage.writes.apply_effects import apply_issue_effects
from triage.writes.apply_local_effects import PublishResult
from triage.writes.deduplicate import find_our_comment

_NAME_TAKEN = "The branch {name} exists and has other commits. Rename or delete it, then approve again."


class GitHubPullRequestTool:
    """Implements `graph.fix_context.PullRequestTool`. Every step may be repeated after a run that was killed."""

    def __init__(self, task: FixTask, admitted: AdmittedFix, stored: StoredProposal, job: FixJob) -> None:
        self._task, self._admitted, self._issue, self._job = task, admitted, admitted.issue, job
        self._stored, self._proposal, self._store = stored, stored.proposal, job.store
        self._who = task.actor or "a workflow"
        self._tests: ProposalTests = ""
        self.text = ""
        """What the comment says afterwards."""

    @property
    def pending(self) -> PendingMutation:
        """What is asked for: the very commit that was shown, on a branch of its own."""
        return PendingMutation(
            commit=self._proposal.commit, branch=make_branch_name(self._task.number, self._issue.title)
        )

    def find_objection(self, pending: PendingMutation) -> str:
        try:
            return self._find_objection(pending)
        except TriageError as error:
            return f"GitHub did not confirm it. {error}"

    def _find_objection(self, pending: PendingMutation) -> str:
        context, proposal = self._job.context, self._proposal
        facts = ApprovalFacts(
            repository=context.repository.slug,
            issue=self._task.number,
            issue_text=hash_text(self._issue.title, self._issue.body),
            role=self._admitted.role,
            now=self._issue.snapshot_time or context.now(),
        )
        if reason := proposal_problem(proposal, facts):
            return reason
        shown = self._read_comment()
        if shown is None:
            return EDITED_COMMENT
        if shown.proposal != pending.commit:
            return UNKNOWN_ID
        self._tests = shown.tests
        is_off = not self._store.is_on_default_branch(proposal.base)
        changed = self._store.list_changed_on_base(proposal)
        facts = facts.model_copy(update={"is_off_default_branch": is_off, "changed_paths": changed})
        if self._job.approvers == "owners":
            facts = facts.model_copy(update={"owner_problem": self._find_owner_problem()})
        return proposal_problem(proposal, facts) or (DRY_RUN if context.policy.dry_run else "")

    def _find_owner_problem(self) -> str:
        text = self._store.read_code_owners()
        if text is None:
            return ""  # nobody owns anything
        paths = self._store.read_files(self._proposal)
        return owner_problem(self._task.actor, paths, CodeOwners(text), self._job.context.config)

    def _read_comment(self) -> CommentState | None:
        """Return what our comment shows; None if somebody else has edited it, or GitHub does not say who did."""
        comment = find_our_comment(self._issue)
        record = self._job.context.approvals.read_comment_record(comment.comment_id or 0) if comment else None
        if record is None or not record.is_ours_alone:
            return None
        return parse_state(record.body) or CommentState()

    def create_branch(self, pending: PendingMutation) -> None:
        if not self._store.create_branch(pending.branch, pending.commit):
            raise CannotPublish(_NAME_TAKEN.format(name=pending.branch))

    def open_pull_request(self, pending: PendingMutation) -> str | None:
        title = f"[#{self._task.number}] {format_subject(self._issue.title) or 'Proposed change'}"
        has_test = self._proposal.test_commit is not None
        body = render_pull_request_body(pending.approval_id, self._issue.url, self._who, self._tests, has_test=has_test)
        try:
            opened = self._store.open_pull_request(pending.branch, pending.commit, title, body)
        except PullRequestRefused as error:
            url = self._store.build_compare_url(pending.branch)
            self.text = render_refused_pull_request(self._who, pending.branch, url, str(error))
            return None
        self.text = render_opened(self._who, opened.number, opened.url)
        return opened.url

    def report(self, pending: PendingMutation) -> None:
        """Say on the issue what was done, then delete the proposal: until then, an approval can be repeated."""
        del pending
        done = PublishResult()
        apply_issue_effects(list(plan_proposal_part(self._issue, self.text)), self._job.context.github, done)
        if done.failures:
            raise CannotPublish(" ".join(done.failures))
        self._store.delete(self._stored)

    def drop(self, pending: PendingMutation) -> None:
        del pending
        if self._job.context.policy.dry_run:
            raise CannotPublish(DRY_RUN)
        self._store.delete(self._stored)
        self.text = render_rejected(self._who, self._task.words)
