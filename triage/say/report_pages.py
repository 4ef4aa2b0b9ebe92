"""The pages of a report: the comment, and what the job's page and a terminal show above the details of the run.

A page has blocks, which are visible, and folds, which open on a click. Its statements are those of the report.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from triage.domain.effect import LabelsMode
from triage.domain.report import RunReport
from triage.domain.run import Status
from triage.domain.statement import SUBJECTS, Cause, FoundPlaces, LikelyFiles, OpenQuestions, SecurityNotice, Statement
from triage.domain.task import Subject
from triage.read.reporter_language import get_phrases
from triage.say import wording
from triage.say.decide import list_comment_statements
from triage.say.hidden_state import CommentState
from triage.say.links import Links
from triage.say.template import ensure_safe, render_block, render_table_code

MAX_ITEMS = 20
"""Per list. Agents return fewer, unless a stranger's text made them."""


@dataclass(frozen=True)
class Fold:
    """A section that opens on a click. The title is ours; the body is escaped."""

    title: str
    body: str
    is_open: bool = False

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
    subjects: list[Subject | None] = field(default_factory=list)
    """What the first blocks are about; None for one that is no statement."""


def build_comment_page(report: RunReport, posted: CommentState | None = None, mode: LabelsMode = "suggest") -> Page:
    """Return the comment: statements, labels, references. `posted` is what our comment on the issue remembers."""
    links = Links(report, shows_code=True)
    shown = list_comment_statements(report)
    blocks = render_statements(report, shown, links)
    rules = [one.rule for one in shown]
    subjects = [*[None] * (len(blocks) - len(rules)), *map(SUBJECTS.get, rules)]
    still_missing = {missing.kind for missing in report.missing_information}
    if posted and posted.asked_kinds and still_missing.isdisjoint(posted.asked_kinds):
        blocks.append(get_phrases(report.language).answered)
    blocks += _render_below_statements(report, links, mode)
    folds = [] if report.security else [_build_references_fold(report, links)]
    return replace(_make_page(report, blocks, folds, links), subjects=subjects)


def build_job_page(report: RunReport, mode: LabelsMode = "off") -> Page:
    """Return the page of all that was found."""
    links = Links(report, shows_code=False)
    blocks = [*render_statements(report, report.statements, links), *_render_below_statements(report, links, mode)]
    return _make_page(report, blocks, _build_job_folds(report, links), links)


def _make_page(report: RunReport, blocks: Sequence[str], folds: Iterable[Fold], links: Links) -> Page:
    return Page(
        blocks=[block for block in blocks if block],
        folds=[fold for fold in folds if fold.body],
        footer=render_block("statements", "footer", report, links.allow_own_url(report.run_url)),
        links=[*links.urls, links.allow_own_url(report.issue.url)],
    )


def render_statements(report: RunReport, statements: Sequence[Statement], links: Links) -> list[str]:
    """Return each statement as Markdown; where there is none but likely files, first that nothing was found."""
    phrases = get_phrases(report.language)
    has_place = any(isinstance(one, FoundPlaces) for one in statements)
    has_cause = bool(statements) and isinstance(statements[0], Cause)
    last_argument = {LikelyFiles: has_place, FoundPlaces: has_cause, OpenQuestions: phrases, SecurityNotice: phrases}
    blocks = []
    for one in statements:
        extra_arguments = [last_argument[type(one)]] if type(one) in last_argument else []
        blocks.append(render_block("statements", one.rule, one, links, *extra_arguments))
    if all(isinstance(one, LikelyFiles) for one in statements):
        nothing = render_block("statements", "nothing", report)
        withdrawn = render_block("statements", "withdrawn", report.wrong_subjects) if report.wrong_subjects else ""
        blocks.insert(0, withdrawn or nothing)
    return blocks


def _render_below_statements(report: RunReport, links: Links, mode: LabelsMode) -> Iterator[str]:
    """Yield what stands below the statements: an edit of the issue, of a security report only that; notes; labels."""
    if report.issue.edited_since:
        yield render_block("statements", "edited")
    if report.security:
        return
    if report.skills:
        yield render_block("statements", "skills", report.skills, links)
    existing = {label.casefold() for label in report.issue.labels} if mode == "suggest" else set[str]()
    names = [label for label in report.ticket.labels if label.casefold() not in existing]
    if names and mode != "off":
        yield render_block("statements", "labels", names[:MAX_ITEMS], mode)


def _build_job_folds(report: RunReport, links: Links) -> Iterator[Fold]:
    """Yield what the job's page shows below the statements. An empty one is left out later."""
    notes = Fold("What this report could not do", render_block("folds", "notes", report.notes[:MAX_ITEMS]))
    if report.security:
        yield notes
        return
    if report.status is Status.DEGRADED:
        yield notes
    title = "Where it may go" if report.kind == "feature_request" else "Places"
    named = {place.path for one in report.statements if isinstance(one, LikelyFiles) for place in one.files}
    places = [one for one in report.suspects if one.path not in named][:MAX_ITEMS]
    rows = [(one, links.link_place(one.span or one.path, render_table_code)) for one in places]
    yield Fold(f"{title} ({len(rows)})", render_block("folds", "places", rows) if rows else "")
    sections = [(one, links.link_place(one.span)) for one in report.documentation]
    title = f"Sections of the documentation that share most words with it ({len(sections)})"
    yield Fold(title, render_block("folds", "documentation", sections) if sections else "")
    if report.may_be_bug_by_rules:
        yield _build_evidence_fold(report, links)
        yield _build_critic_fold(report)
    similar = [(issue, links.link_issue(issue.number)) for issue in report.similar_issues]
    title = f"Similar issues ({len(similar)}, of {report.past_issue_count:,} past ones)"
    yield Fold(title, render_block("folds", "similar", similar) if similar else "")
    yield _build_references_fold(report, links)
    yield Fold("Ticket fields", render_block("folds", "ticket", report) if report.may_be_bug_by_rules else "")
    body = render_block("folds", "skills", report.skills, links, report.active_skills) if report.skills else ""
    yield Fold(f"Skills of the project ({len(report.skills)})", body)
    if report.status is not Status.DEGRADED:
        yield notes


def _build_critic_fold(report: RunReport) -> Fold:
    critique = report.critique
    if critique is None:
        return Fold("Critic", "")
    gaps = critique.gaps
    title = f"Critic: {critique.verdict.lower()}"
    if gaps or critique.verdict == "CONFIRMED":
        title += f", {wording.format_count(len(gaps), 'objection') if gaps else 'no objections'}"
    return Fold(title, render_block("folds", "critique", critique, gaps[:MAX_ITEMS]))


def _build_references_fold(report: RunReport, links: Links) -> Fold:
    results = report.external_references[:MAX_ITEMS]
    rows = [(result, links.allow_url(result.url)) for result in results]
    return Fold(wording.format_count(len(rows), "external reference"), render_block("folds", "references", rows))


def _build_evidence_fold(report: RunReport, links: Links) -> Fold:
    items = report.evidence[:MAX_ITEMS]
    rows = [(item, links.link_place(item.span) if item.span else "") for item in items]
    verified = sum(item.verified for item in items)
    title = f"Evidence ({verified} of {len(rows)} verified)"
    return Fold(title, render_block("folds", "evidence", rows) if rows else "")


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
