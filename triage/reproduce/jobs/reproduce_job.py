"""What the jobs act through, and whom they admit."""

import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from triage.base.errors import GitHubUnavailable, NoSuchIssue, WrongUsage
from triage.domain.effect import IssueEffect
from triage.domain.issue import Issue
from triage.domain.run import Status
from triage.domain.task import ReproduceTask
from triage.read.kind.severity_signs import reports_vulnerability
from triage.read.read_issue import read_issue
from triage.reproduce.evidence import Evidence, Selection
from triage.reproduce.pages import Pages
from triage.run.job_context import ROLE_OF_ASKER, JobContext
from triage.run.may_run.admission import IssueRequest, check_reproduce
from triage.run.may_run.event import check_command_comment, restore_issue_at_trigger
from triage.run.write.apply_job_effects import PublishResult, apply_job_effects
from triage.run.write.write_results import write_to_issue
from triage.say.notices import plan_job_result

SECURITY = "it may be a security report, and the result would be public."
_NAME = r"[\w.+/!-]{1,100}"
_ON = re.compile(rf"(?:on\s+({_NAME}(?:\s*,\s*{_NAME}){{0,2}}))?", re.I)
_FORM = "after `/triage reproduce` stands nothing, or `on VERSION`, or up to three versions as in `on 2.4.1, main`."


@dataclass(frozen=True)
class ReproduceJob:
    context: JobContext
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
    selection_sha256: str
    """Of the file of the job `select`; empty in other jobs than `report`."""


class Request(NamedTuple):
    issue: Issue
    """As GitHub shows it now."""
    skip_reason: str
    """Why nothing is run, and nobody answered: whatever strangers write, and how often."""
    refusal: str
    """Why nothing is run, as the end of a sentence. Whoever asks learns it."""


async def read_request(number: int, task: ReproduceTask, job: ReproduceJob) -> Request:
    """Read the issue, and whether its example may be run. Raises TriageError if the issue cannot be read."""
    context = job.context
    issue = await context.ask_github(f"Issue #{number}", lambda: context.github.fetch_issue(number))
    issue_at_trigger = restore_issue_at_trigger(issue, context.event, context.now(), context.now())
    asked = IssueRequest(task, issue, issue_at_trigger, context.event, issue.snapshot_time or context.now())
    check = partial(check_reproduce, asked, context.github.fetch_role, context.config)
    skip_reason = await context.ask_github(ROLE_OF_ASKER, check)
    return Request(issue, skip_reason, _find_refusal(issue, context))


async def read_each(numbers: Iterable[int], job: ReproduceJob, done: PublishResult) -> AsyncIterator[Request]:
    """Yield the request of each issue that can be read. Of another one `done` says why it cannot."""
    for number in numbers:
        try:
            yield await read_request(number, ReproduceTask(number=number), job)
        except NoSuchIssue:  # it was moved or deleted since
            continue
        except GitHubUnavailable as error:
            done.add_failure(error)


def _find_refusal(issue: Issue, context: JobContext) -> str:
    if reports_vulnerability(read_issue(issue), issue.labels, asks_for_feature=False):
        return SECURITY
    reason = check_command_comment(issue, context.event)
    return reason[:1].lower() + reason[1:]


class Wish(NamedTuple):
    report: Issue
    on: list[str]
    """The versions that the command names."""
    own: str
    """The text of the command with its own block; empty without one."""


def read_wish(issue: Issue, task: ReproduceTask, context: JobContext) -> Wish:
    """Return which text the example is taken from, as it was when the event happened.

    Raises WrongUsage if the first line of the command is not understood.
    """
    report = restore_issue_at_trigger(issue, context.event, context.now(), context.now())
    first, _, below = task.words.partition("\n")
    named = _ON.fullmatch(first.strip())
    if named is None:
        raise WrongUsage(_FORM)
    on = re.split(r"\s*,\s*", named[1]) if named[1] else []
    return Wish(report, on, below if read_issue(Issue(title="", body=below)).code else "")


def select_allowed(effects: Sequence[IssueEffect], job: ReproduceJob) -> Sequence[IssueEffect]:
    policy = job.context.policy
    return effects if policy.comment != "never" and not policy.dry_run else ()


async def finish(
    job: ReproduceJob,
    page: str,
    outputs: Mapping[str, str] | None = None,
    effects: Sequence[IssueEffect] = (),
    links: Sequence[str] = (),
    done: PublishResult | None = None,
) -> Status:
    """Write to the issue, to the job's page and to the outputs. `page` is inert Markdown."""
    done = await write_to_issue(select_allowed(effects, job), job.context, done)
    planned = plan_job_result("reproduce", page, outputs or {}, Status.COMPLETE, links)
    apply_job_effects(planned, job.context.output, done)
    return done.downgrade_status(Status.COMPLETE)
