"""Hostile text in every field of a report, through the real publishing functions: active content on GitHub's page."""

from collections.abc import Iterator
from functools import cache
from unittest.mock import patch

from triage.say.comment import compose_comment
from triage.say.hidden_state import CommentState
from triage.say.job_page import render_job_page
from triage.say.notices import render_notice
from triage.say.report_pages import build_comment_page
from trust.corpora import CorpusText, markdown
from trust.markdown_judge import Judgement, judge_page
from trust.measure import Measure, MeasureResult, sample_evenly
from trust.report_builder import LINKS, build_report
from trust.rewritten_comment import MARKS, RewrittenComment

NEUTRAL = "plain words"
TURNS = 12
"""Combinations of severities, verdicts, kinds and statuses."""


def run(share: float) -> MeasureResult:
    failures: list[str] = []
    cases = sample_evenly(list(enumerate(markdown())), share)
    for number, case in cases:
        neutral = _neutral(number % TURNS)
        rewritten = RewrittenComment(case.text, number % TURNS)
        failures += [f"{case.name}: {problem}" for problem in rewritten.problems]
        for name, page in (_pages(case.text, number % TURNS) | {"comment again": rewritten.body}).items():
            found = judge_page(page, LINKS)
            # The last check found active content and put the whole page into a code block.
            whole = (page.partition("\n")[2] if page.startswith("<!--") else page).startswith("```")
            live = [*found.live_effects, *(["the whole page as code"] if whole else _added(found, neutral[name]))]
            failures += [f"{name}, {case.name}: {effect}" for effect in live]
    return MeasureResult(len(cases), failures)


@cache
def _neutral(choice: int) -> dict[str, Judgement]:
    pages = _pages(NEUTRAL, choice) | {"comment again": RewrittenComment(NEUTRAL, choice).body}
    return {name: judge_page(page, LINKS) for name, page in pages.items()}


def _pages(words: str, choice: int) -> dict[str, str]:
    report = build_report(words, choice)
    earlier = CommentState(asked=["version"], suspects=["src/old.py"])
    page = build_comment_page(report, earlier)
    return {
        "comment": compose_comment("", earlier.with_report(report, ""), page),
        "summary": render_job_page(report),
        "skip": render_notice("skip", words),
        "failure": render_notice("failure", words),
    }


def _added(found: Judgement, neutral: Judgement) -> Iterator[str]:
    if found.folds > neutral.folds:
        yield "a fold of its own"
    if found.blocks > neutral.blocks:
        yield "a heading, table, quote or rule of its own"


def run_without_defence() -> MeasureResult:
    """The text itself, posted unchanged; and parts of the comment that are found by marks in its text.

    Returns no failure unless there is one of either.
    """
    cases: list[CorpusText] = [case for case in markdown() if case.corpus == "pages"]
    failures = [f"{case.name}: {effect}" for case in cases for effect in judge_page(case.text, LINKS).live_effects]
    with patch("triage.say.comment._read_parts_or_text", _search_for_marks):
        again = [problem for choice in range(len(MARKS)) for problem in RewrittenComment("![x](//x)", choice).problems]
    return MeasureResult(len(cases), [*failures, *again] if failures and again else [])


def _search_for_marks(body: str) -> tuple[dict[str, str], str]:
    before, _, after = body.partition("\n")[2].partition("<!-- bug-triage-proposal -->")
    return {name: text for name, text in (("report", before), ("proposal", after)) if text}, ""


MEASURE = Measure(
    name="Live effects in Markdown",
    goal="0",
    description="A hostile text in every field, read by other parsers (comrak, html5lib) and GitHub's filters: an "
    "image, a link, a mention, HTML or structure that it adds.",
    run=run,
    run_without_defence=run_without_defence,
)
