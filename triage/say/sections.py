"""Splits a report into the sections of a page: blocks that are visible, and folds that open on a click."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from triage.domain.code import Span
from triage.domain.effect import LabelsMode
from triage.domain.report import RunReport, Suspect
from triage.domain.run import Outcome, Status, Usage
from triage.say import wording
from triage.say.hidden_state import CommentState
from triage.say.permalink import build_permalink, sanitize_third_party_url, sanitize_url
from triage.say.template import ensure_safe, render_block, render_table_code
from triage.say.visible_blocks import (
    MAX_ITEMS,
    build_blocks,
    build_code_link,
    build_issue_link,
    link_named_places,
    link_skill,
    list_further_commits,
    list_likely_suspects,
    list_reference_links,
    locate,
    locate_suspects,
    render_further_commits,
    render_history,
)

MAX_STEPS = 40
NOTES_TITLE = "What this report could not do"
PLACES_TITLE = "Places that share words with the report"
FEATURE_TITLE = "Where it may go"


@dataclass(frozen=True)
class Fold:
    """A section that opens on a click. The title is ours; the body is escaped."""

    title: str
    body: str
    is_open: bool = False
    is_comment_only: bool = False
    """The job summary has something longer instead."""
    is_summary_only: bool = False
    """Too much for a comment."""
    is_places: bool = False
    """A table of places. A terminal has them as lines, in which no path is broken."""

    @property
    def markdown(self) -> str:
        """The section with the empty lines that GitHub needs to parse Markdown inside HTML."""
        if self.is_open:
            return self.body
        return f"<details>\n<summary>{self.title}</summary>\n\n{self.body}\n\n</details>"


@dataclass(frozen=True)
class Page:
    blocks: list[str]
    folds: list[Fold]
    footer: str
    links: list[str] = field(default_factory=list)
    """URLs that our code put into the page."""


def build_page(
    report: RunReport,
    posted: CommentState | None = None,
    paths: Sequence[str] = (),
    labels: LabelsMode = "suggest",
) -> Page:
    """Return the page that the comment and the job summary share.

    `posted` is what our comment on the issue remembers, and `paths` are all indexed files: other paths that it has are
    not shown, since somebody may have forged them.
    """
    posted = posted or CommentState()
    current = {suspect.path for suspect in report.suspects}
    indexed = set(paths) if posted.suspects else set()
    no_longer_suspected = [path for path in posted.suspects if path in indexed and path not in current]
    still_missing = {missing.kind for missing in report.missing_information}
    has_answered = not still_missing.issuperset(posted.asked)
    blocks = build_blocks(report, no_longer_suspected, labels, has_answered=has_answered)
    return Page(
        blocks=[block for block in blocks if block],
        folds=[fold for fold in _build_folds(report) if fold.body],
        footer=render_block("blocks", "footer", report, sanitize_url(report.run_url)),
        links=_collect_links(report),
    )


def _render_suspects(report: RunReport, suspects: Sequence[Suspect]) -> str:
    rows = locate_suspects(report, suspects, render_table_code)
    return render_block("blocks", "suspects", rows) if rows else ""


def _build_folds(report: RunReport) -> Iterator[Fold]:
    # The most useful first: if the page is too long, the last ones are left out.
    by_model = wording.has_model_answer(report)
    notes = Fold(NOTES_TITLE, render_block("folds", "notes", report.notes[:MAX_ITEMS], report.declined[:MAX_ITEMS]))
    if report.security:
        yield replace(notes, is_summary_only=True)
        return
    if report.status is Status.DEGRADED:
        yield notes
    if report.kind == "feature_request":
        others = report.suspects[:MAX_ITEMS]
        title = FEATURE_TITLE if by_model else PLACES_TITLE
        yield Fold(f"{title} ({len(others)})", _render_suspects(report, others), is_summary_only=True, is_places=True)
    if report.kind == "bug":
        yield from _build_places_folds(report, by_model=by_model)
        further = len(list_further_commits(report))
        yield Fold(f"Other commits between the two versions ({further})", render_further_commits(report))
        if not (report.best_place or report.likely_files or by_model):  # the places are not sure enough for the comment
            yield Fold("History of these files", "\n\n".join(render_history(report)), is_summary_only=True)
        is_rejected = report.verdict == "CHALLENGED" and wording.is_lead_first(report)
        yield from _build_bug_folds(report, is_summary_only=not by_model or is_rejected)
    similar = [(issue, build_issue_link(report, issue.number)) for issue in report.similar_issues]
    title = f"Similar issues ({len(similar)}, of {report.past_issues:,} past ones)"
    yield Fold(title, render_block("folds", "similar", similar) if similar else "", is_summary_only=True)
    results = report.external_references[:MAX_ITEMS]
    rows = [(result, sanitize_third_party_url(result.url, report.server_url)) for result in results]
    yield Fold(wording.format_count(len(rows), "external reference"), render_block("folds", "references", rows))
    ticket = render_block("folds", "ticket", report) if report.kind == "bug" else ""
    yield Fold("Ticket fields", ticket, is_summary_only=True)
    skills = [(skill, link_skill(report, skill)) for skill in report.skills]
    body = render_block("folds", "skills", skills, report.active_skills) if skills else ""
    yield Fold(f"Skills of the project ({len(skills)})", body, is_summary_only=True)
    if report.status is not Status.DEGRADED:
        yield replace(notes, is_summary_only=True)
    facts = f"{wording.format_seconds(report.seconds)}, {wording.format_usage(report.usage)}"
    planning = sum((step.usage for step in report.steps if step.step == "supervisor"), Usage())
    steps = [step for step in report.steps if step.step != "supervisor"][:MAX_STEPS]
    if report.usage.calls:  # by rules there is nothing to tell
        yield Fold(f"The run: {facts}", render_block("folds", "run", report, steps, planning), is_comment_only=True)
    yield from _build_reasoning_folds(report)


def _build_places_folds(report: RunReport, *, by_model: bool) -> Iterator[Fold]:
    shown = max(len(list_likely_suspects(report)), bool(report.best_place or by_model))
    others = report.suspects[shown:MAX_ITEMS]
    untold = others if wording.is_lead_first(report) else [one for one in others if not _is_told(one, report)]
    title = "Other places" if shown else PLACES_TITLE
    asks = bool(report.missing_information)  # then the comment is about the questions
    places = Fold(f"{title} ({len(others)})", _render_suspects(report, others), is_summary_only=True, is_places=True)
    if not asks or shown:
        body = _render_suspects(report, untold)
        yield replace(places, title=f"{title} ({len(untold)})", body=body, is_summary_only=False, is_comment_only=True)
    yield places


def _is_told(suspect: Suspect, report: RunReport) -> bool:
    """Return whether the explanation names lines of the place: the comment does not repeat it."""
    spans = [place.span for place in report.named_places if place.span and place.path == suspect.path]
    own = suspect.span
    return own is not None and any(one.start <= own.end and own.start <= one.end for one in spans)


def _build_bug_folds(report: RunReport, *, is_summary_only: bool) -> Iterator[Fold]:
    # A comment does not repeat in folds what it says already, or what the issue does.
    yield replace(_build_evidence_fold(report), is_summary_only=True)
    if report.critique:
        gaps = report.critique.gaps
        title = f"Critic: {report.critique.verdict.lower()}"
        if gaps or report.critique.verdict == "CONFIRMED":
            title += f", {wording.format_count(len(gaps), 'objection') if gaps else 'no objections'}"
        body = render_block("folds", "critique", report.critique, gaps[:MAX_ITEMS])
        yield Fold(title, body, is_summary_only=is_summary_only or title.endswith("no objections"))
    steps = render_block("folds", "reproduction", report.reproduction[:MAX_ITEMS])
    yield Fold("Steps to reproduce", steps, is_summary_only=True)
    further = [step for step in report.next_steps[:MAX_ITEMS] if step != report.check]
    steps = render_block("folds", "reproduction", further)
    yield Fold("Next steps", steps, is_summary_only=report.verdict == "CHALLENGED" and wording.is_lead_first(report))


def _build_reasoning_folds(report: RunReport) -> Iterator[Fold]:
    """Yield what each model said of how it came to its answer."""
    answered = {step.step for step in report.steps if step.engine == "model" and step.outcome is Outcome.SUCCESS}
    findings = [
        finding
        for finding in report.findings
        if finding.agent_name in answered and finding.agent_name != "writer" and finding.reasoning.strip()
    ]
    yield Fold("Reasoning", render_block("folds", "reasoning", findings[-MAX_ITEMS:]), is_summary_only=True)


def _build_evidence_fold(report: RunReport) -> Fold:
    items = report.evidence[:MAX_ITEMS]
    rows = [(item, locate(report, item.span) if item.span else "") for item in items]
    verified = sum(item.verified for item in items)
    title = f"Evidence ({verified} of {len(rows)} verified)"
    return Fold(title, render_block("folds", "evidence", rows) if rows else "")


def _collect_links(report: RunReport) -> list[str]:
    targets: list[Span | str] = [suspect.span or suspect.path for suspect in report.suspects]
    targets += [item.span for item in report.evidence if item.span]
    links = [build_permalink(report.server_url, report.repository, report.commit, target) for target in targets]
    links += [sanitize_third_party_url(result.url, report.server_url) for result in report.external_references]
    links += link_named_places(report).values()
    links += list_reference_links(report)
    links += [link_skill(report, skill) for skill in report.skills]
    links += [sanitize_url(report.run_url), sanitize_url(report.issue.url), build_code_link(report)]
    paths = [suspect.path for suspect in report.suspects[:1]]
    paths += [report.security_policy] if report.security_policy else []
    links += [build_permalink(report.server_url, report.repository, report.commit, path) for path in paths]
    if report.best_place and report.best_place.caller:
        caller = report.best_place.caller.span
        links.append(build_permalink(report.server_url, report.repository, report.commit, caller))
    return list(dict.fromkeys(link for link in links if link))


def render_page(page: Page, max_utf16_units: int) -> str:
    """Return the page in at most `max_utf16_units`: as code if anything in it is active but its links.

    This is the second defence: each value in a template is already escaped by `safety.safe_markdown`.
    """
    return ensure_safe(fit_page(page, max_utf16_units), page.links, max_utf16_units)


def fit_page(page: Page, max_utf16_units: int) -> str:
    """Return the page in at most `max_utf16_units` UTF-16 code units. Leaves out sections from the end, and says so.

    A section is never cut: every code block and every fold stays closed.
    """
    parts = [*page.blocks, *(fold.markdown for fold in page.folds)]
    titles = ["" for _ in page.blocks] + [fold.title.partition(":")[0] for fold in page.folds]
    text = "\n\n".join(filter(None, [*parts, page.footer]))
    left_out: list[str] = []
    while utf16_length(text) > max_utf16_units and parts:
        parts.pop()
        left_out.insert(0, titles.pop() or "part of the report")
        names = ", ".join(dict.fromkeys(left_out))
        notice = f"_Cut, because it was too long. Left out: {names}._"
        text = "\n\n".join(filter(None, [*parts, notice, page.footer]))
    return text


def utf16_length(text: str) -> int:
    """Return the length as JavaScript and the limits of GitHub count it."""
    return len(text) + sum(character > "\uffff" for character in text)
