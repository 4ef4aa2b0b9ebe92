"""A report taken apart into what is seen at once and what opens on a click."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from triage.domain.code import Span
from triage.domain.effect import LabelsMode
from triage.domain.findings import Verdict
from triage.domain.report import RunReport, Suspect
from triage.domain.run import Status, Usage
from triage.publish import wording
from triage.publish.hidden_state import PostedState, path_hash
from triage.publish.permalink import outside, permalink, quoted, shown
from triage.publish.template import block, cell_code
from triage.text.inert_markdown import code_span, plain

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
    opened: bool = False
    """Seen at once: the body stands by itself."""

    @property
    def markdown(self) -> str:
        """With the empty lines that GitHub needs to read Markdown inside of HTML."""
        if self.opened:
            return self.body
        return f"<details>\n<summary>{self.title}</summary>\n\n{self.body}\n\n</details>"


@dataclass(frozen=True)
class Page:
    """What a comment and a summary are made of. `links` are the addresses that code put in."""

    blocks: list[str]
    folds: list[Fold]
    footer: str
    links: list[str] = field(default_factory=list)


def page(
    report: RunReport, earlier: PostedState | None, paths: Sequence[str], labels: LabelsMode, *, run_fold: bool = True
) -> Page:
    """The report as blocks. `earlier` is what our comment said before; `paths` are all indexed files.

    `run_fold` is off where the run is shown at large.
    """
    run_link = outside(report.run_url)
    return Page(
        blocks=[part for part in _blocks(report, earlier, paths, labels) if part],
        folds=[fold for fold in _folds(report, run=run_fold) if fold.body],
        footer=block("blocks", "footer", report, run_link),
        links=_links(report),
    )


def _blocks(report: RunReport, earlier: PostedState | None, paths: Sequence[str], labels: LabelsMode) -> Iterator[str]:
    yield block("blocks", "verdict", report)
    yield block("blocks", "notices", report)
    yield block("blocks", "questions", report.missing_information[:VISIBLE_ITEMS], _answered(report, earlier))
    maintainers = [*_bug_blocks(report), _withdrawn(report, earlier, paths), *_outlook(report, labels)]
    if any(maintainers) and report.kind == "bug":
        yield "#### For maintainers"
    yield from maintainers


def _bug_blocks(report: RunReport) -> Iterator[str]:
    if report.kind != "bug":
        return
    yield block("blocks", "cause", report)
    yield _suspect_table(report, report.suspects[:VISIBLE_SUSPECTS])


def _withdrawn(report: RunReport, earlier: PostedState | None, paths: Sequence[str]) -> str:
    gone = withdrawn(report, earlier, paths)
    return block("blocks", "withdrawn", gone[:MAX_ITEMS]) if gone else ""


def _outlook(report: RunReport, labels: LabelsMode) -> Iterator[str]:
    if report.next_steps:
        yield block("blocks", "next_steps", report.next_steps[:VISIBLE_ITEMS])
    if report.ticket.labels and labels != "off":
        yield block("blocks", "labels", report.ticket.labels[:MAX_ITEMS], labels)


def withdrawn(report: RunReport, earlier: PostedState | None, paths: Sequence[str]) -> list[str]:
    """Files that our comment suspected before and that this report does not; files that are gone stay unnamed."""
    now = {path_hash(suspect.path) for suspect in report.suspects}
    gone = [known for known in (earlier.suspects if earlier else []) if known not in now]
    if not gone:
        return []
    named = {path_hash(path): path for path in paths}
    return [named[known] for known in gone if known in named]


def _answered(report: RunReport, earlier: PostedState | None) -> list[str]:
    still_missing = {missing.kind for missing in report.missing_information}
    return [kind for kind in (earlier.asked if earlier else []) if kind not in still_missing]


def _place(report: RunReport, target: Span | str, code: Callable[[str], str] = code_span) -> str:
    link = permalink(report.server_url, report.repository, report.commit, target)
    text = code(shown(target))
    return f"[{text}]({link})" if link else text


def _suspect_table(report: RunReport, suspects: Sequence[Suspect]) -> str:
    rows = [(suspect, _place(report, suspect.span or suspect.path, cell_code)) for suspect in suspects]
    return block("blocks", "suspects", rows) if rows else ""


def _folds(report: RunReport, *, run: bool) -> Iterator[Fold]:
    """In the order of their worth: when the page is too long, the last go first."""
    notes = Fold(NOTES_TITLE, block("folds", "notes", report.notes[:MAX_ITEMS]))
    if report.status is Status.DEGRADED:
        yield notes
    if report.kind == "bug":
        yield from _bug_folds(report)
    yield _references(report)
    yield Fold("Ticket fields", block("folds", "ticket", report.ticket) if report.kind == "bug" else "")
    if report.status is not Status.DEGRADED:
        yield notes
    if run:
        facts = f"{wording.seconds(report.seconds)}, {wording.spent(report.usage)}"
        yield Fold(f"The run: {facts}", _run(report))
    yield Fold("Analysis", plain(report.analysis, max_chars=MAX_ANALYSIS_CHARS))


def _bug_folds(report: RunReport) -> Iterator[Fold]:
    folded = report.suspects[VISIBLE_SUSPECTS : VISIBLE_SUSPECTS + MAX_ITEMS]
    yield Fold(wording.counted(len(folded), "more suspect"), _suspect_table(report, folded))
    yield _evidence(report)
    if report.critique:
        yield Fold(_critic_title(report.critique.verdict, len(report.critique.gaps)), _critique(report))
    yield Fold("Suggested fix", block("folds", "fix", report.suggested_fix) if report.suggested_fix else "")
    yield Fold("Steps to reproduce", block("folds", "reproduction", report.reproduction[:MAX_ITEMS]))


def _run(report: RunReport) -> str:
    planning = sum((step.usage for step in report.steps if step.step == "supervisor"), Usage())
    steps = [step for step in report.steps if step.step != "supervisor"][:MAX_STEPS]
    return block("folds", "run", report, steps, planning)


def _critic_title(verdict: Verdict, gaps: int) -> str:
    objections = wording.counted(gaps, "objection") if gaps else "no objections"
    return f"Critic: {wording.VERDICTS[verdict]}, {objections}"


def _critique(report: RunReport) -> str:
    assert report.critique is not None
    return block("folds", "critique", report.critique.model_copy(update={"gaps": report.critique.gaps[:MAX_ITEMS]}))


def _evidence(report: RunReport) -> Fold:
    shown_items = report.evidence[:MAX_ITEMS]
    rows = [(item, _place(report, item.span) if item.span else "") for item in shown_items]
    refused = report.citations.refused[:MAX_ITEMS]
    verified = sum(item.verified for item in shown_items)
    title = f"Evidence ({verified} of {len(rows)} verified)" if rows else "References that could not be verified"
    return Fold(title, block("folds", "evidence", rows, refused) if rows or refused else "")


def _references(report: RunReport) -> Fold:
    rows = [(result, quoted(result.url, report.server_url)) for result in report.external_references[:MAX_ITEMS]]
    return Fold(wording.counted(len(rows), "external reference"), block("folds", "references", rows))


def _links(report: RunReport) -> list[str]:
    """Every address that code may have put into the page."""
    targets: list[Span | str] = [suspect.span or suspect.path for suspect in report.suspects]
    targets += [item.span for item in report.evidence if item.span]
    links = [permalink(report.server_url, report.repository, report.commit, target) for target in targets]
    links += [quoted(result.url, report.server_url) for result in report.external_references]
    links += [outside(report.run_url), outside(report.issue.url)]
    return list(dict.fromkeys(link for link in links if link))
