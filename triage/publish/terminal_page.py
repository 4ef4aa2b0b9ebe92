"""The report at a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from triage.domain.report import RunReport
from triage.domain.run import Outcome, Status
from triage.publish import wording
from triage.publish.permalink import shown
from triage.publish.run_details import headline
from triage.publish.run_stages import Turn, stages
from triage.text.clean_text import visible_only

_SEVERITY_STYLES = {"CRITICAL": "bold white on red", "HIGH": "bold red", "MEDIUM": "bold yellow", "LOW": "bold cyan"}


def screen(report: RunReport) -> Group:
    """Everything that the comment says, without Markdown. Terminal control characters are taken out."""
    return Group(*_parts(report))


def _parts(report: RunReport) -> Iterator[RenderableType]:
    yield _verdict(report)
    yield _words(report.summary)
    yield from _listed("Could the reporter add", [item.question for item in report.missing_information])
    if report.kind == "bug":
        yield from _section(wording.CAUSES[report.verdict] if report.suspects else "Root cause", report.root_cause)
        yield from _suspects(report)
    yield from _listed("Next steps", report.next_steps)
    if report.critique and report.kind == "bug":
        yield from _listed(f"Critic: {report.critique.summary}", report.critique.gaps)
    yield from _listed("Found outside", [f"{page.title}  {page.url}" for page in report.external_references])
    if report.analysis:
        yield Text("\nAnalysis", style="bold")
        yield Padding(Markdown(visible_only(report.analysis)), (0, 0, 0, 2))
    if report.status is Status.DEGRADED:
        yield from _listed("What this report could not do", report.notes)
    yield from _run(report)


def _verdict(report: RunReport) -> Text:
    head = wording.BUGS[report.verdict] if report.kind == "bug" else wording.KINDS[report.kind]
    line = Text(head, style="bold")
    if report.severity:
        line.append("  ")
        line.append(f" {report.severity} ", style=_SEVERITY_STYLES[report.severity])
    line.append(f"  confidence {report.confidence:.2f}", style="dim")
    return line


def _suspects(report: RunReport) -> Iterator[RenderableType]:
    if not report.suspects:
        return
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for column in ("Where", "Symbol", "Why"):
        table.add_column(column, overflow="fold")
    for suspect in report.suspects:
        place = _words(shown(suspect.span or suspect.path))
        place.stylize("bold")
        table.add_row(place, _words(suspect.symbol or ""), _words(suspect.reason))
    yield Text()
    yield table


def _run(report: RunReport) -> Iterator[RenderableType]:
    cost = "cost unknown" if report.usage.usd is None else f"${report.usage.usd:.4f}"
    verified = f"{report.citations.verified} of {report.citations.total} references verified"
    spent = f"{report.usage.tokens:,} tokens, {cost}, " if report.usage.calls else ""
    yield Text()
    yield Text(f"{verified} · engine {wording.engine(report)} · {spent}{report.seconds:.1f} s", style="dim")
    yield Text(headline(report), style="dim")
    yield Text(", ".join(_turn(turn) for stage in stages(report) for turn in stage.turns), style="dim")


def _turn(turn: Turn) -> str:
    """Such as `critic failed, by rules 3.8 s`."""
    first, last = turn.tries[0], turn.tries[-1]
    failed = "" if first.outcome is Outcome.SUCCESS else f" {wording.OUTCOMES[first.outcome]}"
    twin = ", by rules" if last is not first and last.engine == "rules" else ""
    seconds = sum(record.seconds for record in turn.tries)
    return f"{turn.step.replace('_', ' ')}{failed}{twin} {seconds:.1f} s"


def _section(title: str, text: str) -> Iterator[RenderableType]:
    if text:
        yield Text()
        yield Text(title, style="bold")
        yield Padding(_words(text), (0, 0, 0, 2))


def _listed(title: str, items: Sequence[str]) -> Iterator[RenderableType]:
    if items:
        yield Text()
        yield Text(visible_only(title), style="bold")
        for item in items:
            yield Padding(_words(f"- {item}"), (0, 0, 0, 2))


def _words(text: str) -> Text:
    return Text(visible_only(text))
