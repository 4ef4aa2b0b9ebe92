"""Commands of people and of others: what is changed on GitHub without a person's approval, or twice.

The server's own data is judged: labels, type, assignees, branches, tags, pull requests, texts of others.
"""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from unittest.mock import patch

from triage.domain.proposal import PROPOSAL_LIFETIME, PullRequest
from triage.fix.proposal_store import GitHubProposalStore
from trust import forged_approvals, interrupted_approvals, outdated_approvals, owner_approvals, unseen_commits
from trust.approval_case import REF, Case
from trust.approval_world import BOT, ApprovalWorld, Effects, serve_world
from trust.measure import Measure, MeasureResult, sample_evenly

BRANCH_PREFIX = "refs/heads/triage/7-"
MAKERS = (
    forged_approvals.make_ids,
    forged_approvals.make_places,
    forged_approvals.make_comments,
    forged_approvals.make_shown,
    forged_approvals.make_commands,
    forged_approvals.make_closed_conversations,
    forged_approvals.make_refs,
    interrupted_approvals.make_roles,
    interrupted_approvals.make_faults,
    interrupted_approvals.make_kills,
    interrupted_approvals.make_races,
    outdated_approvals.make_bases,
    outdated_approvals.make_issues,
    outdated_approvals.make_times,
    outdated_approvals.make_replays,
    owner_approvals.make_owners,
    unseen_commits.make_unseen_bases,
    unseen_commits.make_unseen_commits,
    unseen_commits.make_unseen_messages,
    unseen_commits.make_planted_times,
    unseen_commits.make_closed_pull_requests,
)


def run(share: float) -> MeasureResult:
    return _try_all(sample_evenly(_list_cases(), share))


def _list_cases() -> list[Case]:
    return [case for make in MAKERS for case in make()]


def _try_all(cases: list[Case]) -> MeasureResult:
    failures = [found for case in cases for found in _try(case)]
    approved = sum(case.expected == "once" for case in cases)
    return MeasureResult(len(cases), failures, f"{approved:,} of them approved, and done once")


def _try(case: Case) -> list[str]:
    with serve_world() as world:
        world.store_patch(REF)
        case.attempt(world)
        return [f"{case.kind}, {case.name}: {found}" for found in _judge(case, world)]


def _judge(case: Case, world: ApprovalWorld) -> list[str]:
    before, now = world.before, world.read_effects()
    assert before is not None, "the case has run something"
    problems = [] if len(_list_ours(world)) <= 1 else ["more than one comment of ours"]
    done = _expect(world, before)
    is_right = {"nothing": now == before, "once": now == done, "part": _is_part(now, before, done)}[case.expected]
    return problems if is_right else [*problems, f"{case.expected} expected, found {_describe(before, now)}"]


def _is_part(now: Effects, before: Effects, done: Effects) -> bool:
    return all(getattr(now, name) in (getattr(before, name), getattr(done, name)) for name in vars(now))


def _list_ours(world: ApprovalWorld) -> list[str]:
    return [comment["body"] for comment in world.api.comments if comment["user"]["login"] == BOT]


def _expect(world: ApprovalWorld, before: Effects) -> Effects:
    """Returns what GitHub has after exactly what was shown: the patch's commit."""
    # The branch's name is the program's choice within the prefix.
    name = next((name for name in world.git.refs if name.startswith(BRANCH_PREFIX)), BRANCH_PREFIX)
    branch = name.removeprefix("refs/heads/")
    return replace(
        before,
        refs={**before.refs, name: world.patch_commit},
        pull_requests=(*before.pull_requests, (branch, world.patch_commit, True)),
    )


def _describe(before: Effects, now: Effects) -> str:
    fields = [name for name in vars(before) if getattr(before, name) != getattr(now, name)]
    return f"changes of {', '.join(fields)}" if fields else "none"


NO_PROBLEM = (
    "triage.fix.jobs.fix_job.check_role",
    "triage.fix.jobs.fix_job.check_command_comment",
    "triage.fix.jobs.apply_fix.check_proposal",
    "triage.fix.proposal_store.GitHubProposalStore.list_changed_on_base",
    "triage.fix.proposal_store.GitHubProposalStore.read_code_owners",
)
CONFIRMED = (
    "triage.fix.proposal_store.GitHubProposalStore.is_on_default_branch",
    "triage.outside.github.issue_nodes.EditedComment.is_alone_by",
)
WITHOUT_DEFENCE = ("command", "role", "issue", "time", "comment", "base")
"""Kinds of cases that fail without these checks."""


def _find_any(self: GitHubProposalStore, branch: str, *_: object) -> PullRequest | None:
    listed = self.repository.get_pulls(state="all", head=f"octo:{branch}").get_page(0)
    return PullRequest(number=listed[0].number, url=listed[0].html_url) if listed else None


ALONE: Mapping[str, tuple[str, object]] = {
    "shown": ("triage.fix.jobs.apply_fix.read_parts", lambda body: {"proposal": body}),
    "unseen base": ("triage.fix.git_data.GitData.is_ancestor", lambda *_: True),
    "unseen commit": ("triage.fix.proposal_store.GitHubProposalStore._hides_files", lambda *_: False),
    "unseen message": ("triage.fix.commit_text._is_safe", lambda *_: True),
    "planted time": ("triage.fix.check_command.MAX_AHEAD", PROPOSAL_LIFETIME),
    "closed pull request": ("triage.fix.proposal_store.GitHubProposalStore._find_pull_request", _find_any),
}
"""Kinds of cases that fail without one check, and that check."""


@contextlib.contextmanager
def _without_defence() -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for name in NO_PROBLEM:
            stack.enter_context(patch(name, lambda *_: ""))
        for name in CONFIRMED:
            stack.enter_context(patch(name, lambda *_: True))
        yield


def run_without_defence() -> MeasureResult:
    """Approvals that are believed: whoever gives them, whenever, and whatever has changed since.

    Returns no failure unless there is one in each kind of cases.
    """
    everything = _list_cases()
    cases = [case for case in everything if case.expected == "nothing"]
    tried = [next(case for case in cases if case.kind == kind) for kind in WITHOUT_DEFENCE]
    owned = {f"{name}, {owner_approvals.PLACES[0]}" for name in owner_approvals.WITHOUT_DEFENCE}
    tried += [case for case in cases if case.name in owned]
    with _without_defence():
        failures = [_try(case) for case in tried]
    for kind, (name, replacement) in ALONE.items():
        tried.append(next(case for case in everything if case.kind == kind))
        with patch(name, replacement):
            failures.append(_try(tried[-1]))
    return MeasureResult(len(tried), [words for found in failures for words in found] if all(failures) else [])


MEASURE = Measure(
    "Changes without approval",
    "0",
    "`/triage approve` with wrong ids, forged comments, other roles, faults, races, changed code: any change but what "
    "was shown, once.",
    run,
    run_without_defence,
)
