"""Hostile text in every field of a report, through the real publishing functions: active content on GitHub's page."""

from collections.abc import Iterator
from functools import cache

from triage.comment.comment import render_comment
from triage.comment.hidden_state import CommentState, next_state
from triage.comment.sections import build_page
from triage.job_page.notices import render_notice
from triage.job_page.summary import render_summary
from trust.corpora import CorpusText, markdown
from trust.markdown_judge import Judgement, judge_page
from trust.measure import Measure, MeasureResult, sample_evenly
from trust.report_builder import LINKS, build_report

NEUTRAL = "plain words"
TURNS = 12
"""Combinations of severities, verdicts, kinds and statuses."""


def run(share: float) -> MeasureResult:
    failures: list[str] = []
    cases = sample_evenly(list(enumerate(markdown())), share)
    for number, case in cases:
        neutral = _neutral(number % TURNS)
        for name, page in _pages(case.text, number % TURNS).items():
            found = judge_page(page, LINKS, picture=name == "summary")
            # The last check found active content and put the whole page into a code block.
            whole = (page.partition("\n")[2] if page.startswith("<!--") else page).startswith("```")
            live = [*found.live_effects, *(["the whole page as code"] if whole else _added(found, neutral[name]))]
            failures += [f"{name}, {case.name}: {effect}" for effect in live]
    return MeasureResult(len(cases), failures)


@cache
def _neutral(choice: int) -> dict[str, Judgement]:
    return {name: judge_page(page, LINKS, picture=True) for name, page in _pages(NEUTRAL, choice).items()}


def _pages(words: str, choice: int) -> dict[str, str]:
    report = build_report(words, choice)
    earlier = CommentState(asked=["version"], suspects=["src/old.py"])
    page = build_page(report, earlier, [words])
    return {
        "comment": render_comment(page, next_state(report, earlier)),
        "summary": render_summary(page, report),
        "skip": render_notice("skip", words),
        "failure": render_notice("failure", words),
    }


def _added(found: Judgement, neutral: Judgement) -> Iterator[str]:
    if found.folds > neutral.folds:
        yield "a fold of its own"
    if found.blocks > neutral.blocks:
        yield "a heading, table, quote or rule of its own"


def run_without_defence() -> MeasureResult:
    """The text itself, posted unchanged."""
    cases: list[CorpusText] = [case for case in markdown() if case.corpus == "pages"]
    failures = [f"{case.name}: {effect}" for case in cases for effect in judge_page(case.text, LINKS).live_effects]
    return MeasureResult(len(cases), failures)


MEASURE = Measure(
    name="Live effects in Markdown",
    goal="0",
    description="A hostile text in every field of a report. Other parsers (comrak, html5lib) and GitHub's filters "
    "read the comment and the page. A failure is an image, a link, a mention, HTML, a bot command or "
    "structure that the text adds.",
    run=run,
    run_without_defence=run_without_defence,
)
