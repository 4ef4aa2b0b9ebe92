"""The end of a run: a last look at the issue, and everything that is written."""

from collections.abc import Sequence
from dataclasses import replace

from triage.base.errors import CannotPublish, TriageError
from triage.base.threads import OutOfTime, call_with_deadline
from triage.comment.comment import NOTHING_TO_SAY, decide_comment, withhold_details
from triage.comment.hidden_state import hash_text, parse_state
from triage.domain.effect import Effect, IssueEffect, SuggestionOptions
from triage.domain.issue import Issue
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.task import QuietTask, Trigger
from triage.job_page.notices import plan_unfinished, skip_effects
from triage.jobs.run import AdmittedTriage, Run, RunResult
from triage.safety.safe_markdown import sanitize_markdown
from triage.writes.apply_effects import UNKNOWN_NOTICE, apply_issue_effects, look_again
from triage.writes.apply_local_effects import PublishResult, apply_local_effects
from triage.writes.deduplicate import find_duplicates, find_our_comment, publish_skip_reason
from triage.writes.plan_effects import TrustedFacts, overwrite_with_trusted_facts, plan_quiet, plan_report
from triage.writes.plan_issue_effects import says_nothing_new
from triage.writes.plan_suggestions import list_candidates

REFETCH_SHARE = 0.5
"""Of the time that is left, for the last look: writing must still fit."""

LATER_TRIGGERS = (Trigger.EDITED, Trigger.REOPENED, Trigger.REPORTER_REPLY)
"""A run has looked at the issue before."""


async def publish_report(
    report: RunReport, admitted: AdmittedTriage, facts: TrustedFacts, paths: Sequence[str], run: Run
) -> RunResult:
    """Write everything about a report, and return the report as it was published.

    Minutes have passed since the issue was read, so it is read again first.
    """
    if report.security:
        report = withhold_details(report, facts.repository.labels)
    else:
        run.progress.log_group("Analysis", sanitize_markdown(report.why or report.root_cause))
    issue = admitted.fetched_issue
    partial = run.cancelled.is_set() and bool(report.ended_early)
    may_comment = run.policy.comment != "never" and not run.policy.dry_run
    if may_comment and (not partial or (report.findings and not find_our_comment(issue))):
        issue = await refetch_issue(issue, run) or issue
    before = admitted.issue_at_trigger
    edited = hash_text(issue.title, issue.body) != hash_text(before.title, before.body)
    report = report.model_copy(update={"issue": report.issue.model_copy(update={"edited_since": edited})})
    comment = find_our_comment(issue)
    reason = publish_skip_reason(before, issue, admitted.comment_state, parse_state(comment.body) if comment else None)
    if reason:
        run.progress.info(reason)
        report = add_notes(report, reason)
    comment_reason = decide_comment(
        report, run.policy.comment, is_asked=admitted.task.is_asked, has_comment=comment is not None
    )
    report = report.model_copy(update={"comment_reason": None if reason else comment_reason})
    if not (comment_reason or reason) and run.policy.comment == "auto":
        run.progress.info(NOTHING_TO_SAY)
    may_suggest = not (partial or reason or says_nothing_new(report, comment))
    options = await _fetch_suggestion_options(report, admitted, issue, facts, run) if may_suggest else None
    effects = plan_report(
        report,
        run.policy,
        before.model_copy(update={"labels": issue.labels}),
        facts,
        comment,
        paths,
        partial=partial,
        run=admitted.key,
        duplicates=find_duplicates(issue),
        is_skipped=bool(reason),
        remembers_labels=run.policy.comment != "auto"
        or comment is not None
        or admitted.task.trigger not in LATER_TRIGGERS,
        needs_info_label=run.config.needs_info_label,
        options=options,
    )
    done = await write_effects(effects, run)
    result = _build_result(report.status, done, report)
    where = done.comment_url or ("unchanged" if comment else "none")
    run.progress.info(f"Ended {result.status} after {report.seconds:.1f} s. Comment: {where}")
    return result


async def refetch_issue(issue: Issue, run: Run) -> Issue | None:
    """Return the issue as it is now, with all our comments.

    Returns None when GitHub does not answer; the next write reports the error.
    """
    number = issue.number
    if number is None:
        return None

    def seconds() -> float:
        return run.seconds_left() * REFETCH_SHARE

    try:
        now = await call_with_deadline(
            lambda: run.github.refetch_issue(number), run.cancelled, seconds(), seconds_after_cancel=seconds
        )
    except (TriageError, OutOfTime):
        return None
    ours = {comment.comment_id: comment for comment in issue.thread if comment.ours}
    thread = ours | {comment.comment_id: comment for comment in now.thread}
    return now.model_copy(update={"thread": list(thread.values())})


async def _fetch_suggestion_options(
    report: RunReport, admitted: AdmittedTriage, issue: Issue, facts: TrustedFacts, run: Run
) -> SuggestionOptions | None:
    """Ask GitHub what may be suggested on the issue; none where nothing is."""
    policy, number = run.policy, issue.number
    if number is None or policy.comment == "never" or policy.labels == "off":
        return None
    if find_our_comment(issue) is None and admitted.task.trigger in LATER_TRIGGERS:
        return None  # nothing remembers what a person has declined
    asked = list_candidates(overwrite_with_trusted_facts(report, facts, number), policy.labels)
    try:
        return await call_with_deadline(
            lambda: run.github.fetch_suggestion_options(number, *asked),
            run.cancelled,
            run.seconds_left() * REFETCH_SHARE,
        )
    except (TriageError, OutOfTime):
        return None


async def write_effects(effects: Sequence[Effect], run: Run) -> PublishResult:
    """Write to the issue while there is time, and to this machine in any case."""
    done = PublishResult()
    if not any(isinstance(effect, IssueEffect) for effect in effects):
        return apply_local_effects(effects, run.output, done)
    try:
        await call_with_deadline(
            lambda: apply_issue_effects(effects, run.github, done, run.approvals),
            run.cancelled,
            run.seconds_left(),
            seconds_after_cancel=run.seconds_left,
        )
    except OutOfTime as error:
        done = _copy(done)
        done.add_failure(CannotPublish(f"Writing to the issue: {error}. The comment may or may not have been posted."))
    else:
        done = await _look_again(done, run)
    return apply_local_effects(effects, run.output, done)


async def _look_again(done: PublishResult, run: Run) -> PublishResult:
    # What must be written is written: a cancelled run ends at once.
    if done.posted is None:
        return done
    try:
        await call_with_deadline(lambda: look_again(run.github, done), run.cancelled, run.seconds_left())
    except OutOfTime:
        done = _copy(done)
        done.annotations = [*(one for one in done.annotations if one != UNKNOWN_NOTICE), UNKNOWN_NOTICE]
    return done


def _copy(done: PublishResult) -> PublishResult:
    # The thread that writes to it may go on.
    return replace(done, failures=list(done.failures), annotations=list(done.annotations))


def _build_result(status: Status, done: PublishResult, report: RunReport | None = None) -> RunResult:
    if done.needs_setup_fix:
        return RunResult(Status.FAILED, report)
    return RunResult(Status.DEGRADED if done.failures and status is Status.COMPLETE else status, report)


def add_notes(report: RunReport, *notes: str) -> RunReport:
    """Return the report with these notes before its own; empty ones are left out."""
    return report.model_copy(update={"notes": [*filter(None, notes), *report.notes]})


async def write_quiet(task: QuietTask, issue: Issue, run: Run) -> RunResult:
    run.progress.info(f"Triage is quiet on issue {task.number} from now on.")
    done = await write_effects(plan_quiet(task.number, find_our_comment(issue), run.policy), run)
    return _build_result(Status.SKIPPED, done)


def write_skip(reason: str, run: Run) -> RunResult:
    run.progress.info(f"Nothing to do: {reason}")
    apply_local_effects(skip_effects(reason), run.output)
    return RunResult(Status.SKIPPED)


def write_unfinished(reason: str, run: Run) -> RunResult:
    """Write to the job's page why nothing could be done."""
    apply_local_effects(plan_unfinished(reason), run.output)
    return RunResult(Status.DEGRADED)
