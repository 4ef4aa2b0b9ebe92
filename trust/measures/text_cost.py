"""Each stage of reading and writing text on shapes that keep parsers and patterns busy, as long as an issue can be."""

import functools
import re
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from testing.text.pathological_text import LIMIT_SECONDS, PATHOLOGICAL_TEXTS, SIZE
from triage.adapters.runner.inert_lines import to_inert_line, to_inert_lines
from triage.agents import prompts
from triage.domain.code import SearchQuery
from triage.domain.issue import Issue, Reading
from triage.events.commands import parse_command
from triage.index.rank.query import build_query as words_of
from triage.publish.hidden_state import hash_text, parse_state
from triage.reading.markdown.visible_text import extract_visible_line, extract_visible_page
from triage.reading.missing_information import find_missing_information
from triage.reading.read_issue import read_issue
from triage.reading.symptoms import find_symptoms
from triage.secrets.likely_secrets import redact_likely_secrets
from triage.secrets.redactor import SecretRedactor
from triage.secrets.web_query import restrict_query
from triage.text.clean_text import clean_and_count
from triage.text.inert_markdown import (
    escape_markdown,
    escape_table_cell,
    find_active_content,
    format_code_block,
    format_code_span,
    sanitize_markdown,
)
from trust.measure import Measure, MeasureResult
from trust.sampling import sample_evenly

TRIES = 3
"""The least counts: what else the machine does costs time, and never gains any."""
T = TypeVar("T")
Stage = Callable[[str], object]
_REDACTOR = SecretRedactor(["ghs_k7Qm2Vx9Lr4Tz8Wd1Yb6Ns3Hf5Jg0PaXe", "sk-Zt5Rv8Nq2Mw7Lx4Kd9Jc1Hb6Gf3DsAe0Uy"])


def _issue(text: str) -> Issue:
    return Issue(number=7, title=text[:256], body=text)


STAGES: dict[str, Stage] = {
    "clean": clean_and_count,
    "visible": extract_visible_page,
    "visible line": extract_visible_line,
    "read": lambda text: read_issue(_issue(text)),
    "command": parse_command,
    "state": parse_state,
    "text hash": lambda text: hash_text(text, text),
    "masked": redact_likely_secrets,
    "own secrets": _REDACTOR.for_location("text"),
    "fenced for a model": lambda text: prompts.fence({"issue": text}),
    "query of the web": lambda text: restrict_query(text, [text]),
    "inert": lambda text: escape_markdown(text, SIZE),
    "inert cell": lambda text: escape_table_cell(text, SIZE),
    "code span": format_code_span,
    "fenced": format_code_block,
    "plain": lambda text: sanitize_markdown(text, SIZE),
    "live effects": lambda text: find_active_content(text, []),
    "log lines": to_inert_lines,
    "log line": to_inert_line,
}
OF_READING: dict[str, Callable[[Reading], object]] = {
    "missing": lambda reading: find_missing_information(reading, []),
    "symptoms": find_symptoms,
    "query of the code": lambda reading: words_of(SearchQuery(reading=reading)),
}
"""Stages after `read`."""


def run(share: float) -> MeasureResult:
    """Each stage on each shape."""
    cases = sample_evenly([(stage, shape) for shape in PATHOLOGICAL_TEXTS for stage in [*STAGES, *OF_READING]], share)
    slowest = ("", 0.0)
    failures: list[str] = []
    for stage, shape in cases:
        if stage in STAGES:
            seconds = _seconds(STAGES[stage], _text(shape))
        else:
            seconds = _seconds(OF_READING[stage], _reading(shape))
        if seconds > LIMIT_SECONDS:
            failures.append(f"{stage} on {shape}: {seconds:.2f} s")
        slowest = max(slowest, (f"{stage} on {shape}", seconds), key=lambda one: one[1])
    return MeasureResult(len(cases), failures, f"{slowest[1] * 1000:.0f} ms at most ({slowest[0]})")


@functools.lru_cache(maxsize=1)
def _text(shape: str) -> str:
    return PATHOLOGICAL_TEXTS[shape](SIZE)


@functools.lru_cache(maxsize=1)
def _reading(shape: str) -> Reading:
    return read_issue(_issue(_text(shape)))


def _seconds(stage: Callable[[T], object], text: T, tries: int = TRIES) -> float:
    """Of the processor; tried again only when it was too long."""
    least = float("inf")
    for _ in range(tries):
        began = time.process_time()
        stage(text)
        least = min(least, time.process_time() - began)
        if least <= LIMIT_SECONDS:
            break
    return least


def run_without_defence() -> MeasureResult:
    """An expression that tries again from every start, and one that tries every way."""
    naive: Iterable[tuple[str, Stage, str]] = (
        ("trailing blanks", re.compile(r"\s+$").search, " " * 10_000 + "x"),
        ("nested repeats", re.compile(r"(?:a|a)*$").match, "a" * 23 + "b"),
    )
    told = [(name, _seconds(stage, text, 1)) for name, stage, text in naive]
    return MeasureResult(len(told), [f"{name}: {seconds:.2f} s" for name, seconds in told if seconds > LIMIT_SECONDS])


MEASURE = Measure(
    "Text stages over 250 ms",
    "0",
    "Every stage of reading and writing text on a shape of 64 KiB that keeps parsers and expressions busy; more "
    "than 250 ms of one processor is a failure.",
    run,
    run_without_defence,
)
