"""Our comment: its parts, and what of a security report nothing published may say."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from triage.base.text import truncate
from triage.domain.effect import Policy
from triage.domain.report import RunReport, Ticket
from triage.domain.task import Subject
from triage.safety.active_content import list_links
from triage.safety.safe_markdown import format_code_block
from triage.say.decide import decide, decide_comment
from triage.say.hidden_state import (
    MAX_LINE_CHARS,
    PART_NAMES,
    CommentState,
    PartName,
    ShownPart,
    cut_wrong,
    find_said,
    parse_state,
    render_state,
)
from triage.say.report_pages import Page, build_comment_page, fit_page, render_page, utf16_length
from triage.say.template import ensure_safe, render_block

MAX_VISIBLE_UNITS = 65_000 - MAX_LINE_CHARS
"""GitHub accepts 65,536 characters with the hidden line, and may count otherwise than we do."""
QUIET_NOTICE = "_Triage is quiet on this issue. A comment that says_ `/triage` _wakes it._"
CUT_NOTICES: dict[PartName, str] = {
    "report": "_The report was cut to make room. A comment that says_ `/triage` _writes it again._",
    "reproduction": "_The result was cut to make room. A comment that says_ `/triage reproduce` _writes it again._",
}
OLD_TEXT = "_What this comment said before, as text. A comment that says_ `/triage` _writes it again._"


def compose_comment(
    body: str, state: CommentState, parts: Page | Mapping[PartName, str], links: Sequence[str] = ()
) -> str:
    """Return the whole body of our comment, which remembers `state`. Nothing else makes one.

    What `parts` lacks stays as `body`, the comment until now, shows it; an empty part goes. A page is the
    report and the footer, in the room that the others leave, with its own links. What of `body` is no part any more is
    shown as code until there is a new report. Each part, and then the whole, is parsed and judged: what is active, but
    for `links` and those of a part that stays, becomes code. A proposal waits only if it is shown.
    """
    names = ("report", "footer") if isinstance(parts, Page) else parts
    remaining = {name: text for name, text in _read_shown(body).items() if name not in names}
    if isinstance(parts, Page):
        page, links = parts, parts.links
        room = MAX_VISIBLE_UNITS - utf16_length("\n\n".join([*remaining.values(), page.footer, ""]))
        parts = {"report": fit_page(replace(page, footer=""), room), "footer": page.footer}
        state = state.model_copy(update={"said": find_said(page.subjects, page.blocks)})
    allowed = [*links, *(link for text in remaining.values() for link in list_links(text))]
    all_parts = {name: text for name in PART_NAMES if (text := {**remaining, **parts}.get(name, "").strip("\n"))}
    texts = {name: ensure_safe(text, allowed, MAX_VISIBLE_UNITS) for name, text in all_parts.items()}
    for name, notice in CUT_NOTICES.items():
        if name in texts and utf16_length("\n\n".join(texts.values())) > MAX_VISIBLE_UNITS:
            texts[name] = notice
    visible, shown = _arrange(texts, state)
    judged = ensure_safe(visible, allowed, MAX_VISIBLE_UNITS)
    if judged != visible or utf16_length(visible) > MAX_VISIBLE_UNITS:
        texts = {"report": format_code_block(truncate(visible, MAX_VISIBLE_UNITS // 2))}
        visible, shown = _arrange(texts, CommentState())
    if "proposal" not in all_parts or texts.get("proposal") != all_parts["proposal"]:
        state = state.model_copy(update={"proposal_commit": "", "tests_outcome": "", "example_outcome": ""})
    return f"{render_state(state.model_copy(update={'parts': shown}))}\n{visible}\n"


def _arrange(texts: Mapping[PartName, str], state: CommentState) -> tuple[str, list[ShownPart]]:
    """Return the text below the hidden line, and where each part stands in it."""
    visible, shown = "", list[ShownPart]()
    is_gone = bool(state.reproduced and state.reproduced.gone)
    for name, text in texts.items():
        is_folded = name == "report" and is_gone
        start = f"<details>\n<summary>{'What was found while it failed'}</summary>\n\n" if is_folded else ""
        visible += ("\n\n" if visible else "") + start
        shown.append(ShownPart(name=name, start=len(visible), chars=len(text), digest=_digest(text)))
        visible += text + ("\n\n</details>" if is_folded else "")
    return visible, shown


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def read_parts(body: str) -> dict[PartName, str]:
    """Return the parts that our comment shows, where its state says that they are.

    Empty if one of them is not as it was written: somebody has edited the comment.
    """
    return _read_parts_or_text(body)[0]


def _read_shown(body: str) -> dict[PartName, str]:
    """Return the parts of our comment; of one without parts, or that somebody has edited, the text as code."""
    parts, old_text = _read_parts_or_text(body)
    if old_text:  # then there are no parts
        parts["report"] = f"{OLD_TEXT}\n\n{format_code_block(truncate(old_text, MAX_VISIBLE_UNITS // 4))}"
    return parts


def _read_parts_or_text(body: str) -> tuple[dict[PartName, str], str]:
    """Return the parts, or the text of a comment that has none, or that somebody has edited."""
    state = parse_state(body) or CommentState()
    visible = body.replace("\r\n", "\n").partition("\n")[2]
    parts = {one.name: visible[one.start : one.start + one.chars] for one in state.parts}
    if parts and all(_digest(parts[one.name]) == one.digest for one in state.parts):
        return parts, ""
    return {}, visible.strip("\n")


def preview_comment(report: RunReport, policy: Policy) -> RunReport:
    """Return the report with the comment that an issue gets which was just opened, if it gets any."""
    report = report.model_copy(update={"comment_reason": decide_comment(report, policy.comment)})
    shown = render_page(build_comment_page(report, mode=policy.labels), MAX_VISIBLE_UNITS)
    return report.model_copy(update={"comment": shown if report.comment_reason else None})


def render_quiet_comment(body: str, state: CommentState) -> str:
    """Return the body of our comment, which says that nothing more is written."""
    report = f"{QUIET_NOTICE}\n\n{_read_shown(body).get('report', '')}"
    return compose_comment(body, state.model_copy(update={"quiet": True}), {"report": report}, list_links(report))


def render_withdrawal(body: str, state: CommentState, wrong: Sequence[Subject]) -> str:
    """Return the body of our comment without what is wrong; where nothing is left, it says what was withdrawn."""
    state = state.model_copy(update={"wrong_subjects": list(dict.fromkeys([*state.wrong_subjects, *wrong]))})
    text, said = cut_wrong(read_parts(body).get("report", ""), state)
    report = text or render_block("statements", "withdrawn", state.wrong_subjects)
    return compose_comment(body, state.model_copy(update={"said": said}), {"report": report}, list_links(report))


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
    "limits",
    "index",
)
"""What says nothing about the issue. A field that is not listed is not published."""


def withhold_details(report: RunReport, labels: Sequence[str] = ()) -> RunReport:
    """Return a report of the run alone: no place, severity, example or word of the issue, of a model or of the web.

    `labels` are those that the project allows; one that says security stays.
    """
    published = {name: getattr(report, name) for name in _PUBLISHED_FIELDS}
    steps = [step.model_copy(update={"shortfalls": [], "tools": []}) for step in report.steps]
    withheld = RunReport(
        **published,
        issue=report.issue.model_copy(update={"title": SECURITY_TITLE}),
        verdict=None,
        severity=None,
        confidence=0.0,
        summary=SECURITY_TITLE,
        ticket=Ticket(title=SECURITY_TITLE, labels=[label for label in labels if is_security_label(label)]),
        steps=steps,
        decisions=report.decisions,
    )
    return withheld.model_copy(update={"statements": decide(withheld)})


def is_security_label(label: str) -> bool:
    """Return whether a label such as `security` or `type: security` only says what the issue is about."""
    return label.casefold().replace("/", ":").rpartition(":")[2].strip() in _LABELS
