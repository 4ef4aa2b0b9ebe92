"""A report taken apart into what is seen at once and what opens on a click."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from triage.domain.code import Span
from triage.domain.effect import LabelsMode
from triage.domain.findings import Verdict
from triage.domain.report import RunReport, Suspect
from triage.domain.run import Status, Usage
from triage.publish import wording
from triage.publish.hidden_state import PostedState, hash_path
from triage.publish.permalink import build_permalink, format_location, sanitize_third_party_url, sanitize_url
from triage.publish.template import render_block, render_cell_code
from triage.text.inert_markdown import format_code_span, sanitize_markdown

VISIBLE_SUSPECTS = 5
VISIBLE_ITEMS = 6
"""Of questions and of next steps: a list that nobody reads to its end helps nobody."""
MAX_ITEMS = 20
"""Of any list; agents give fewer, an attacker may not."""
MAX_STEPS = 40
MAX_ANALYSIS_CHARS = 6_000
NOTES_TITLE = "What this report could not do"


@dataclass(frozen=True)
class Fold:
    """A section that opens on a click. The title is ours; the body has passed the safety step."""

    title: str
    body: str
    is_open: bool = False
    """Seen at once: the body stands by itself."""

    @property
    def markdown(self) -> str:
        """With the empty lines that GitHub needs to read Markdown inside of HTML."""
        if self.is_open:
            return self.body
        return f"<details>\n<summary>{self.title}</summary>\n\n{self.body}\n\n</details>"


@dataclass(frozen=True)
class Page:
    """What a comment and a summary are made of. `links` are the addresses that code put in."""

    blocks: list[str]
    folds: list[Fold]
    footer: str
    links: list[str] = field(default_factory=list)


def build_page(
    report: RunReport, earlier: PostedState | None, paths: Sequence[str], labels: LabelsMode, *, run_fold: bool = True
) -> Page:
    """The report as blocks. `earlier` is what our comment said before; `paths` are all indexed files.

    `run_fold` is off where the run is shown at large.
    """
    run_link = sanitize_url(report.run_url)
    return Page(
        blocks=[part for part in _build_blocks(report, earlier, paths, labels) if part],
        folds=[fold for fold in _build_folds(report, run=run_fold) if fold.body],
        footer=render_block("blocks", "footer", report, run_link),
        links=_collect_links(report),
    )


def _build_blocks(
    report: RunReport, earlier: PostedState | None, paths: Sequence[str], labels: LabelsMode
) -> Iterator[str]:
    yield render_block("blocks", "verdict", report)
    yield render_block("blocks", "notices", report)
    yield render_block(
        "blocks", "questions", report.missing_information[:VISIBLE_ITEMS], _find_answered_questions(report, earlier)
    )
    maintainers = [
        *_build_bug_blocks(report),
        _render_withdrawn(report, earlier, paths),
        *_render_next_steps(report, labels),
    ]
    if any(maintainers) and report.kind == "bug":
        yield "#### For maintainers"
    yield from maintainers


def _build_bug_blocks(report: RunReport) -> Iterator[str]:
    if report.kind != "bug":
        return
    yield render_block("blocks", "cause", report)
    yield _render_suspects(report, report.suspects[:VISIBLE_SUSPECTS])


def _render_withdrawn(report: RunReport, earlier: PostedState | None, paths: Sequence[str]) -> str:
    gone = find_withdrawn_suspects(report, earlier, paths)
    return render_block("blocks", "withdrawn", gone[:MAX_ITEMS]) if gone else ""


def _render_next_steps(report: RunReport, labels: LabelsMode) -> Iterator[str]:
    if report.next_steps:
        yield render_block("blocks", "next_steps", report.next_steps[:VISIBLE_ITEMS])
    if report.ticket.labels and labels != "off":
        yield render_block("blocks", "labels", report.ticket.labels[:MAX_ITEMS], labels)


def find_withdrawn_suspects(report: RunReport, earlier: PostedState | None, paths: Sequence[str]) -> list[str]:
    """Files that our comment suspected before and that this report does not; files that are gone stay unnamed."""
    now = {hash_path(suspect.path) for suspect in report.suspects}
    gone = [known for known in (earlier.suspects if earlier else []) if known not in now]
    if not gone:
        return []
    named = {hash_path(path): path for path in paths}
    return [named[known] for known in gone if known in named]


def _find_answered_questions(report: RunReport, earlier: PostedState | None) -> list[str]:
    still_missing = {missing.kind for missing in report.missing_information}
    return [kind for kind in (earlier.asked if earlier else []) if kind not in still_missing]


def _render_location(report: RunReport, target: Span | str, code: Callable[[str], str] = format_code_span) -> str:
    link = build_permalink(report.server_url, report.repository, report.commit, target)
    text = code(format_location(target))
    return f"[{text}]({link})" if link else text


def _render_suspects(report: RunReport, suspects: Sequence[Suspect]) -> str:
    rows = [(suspect, _render_location(report, suspect.span or suspect.path, render_cell_code)) for suspect in suspects]
    return render_block("blocks", "suspects", rows) if rows else ""


def _build_folds(report: RunReport, *, run: bool) -> Iterator[Fold]:
    """In the order of their worth: when the page is too long, the last go first."""
    notes = Fold(NOTES_TITLE, render_block("folds", "notes", report.notes[:MAX_ITEMS]))
    if report.status is Status.DEGRADED:
        yield notes
    if report.kind == "bug":
        yield from _build_bug_folds(report)
    yield _build_references_fold(report)
    yield Fold("Ticket fields", render_block("folds", "ticket", report.ticket) if report.kind == "bug" else "")
    if report.status is not Status.DEGRADED:
        yield notes
    if run:
        facts = f"{wording.format_seconds(report.seconds)}, {wording.format_usage(report.usage)}"
        yield Fold(f"The run: {facts}", _render_run(report))
    yield Fold("Analysis", sanitize_markdown(report.analysis, max_chars=MAX_ANALYSIS_CHARS))


def _build_bug_folds(report: RunReport) -> Iterator[Fold]:
    folded = report.suspects[VISIBLE_SUSPECTS : VISIBLE_SUSPECTS + MAX_ITEMS]
    yield Fold(wording.format_count(len(folded), "more suspect"), _render_suspects(report, folded))
    yield _build_evidence_fold(report)
    if report.critique:
        yield Fold(_critic_title(report.critique.verdict, len(report.critique.gaps)), _render_critique(report))
    yield Fold("Suggested fix", render_block("folds", "fix", report.suggested_fix) if report.suggested_fix else "")
    yield Fold("Steps to reproduce", render_block("folds", "reproduction", report.reproduction[:MAX_ITEMS]))


def _render_run(report: RunReport) -> str:
    planning = sum((step.usage for step in report.steps if step.step == "supervisor"), Usage())
    steps = [step for step in report.steps if step.step != "supervisor"][:MAX_STEPS]
    return render_block("folds", "run", report, steps, planning)


def _critic_title(verdict: Verdict, gaps: int) -> str:
    objections = wording.format_count(gaps, "objection") if gaps else "no objections"
    return f"Critic: {wording.VERDICTS[verdict]}, {objections}"


def _render_critique(report: RunReport) -> str:
    assert report.critique is not None
    return render_block(
        "folds", "critique", report.critique.model_copy(update={"gaps": report.critique.gaps[:MAX_ITEMS]})
    )


def _build_evidence_fold(report: RunReport) -> Fold:
    shown_items = report.evidence[:MAX_ITEMS]
    rows = [(item, _render_location(report, item.span) if item.span else "") for item in shown_items]
    refused = report.citations.refused[:MAX_ITEMS]
    verified = sum(item.verified for item in shown_items)
    title = f"Evidence ({verified} of {len(rows)} verified)" if rows else "References that could not be verified"
    return Fold(title, render_block("folds", "evidence", rows, refused) if rows or refused else "")


def _build_references_fold(report: RunReport) -> Fold:
    rows = [
        (result, sanitize_third_party_url(result.url, report.server_url))
        for result in report.external_references[:MAX_ITEMS]
    ]
    return Fold(wording.format_count(len(rows), "external reference"), render_block("folds", "references", rows))


def _collect_links(report: RunReport) -> list[str]:
    """Every address that code may have put into the page."""
    targets: list[Span | str] = [suspect.span or suspect.path for suspect in report.suspects]
    targets += [item.span for item in report.evidence if item.span]
    links = [build_permalink(report.server_url, report.repository, report.commit, target) for target in targets]
    links += [sanitize_third_party_url(result.url, report.server_url) for result in report.external_references]
    links += [sanitize_url(report.run_url), sanitize_url(report.issue.url)]
    return list(dict.fromkeys(link for link in links if link))
