"""What an approval or a rejection does on GitHub: nodes of the fix flow's graph call its methods from top to bottom."""

from triage.base.errors import CannotPublish, PullRequestRefused, TriageError
from triage.domain.proposal import PatchProposal, PendingMutation
from triage.fix.check_approval import (
    CHANGED_FILES,
    DRY_RUN,
    EDITED_COMMENT,
    OFF_DEFAULT_BRANCH,
    OTHER_WORKFLOWS,
    UNKNOWN_ID,
    check_owners,
    check_proposal,
)
from triage.fix.commit_text import format_subject, make_branch_name, read_words
from triage.fix.github.unchanged_comment import read_unchanged_comment
from triage.fix.graph.fix_state import Destination
from triage.fix.jobs.fix_job import FixJob, FixRequest, plan_proposal_part
from triage.fix.proposal_text import fold_approved, render_pull_request_body
from triage.run.write.apply_effects import apply_issue_effects
from triage.run.write.apply_local_effects import PublishResult
from triage.safety.active_content import list_links
from triage.safety.code_owners import CodeOwners
from triage.say.comment import read_parts
from triage.say.hidden_state import CommentState, hash_text, parse_state
from triage.say.our_comment import find_our_comment
from triage.say.template import render_block

_NAME_TAKEN = "The branch {name} exists and has other commits. Rename or delete it, then approve again."


class GitHubDestination(Destination):
    """Every step may be repeated after a run that was killed."""

    def __init__(self, request: FixRequest, proposal: PatchProposal, job: FixJob) -> None:
        self._task, self._issue = request.task, request.issue
        self._proposal, self._job, self._store = proposal, job, job.store
        self._who = request.task.actor or "a workflow"
        self._comment_state = CommentState()
        self.text = ""
        """What the comment says afterwards, with links to `links`."""
        self.links: list[str] = []

    @property
    def pending(self) -> PendingMutation:
        """What is asked for: the very commit that was shown, on a branch of its own."""
        return PendingMutation(
            commit=self._proposal.commit, branch=make_branch_name(self._task.number, self._issue.title)
        )

    def check_approval(self, pending: PendingMutation) -> str:
        try:
            return self._find_objection(pending)
        except TriageError as error:
            return f"GitHub did not confirm it. {error}"

    def _find_objection(self, pending: PendingMutation) -> str:
        run, issue, proposal, store = self._job.run, self._issue, self._proposal, self._store
        now = issue.snapshot_time or run.now()
        if reason := check_proposal(proposal, hash_text(issue.title, issue.body), now):
            return reason
        comment = find_our_comment(issue)
        body = read_unchanged_comment(store, comment.comment_id or 0) if comment else ""
        if "proposal" not in read_parts(body):
            return EDITED_COMMENT
        self._comment_state = parse_state(body) or CommentState()
        if self._comment_state.proposal != pending.commit:
            return UNKNOWN_ID
        if not store.is_on_default_branch(proposal.base):
            return OFF_DEFAULT_BRANCH
        if store.has_other_workflows(proposal.base):
            return OTHER_WORKFLOWS
        if store.list_changed_on_base(proposal):
            return CHANGED_FILES
        owners = store.read_code_owners() if self._job.approvers == "owners" else None
        if owners is not None:
            paths = store.read_files(proposal)
            if reason := check_owners(self._task.actor, paths, CodeOwners(owners), run.config):
                return reason
        return DRY_RUN if run.policy.dry_run else ""

    def create_branch(self, pending: PendingMutation) -> None:
        if not self._store.create_branch(pending.branch, pending.commit):
            raise CannotPublish(_NAME_TAKEN.format(name=pending.branch))

    def open_pull_request(self, pending: PendingMutation) -> str | None:
        title = f"[#{self._task.number}] {format_subject(self._issue.title) or 'Proposed change'}"
        *tests, patch = self._store.read_commits(self._proposal)
        test_paths = [path for commit in tests for path in sorted(commit.files)]
        state, words, url = self._comment_state, read_words(patch.message), self._issue.url
        body = render_pull_request_body(
            pending.proposal_id, url, self._who, state.tests, words, test_paths, state.example
        )
        try:
            opened = self._store.open_pull_request(pending.branch, pending.commit, title, body)
        except PullRequestRefused as error:
            repository = self._job.run.repository
            url = f"{repository.server_url}/{repository.slug}/compare/{pending.branch}?expand=1"
            said = "refused_pull_request", self._who, pending.branch, url, str(error)
            self.text, self.links = render_block("proposal", *said), [url]
            return None
        self.text, self.links = render_block("proposal", "opened", self._who, opened.number, opened.url), [opened.url]
        return opened.url

    def finish(self, pending: PendingMutation) -> None:
        """Say on the issue what was done, then delete the proposal: until then, an approval can be repeated."""
        del pending
        done = PublishResult()
        comment, run = find_our_comment(self._issue), self._job.run
        shown = fold_approved(read_parts(comment.body).get("proposal", "")) if comment else ""
        old_links = list_links(shown)
        effects = list(plan_proposal_part(self._issue, self.text + shown, [*self.links, *old_links]))
        apply_issue_effects(effects, run.github, done)
        if done.failures:
            raise CannotPublish(" ".join(done.failures))
        self._store.delete(self._proposal)

    def drop(self, pending: PendingMutation) -> None:
        del pending
        if self._job.run.policy.dry_run:
            raise CannotPublish(DRY_RUN)
        self._store.delete(self._proposal)
        self.text = render_block("proposal", "rejected", self._who, self._task.words)
