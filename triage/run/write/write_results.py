"""The end of a run: a last look at the issue, and everything that is written."""

from collections.abc import Sequence
from dataclasses import replace

from triage.base.errors import CannotPublish, TriageError
from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.effect import AddLabels, Effect, IssueEffect, Policy, SuggestionOptions
from triage.domain.issue import Issue
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.task import QuietTask, TriageTask, Trigger
from triage.run.job_context import JobContext
from triage.run.may_run.admission import IssueRequest, has_actor_write_access
from triage.run.may_run.event import to_run_key
from triage.run.write.apply_effects import apply_issue_effects
from triage.run.write.apply_job_effects import PublishResult, apply_job_effects
from triage.run.write.plan_effects import PlanInput, plan_quiet, plan_report, shows_report
from triage.run.write.plan_suggestions import find_suggested_original, list_suggested_labels
from triage.say.comment import withhold_details
from triage.say.decide import NOTHING_TO_SAY, SKILL_NEEDS_APPROVAL, decide_comment, find_unapproved_skill
from triage.say.hidden_state import hash_text, parse_state
from triage.say.notices import plan_skip, plan_unfinished
from triage.say.our_comment import check_still_wanted, find_our_comment, find_surplus_comments

REFETCH_SHARE = 0.5
"""Of the time that is left, for the last look: writing must still fit."""

LATER_TRIGGERS = (Trigger.EDITED, Trigger.REOPENED, Trigger.REPORTER_ANSWER)
"""A run has looked at the issue before."""
NOT_QUIET = "`/triage quiet` and `wrong` do nothing with `comment: never`: no comment may remember it."
NO_COMMENT = "There is no comment on this issue that could be wrong."


async def publish_report(
    report: RunReport, request: IssueRequest[TriageTask], labels: Sequence[str], context: JobContext
) -> RunReport:
    """Write everything about a report, and return the report as it was published.

    Minutes have passed since the issue was read, so it is read again first. `labels` are those that the project allows.
    """
    if report.security:
        report = withhold_details(report, labels)
    issue_at_trigger, issue = request.issue_at_trigger, request.issue
    # Whoever cancels a run wants no comment of it, or has started another one.
    is_cancelled = context.cancelled.is_set() and bool(report.ended_early)
    policy = forbid_writes(context.policy) if is_cancelled else context.policy
    if not policy.dry_run and (policy.comment != "never" or policy.labels != "off"):
        issue = await read_again(issue, context)
    comment = find_our_comment(issue)
    comment_state = parse_state(comment.body) if comment else None
    edited = hash_text(issue.title, issue.body) != hash_text(issue_at_trigger.title, issue_at_trigger.body)
    report = report.model_copy(update={"issue": report.issue.model_copy(update={"edited_since": edited})})
    unwanted_reason = check_still_wanted(issue_at_trigger, issue, request.comment_state, comment_state)
    policy = forbid_writes(policy) if unwanted_reason else policy
    skill = find_unapproved_skill(report)
    task = request.task
    asked_with_write_access = bool(skill) and task.is_asked and await has_actor_write_access(task, context)
    comment_reason = decide_comment(
        report,
        policy.comment,
        is_asked=request.task.is_asked or bool(comment_state and comment_state.is_asked),
        has_comment=comment is not None,
        asked_with_write_access=asked_with_write_access,
    )
    report = report.model_copy(update={"comment_reason": comment_reason})
    if unwanted_reason:
        context.progress.info(unwanted_reason)
        report = add_notes(report, unwanted_reason)
    elif skill and not asked_with_write_access:
        report = add_notes(report, SKILL_NEEDS_APPROVAL.format(skill=skill))
    elif not comment_reason and policy.comment == "auto":
        context.progress.info(NOTHING_TO_SAY)
    # What a person took off or declined, only our comment tells a later run.
    knows_refusals = bool(comment or request.comment_state) or request.task.trigger not in LATER_TRIGGERS
    options = None
    if knows_refusals and not shows_report(comment_state, report):
        options = await _fetch_suggestion_options(report, issue, policy, context)
    plan_input = PlanInput(
        policy=policy,
        issue=issue_at_trigger.model_copy(update={"labels": issue.labels}),
        our_comment=comment,
        comment_state=comment_state,
        run_key=to_run_key(request.task, request.event),
        surplus_comment_ids=find_surplus_comments(issue),
        may_choose_labels=(asked_with_write_access or not skill) and (policy.comment == "always" or knows_refusals),
        options=options,
    )
    effects = plan_report(report, plan_input)
    # Labels first: the comment says which ones were chosen, and remembers them. So if they fail, it is planned without.
    label_effects = [effect for effect in effects if isinstance(effect, AddLabels)]
    done = await write_to_issue(label_effects, context)
    if done.failures:
        without_labels = policy.model_copy(update={"labels": "off"})
        effects = plan_report(report, replace(plan_input, policy=without_labels))
    done = await write_to_issue([effect for effect in effects if effect not in label_effects], context, done)
    apply_job_effects(effects, context.output, done)
    status = done.downgrade_status(report.status)
    where = done.comment_url or ("unchanged" if comment else "none")
    context.progress.info(f"Ended {status} after {report.seconds:.1f} s. Comment: {where}")
    return report.model_copy(update={"status": status})


async def read_again(issue: Issue, context: JobContext) -> Issue:
    """Return the issue as it is now; as it was if GitHub does not answer. Then the next write reports the error."""
    number = issue.number
    if number is None:
        return issue

    def seconds() -> float:
        return context.seconds_left() * REFETCH_SHARE

    try:
        return await call_with_deadline(
            lambda: context.github.fetch_issue(number), context.cancelled, seconds(), seconds_after_cancel=seconds
        )
    except (TriageError, OutOfTime):
        return issue


def forbid_writes(policy: Policy) -> Policy:
    """Return the policy of a run whose report stays on the job's page; the report's notes say why."""
    return policy.model_copy(update={"comment": "never", "labels": "off"})


async def _fetch_suggestion_options(
    report: RunReport, issue: Issue, policy: Policy, context: JobContext
) -> SuggestionOptions | None:
    """Ask GitHub what may be suggested on the issue; none where nothing is."""
    number = issue.number
    if number is None or policy.labels == "off":
        return None
    labels, original = list_suggested_labels(report, policy.labels), find_suggested_original(report)
    try:
        return await call_with_deadline(
            lambda: context.github.fetch_suggestion_options(number, labels, original),
            context.cancelled,
            context.seconds_left() * REFETCH_SHARE,
        )
    except (TriageError, OutOfTime):
        return None


async def write_to_issue(
    effects: Sequence[Effect], context: JobContext, earlier: PublishResult | None = None
) -> PublishResult:
    """Apply the effects on the issue while there is time. They add to what was written `earlier`."""
    done = earlier or PublishResult()
    if not any(isinstance(effect, IssueEffect) for effect in effects):
        return done
    try:
        await call_with_deadline(
            lambda: apply_issue_effects(effects, context.github, done),
            context.cancelled,
            context.seconds_left(),
            seconds_after_cancel=context.seconds_left,
        )
    except OutOfTime as error:
        # The thread that writes to it may go on.
        done = replace(done, failures=list(done.failures), annotations=list(done.annotations))
        done.add_failure(CannotPublish(f"Writing to the issue: {error}. What was sent last may or may not be there."))
    return done


def add_notes(report: RunReport, *notes: str) -> RunReport:
    """Return the report with these notes before its own; empty ones are left out."""
    return report.model_copy(update={"notes": [*filter(None, notes), *report.notes]})


async def write_quiet(issue: Issue, task: QuietTask, context: JobContext) -> Status:
    """Write that nothing more is written on the issue until somebody asks, or take back what is wrong."""
    comment = find_our_comment(issue)
    if context.policy.comment == "never" or (task.wrong and comment is None):
        return write_skip(NO_COMMENT if task.wrong and comment is None else NOT_QUIET, context)
    about = f" about {', '.join(task.wrong)}" if task.wrong else ""
    context.progress.info(f"Triage is quiet{about} on issue {issue.number} from now on.")
    effects = plan_quiet(task, comment, context.policy)
    done = await write_to_issue(effects, context)
    apply_job_effects(effects, context.output, done)
    return done.downgrade_status(Status.SKIPPED)


def write_skip(reason: str, context: JobContext) -> Status:
    context.progress.info(f"Nothing to do: {reason}")
    apply_job_effects(plan_skip(reason), context.output)
    return Status.SKIPPED


def write_unfinished(reason: str, context: JobContext) -> Status:
    """Write to the job's page why nothing could be done."""
    apply_job_effects(plan_unfinished(reason), context.output)
    return Status.DEGRADED
