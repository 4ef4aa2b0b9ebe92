"""Renders the report for a terminal: the page of the job, the lines that fail, and how the run went."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.syntax import Syntax
from rich.text import Text

from triage.domain.report import RunReport
from triage.domain.statement import FoundPlaces
from triage.safety.clean_text import clean_text
from triage.say import wording
from triage.say.decide import decide
from triage.say.job_page import summarize_run
from triage.say.report_pages import build_job_page

MAX_CODE_LINES = 15
"""Lines of code that are shown: a page of a terminal has room for the report below them."""


def render_terminal_page(report: RunReport, lines: Sequence[str] = ()) -> Group:
    """Return what the page of the job says, without control characters. `lines` are of the file that was found."""
    return Group(*_build_parts(report, lines))


def _build_parts(report: RunReport, lines: Sequence[str]) -> Iterator[RenderableType]:
    """Yield the job's page with the code of the place, and how the run went, for a terminal."""
    if report.security:
        yield Text("This may be a security report. Do not publish what follows.", style="bold red")
    # Without a server there are no links into the repository, whose addresses would be longer than a line.
    local = report.model_copy(update={"security": False, "server_url": ""})
    local = local.model_copy(update={"statements": decide(local)})
    page = build_job_page(local)
    first, *rest = page.blocks or [""]
    yield Markdown(first, hyperlinks=False)
    yield from _render_code(local, lines)
    for text in [*rest, *(f"**{fold.title}**\n\n{fold.body}" for fold in page.folds)]:
        yield Text()
        yield Markdown(text, hyperlinks=False)
    yield from _render_run(report)


def _render_code(report: RunReport, lines: Sequence[str]) -> Iterator[RenderableType]:
    """The lines that GitHub shows behind the comment's link, around the one that fails."""
    leads = next((one for one in report.statements[:1] if isinstance(one, FoundPlaces)), None)
    place = leads.places[0] if leads else None
    if place is None or place.span.end > len(lines):
        return
    first = max(place.span.start, min(place.line or place.span.start, place.span.end) - MAX_CODE_LINES // 2)
    shown = [clean_text(line) for line in lines[first - 1 : min(place.span.end, first + MAX_CODE_LINES - 1)]]
    yield Text()
    yield Syntax(
        "\n".join(shown),
        Syntax.guess_lexer(place.span.path),
        theme="ansi_dark",
        background_color="default",
        line_numbers=True,
        start_line=first,
        highlight_lines={place.line} if place.line else None,
    )


def _render_run(report: RunReport) -> Iterator[RenderableType]:
    cost = "cost unknown" if report.usage.usd is None else f"${report.usage.usd:.4f}"
    cited = report.citations
    verified = f"{cited.verified} of {cited.total} references verified · " if cited.total else ""
    usage = f"{report.usage.tokens:,} tokens, {cost}, " if report.usage.calls else ""
    yield Text()
    yield Text(f"{verified}{wording.describe_engine(report)} · {usage}{report.seconds:.1f} s", style="dim")
    yield Text(summarize_run(report), style="dim")
    reason = f"a comment ({report.comment_reason})" if report.comment_reason else "no comment"
    yield Text(f"When it is opened, an issue like this gets {reason}.", style="dim")
