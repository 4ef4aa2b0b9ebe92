"""Our comment: whether a report is worth one, its parts, and what of a security report nothing published may say."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from triage.comment.hidden_state import CommentState, render_state
from triage.comment.sections import MAX_COMMENT_UNITS, Page, build_page, render_page, utf16_length
from triage.domain.effect import CommentMode, Policy
from triage.domain.report import CommentReason, RunReport, Ticket
from triage.domain.run import Outcome

QUIET_NOTICE = "_Triage is quiet on this issue. A comment that says_ `/triage` _wakes it._"


def render_comment(page: Page, state: CommentState, previous: str = "") -> str:
    """Return the whole body of the comment. `state` is what it remembers.

    A reproduction, a proposal and an answer of the `previous` body stay. The report has the room that they leave.
    """
    old = split_comment(previous)
    room = MAX_COMMENT_UNITS - utf16_length(page.frozen + old.reproduction + old.proposal + old.answer)
    report = render_visible_comment(page, room)
    return join_comment(old._replace(state_line=render_state(state), report=report, frozen=page.frozen))


def render_visible_comment(page: Page, max_utf16_units: int = MAX_COMMENT_UNITS) -> str:
    """Return the report of the comment, without its first line, the hidden state."""
    folds = [fold for fold in page.folds if not fold.is_summary_only]
    return render_page(replace(page, folds=folds), max_utf16_units)


def preview_comment(report: RunReport, policy: Policy) -> RunReport:
    """Return the report with the comment that an issue gets which was just opened, if it gets any."""
    reason = decide_comment(report, policy.comment)
    page = build_page(report, labels=policy.labels)
    return report.model_copy(
        update={"comment_reason": reason, "comment": render_visible_comment(page) if reason else None}
    )


def render_quiet_comment(body: str, state: CommentState) -> str:
    parts = split_comment(body)
    quiet = render_state(state.model_copy(update={"quiet": True}))
    return join_comment(parts._replace(state_line=quiet, report=f"{QUIET_NOTICE}\n\n{parts.report}".rstrip()))


FROZEN_OPEN = "<!-- bug-triage-suggestions: "
FROZEN_CLOSE = " -->"
REPRODUCTION_MARK = "<!-- bug-triage-reproduction -->"
PROPOSAL_MARK = "<!-- bug-triage-proposal -->"
ANSWER_MARK = "<!-- bug-triage-answer -->"


class CommentParts(NamedTuple):
    state_line: str
    report: str
    proposal: str = ""
    """The proposed patch; Markdown."""
    answer: str = ""
    """One line about the last command."""
    frozen: str = ""
    """The hidden second line: what `/triage apply` carries out."""
    reproduction: str = ""
    """What the example of the report did; Markdown."""


def split_comment(body: str) -> CommentParts:
    """Return the parts of a comment of ours. Text of a report cannot hold a mark: it has no HTML."""
    state_line, _, rest = body.replace("\r\n", "\n").partition("\n")
    line, _, below = rest.partition("\n")
    frozen = line if line.startswith(FROZEN_OPEN) and line.endswith(FROZEN_CLOSE) else ""
    rest = below if frozen else rest
    rest, _, answer = rest.partition(f"\n{ANSWER_MARK}\n")
    rest, _, proposal = rest.partition(f"\n{PROPOSAL_MARK}\n")
    report, _, reproduction = rest.partition(f"\n{REPRODUCTION_MARK}\n")
    report, reproduction, proposal, answer = (text.strip("\n") for text in (report, reproduction, proposal, answer))
    return CommentParts(state_line, report, proposal, answer, frozen, reproduction)


def join_comment(parts: CommentParts) -> str:
    """Return the body of a comment. An empty part leaves no trace."""
    frozen = f"{parts.frozen}\n" if parts.frozen else ""
    body = f"{parts.state_line}\n{frozen}{parts.report}\n"
    body += f"\n{REPRODUCTION_MARK}\n{parts.reproduction}\n" if parts.reproduction else ""
    body += f"\n{PROPOSAL_MARK}\n{parts.proposal}\n" if parts.proposal else ""
    return body + (f"\n{ANSWER_MARK}\n{parts.answer}\n" if parts.answer else "")


MAX_BODY_UNITS = 65_000
"""GitHub accepts 65,536 characters, and may count otherwise than we do."""
CUT_REPORT = "_The report was cut to make room. A comment that says_ `/triage` _writes it again._"


def fit_comment(parts: CommentParts) -> str:
    """Return the body of a comment, without its report if both are too long together."""
    body = join_comment(parts)
    return body if utf16_length(body) <= MAX_BODY_UNITS else join_comment(parts._replace(report=CUT_REPORT))


NOTHING_TO_SAY = "Nothing sure enough to say: no comment (comment: always writes one)."


WAITS = (
    "The skill `{skill}` requires approval, so nothing was written to the issue: a comment that says `/triage`, by "
    "somebody with write access, writes it."
)


def decide_comment(
    report: RunReport,
    mode: CommentMode,
    *,
    is_asked: bool = False,
    has_comment: bool = False,
    is_approved: bool = False,
) -> CommentReason | None:
    """Return why the issue gets a comment; None if the report stays on the page of the job.

    `is_asked` says that a person asked for this run, and `has_comment` that a comment of ours stands on the issue. It
    is brought up to date even if nothing is sure any more: what it said may be wrong now. With a skill that requires
    approval, nothing is written unless `is_approved`: somebody with write access asked for this run.
    """
    if mode == "never" or (find_waiting_skill(report) and not is_approved):
        return None
    if reason := _find_reason(report):
        return reason
    if has_comment:
        return "update"
    if is_asked:
        return "asked"
    return "always" if mode == "always" else None


def find_waiting_skill(report: RunReport) -> str:
    """Return the id of a skill that applies and requires approval; empty without one."""
    return next((skill.id for skill in report.skills if skill.requires_approval), "")


def _find_reason(report: RunReport) -> CommentReason | None:
    if report.security:
        return "security"
    if report.possible_duplicate:
        return "duplicate"
    if report.kind == "bug" and (report.best_place or report.likely_files):
        return "found"
    if report.kind == "bug" and report.regression_window and report.regression_window.is_narrow:
        return "regression"
    if report.kind == "bug" and _is_analysed(report):
        return "analysis"
    return "question" if report.missing_information else None


def _is_analysed(report: RunReport) -> bool:
    """Return whether a model wrote what the cause is, and the critic did not reject it."""
    is_by_model = any(
        step.step == "writer" and step.engine == "model" and step.outcome is Outcome.SUCCESS for step in report.steps
    )
    return is_by_model and report.verdict in ("CONFIRMED", "UNCERTAIN") and bool(report.why.strip())


SECURITY_TITLE = "Possible security report"
_LABELS = frozenset({"security", "vulnerability", "security report", "security issue"})
_PUBLISHED_FIELDS = (
    "schema_version",
    "triage_version",
    "request_id",
    "started_at",
    "seconds",
    "status",
    "engine",
    "repository",
    "server_url",
    "commit",
    "run_url",
    "actor",
    "feature_flags",
    "ended_early",
    "kind",
    "language",
    "security",
    "security_policy",
    "usage",
    "reused",
    "limits",
    "index",
)
"""What says nothing about the issue. A field that is not listed is not published."""


def withhold_details(report: RunReport, labels: Sequence[str] = ()) -> RunReport:
    """Return a report of the run alone: no place, severity, example or word of the issue, of a model or of the web.

    `labels` are those that the project allows; one that says security stays.
    """
    published = {name: getattr(report, name) for name in _PUBLISHED_FIELDS}
    steps = [step.model_copy(update={"shortfalls": [], "answer_check": None, "tools": []}) for step in report.steps]
    return RunReport(
        **published,
        issue=report.issue.model_copy(update={"title": SECURITY_TITLE}),
        verdict=None,
        severity=None,
        confidence=0.0,
        summary=SECURITY_TITLE,
        root_cause="",
        ticket=Ticket(title=SECURITY_TITLE, labels=[label for label in labels if is_security_label(label)]),
        steps=steps,
        decisions=[
            decision if decision.origin == "rules" else decision.model_copy(update={"reason": ""})
            for decision in report.decisions
        ],
    )


def is_security_label(label: str) -> bool:
    """Return whether a label such as `security` or `type: security` only says what the issue is about."""
    return label.casefold().replace("/", ":").rpartition(":")[2].strip() in _LABELS
