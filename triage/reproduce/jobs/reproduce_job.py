"""What the jobs act through, and whom they admit."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from triage.approval.decide_approval import WRITE_ROLES
from triage.base.errors import WrongUsage
from triage.comment.template import MAX_SUMMARY_UNITS, ensure_safe
from triage.domain.code import ExecutedCode
from triage.domain.effect import IssueEffect, SetOutputs, WriteSummary
from triage.domain.issue import Issue
from triage.domain.run import Status
from triage.domain.task import ReproduceTask
from triage.events.trigger_snapshot import approval_skip_reason, restore_issue_at_trigger
from triage.issue.kind.severity_signs import reports_vulnerability
from triage.issue.read_issue import read_issue
from triage.job_page.notices import EMPTY_OUTPUTS
from triage.jobs.run_context import Run, RunResult
from triage.jobs.write_results import write_effects
from triage.reproduce.evidence import Evidence, Selection
from triage.reproduce.pages import Pages
from triage.writes.apply_local_effects import PublishResult

MAY_ASK = WRITE_ROLES | {"triage"}
NOT_ASKED = "`/triage reproduce` is for people with triage rights and the author of an issue with the opt-in label."
SECURITY = "it may be a security report, and the result would be public."
_NAME = r"[\w.+/!-]{1,100}"
_ON = re.compile(rf"(?:on\s+({_NAME}(?:\s*,\s*{_NAME}){{0,2}}))?", re.I)
_FORM = "after `/triage reproduce` stands nothing, or `on VERSION`, or up to three versions as in `on 2.4.1, main`."


@dataclass(frozen=True)
class ReproduceJob:
    run: Run
    select: Callable[[Issue, Sequence[str], str], Selection]
    """Slow. Takes a `Wish`. Raises NothingToRun and WrongUsage."""
    list_reproduced: Callable[[], Sequence[int]]
    """Issues that may show a reproduction, newest first. Slow."""
    execute: Callable[[Selection, float, Callable[[Evidence], bool]], Iterator[Evidence]]
    """Slow: runs the example for these seconds, and yields first what happened, then that and since when, if the
    function wants it. Raises SetupError."""
    open_pages: Callable[[], Pages]
    """The checkout on GitHub. Slow."""
    read_file: Callable[[str], bytes | None]
    write_file: Callable[[str, str], str]
    open_triage: Callable[[ExecutedCode], Run]
    """Return what a triage acts through that knows what the example executed."""
    selection_sha256: str
    """Of the file of the job `select`; empty in other jobs than `report`."""


def is_unasked(task: ReproduceTask, job: ReproduceJob) -> bool:
    """Return whether an opened issue starts the run, so that no person with rights has asked for it."""
    return task.number is not None and not task.actor and job.run.event_issue is not None


class Request(NamedTuple):
    issue: Issue
    """As GitHub shows it now."""
    may_ask: bool
    refusal: str = ""
    """Why nothing is run, as the end of a sentence."""


async def read_request(number: int, task: ReproduceTask, job: ReproduceJob) -> Request:
    """Read the issue, and whether whoever commands may. Raises TriageError if the issue cannot be read."""
    run = job.run
    issue = await run.ask_github(f"Issue #{number}", lambda: run.github.fetch_issue(number))
    role = await run.ask_github("The role of whoever asks", lambda: run.github.fetch_role(task.actor))
    label = run.config.opt_in_label
    is_invited_author = bool(label) and issue.has_label(label) and issue.author.lower() == task.actor.lower()
    may_ask = not task.actor or role in MAY_ASK or is_invited_author
    return Request(issue, may_ask, _find_refusal(issue, run))


def _find_refusal(issue: Issue, run: Run) -> str:
    if issue.is_pull_request or issue.locked:
        return "commands do not count on locked issues and on pull requests."
    if run.config.opt_out_label and issue.has_label(run.config.opt_out_label):
        return "the issue carries the project's opt-out label."
    if reports_vulnerability(read_issue(issue), issue.labels, is_request=False):
        return SECURITY
    reason = approval_skip_reason(issue, run.event_issue)
    return reason[:1].lower() + reason[1:]


class Wish(NamedTuple):
    report: Issue
    on: list[str]
    """The versions that the command names."""
    own: str
    """The text of the command with its own block; empty without one."""


def read_wish(issue: Issue, task: ReproduceTask, run: Run) -> Wish:
    """Return which text the example is taken from, as it was when the event happened.

    Raises:
        WrongUsage: The first line of the command is not understood.
    """
    report = restore_issue_at_trigger(issue, run.event_issue, run.now(), run.now())
    first, _, below = task.words.partition("\n")
    named = _ON.fullmatch(first.strip())
    if named is None:
        raise WrongUsage(_FORM)
    on = re.split(r"\s*,\s*", named[1]) if named[1] else []
    return Wish(report, on, below if read_issue(Issue(title="", body=below)).code else "")


def select_allowed(effects: Sequence[IssueEffect], job: ReproduceJob) -> Sequence[IssueEffect]:
    policy = job.run.policy
    return effects if policy.comment != "never" and not policy.dry_run else ()


def plan_page(page: str, links: Sequence[str] = ()) -> WriteSummary:
    return WriteSummary(markdown=ensure_safe(f"## Bug triage: reproduce\n\n{page}\n", links, MAX_SUMMARY_UNITS))


async def finish(
    job: ReproduceJob,
    page: str,
    outputs: Mapping[str, str] | None = None,
    effects: Sequence[IssueEffect] = (),
    links: Sequence[str] = (),
    done: PublishResult | None = None,
) -> RunResult:
    """Write to the issue, to the job's page and to the outputs. `page` is inert Markdown."""
    status = Status.COMPLETE
    values = EMPTY_OUTPUTS | {"status": status.value} | dict(outputs or {})
    local = (plan_page(page, links), SetOutputs(values=values))
    done = await write_effects([*select_allowed(effects, job), *local], job.run, done)
    if done.needs_setup_fix:
        return RunResult(Status.FAILED)
    return RunResult(Status.DEGRADED if done.failures else status)
