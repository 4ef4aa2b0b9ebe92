"""Each stage of reading and writing text on shapes that keep parsers and patterns busy, as long as an issue can be."""

import functools
import re
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from testing.text.pathological_text import LIMIT_SECONDS, SHAPES, SIZE
from triage.adapters.runner.inert_lines import inert_lines, one_line
from triage.agents import prompts
from triage.domain.code import SearchQuery
from triage.domain.issue import Issue, Reading
from triage.events.commands import read_command
from triage.index.rank.query import query_of as words_of
from triage.publish.hidden_state import parse, text_hash
from triage.reading.markdown.visible_text import visible, visible_line
from triage.reading.missing_information import missing_information
from triage.reading.read_issue import read
from triage.reading.symptoms import symptoms
from triage.secrets.likely_secrets import masked
from triage.secrets.matcher import OwnSecrets
from triage.secrets.web_query import query_of
from triage.text.clean_text import clean
from triage.text.inert_markdown import code_span, fenced, inert, inert_cell, live_effects, plain
from trust.measure import Figure, Measure
from trust.sampling import part

TRIES = 3
"""The least counts: what else the machine does costs time, and never gains any."""
T = TypeVar("T")
Stage = Callable[[str], object]
_SECRETS = OwnSecrets(["ghs_k7Qm2Vx9Lr4Tz8Wd1Yb6Ns3Hf5Jg0PaXe", "sk-Zt5Rv8Nq2Mw7Lx4Kd9Jc1Hb6Gf3DsAe0Uy"])


def _issue(text: str) -> Issue:
    return Issue(number=7, title=text[:256], body=text)


STAGES: dict[str, Stage] = {
    "clean": clean,
    "visible": visible,
    "visible line": visible_line,
    "read": lambda text: read(_issue(text)),
    "command": read_command,
    "state": parse,
    "text hash": lambda text: text_hash(text, text),
    "masked": masked,
    "own secrets": _SECRETS.masked,
    "fenced for a model": lambda text: prompts.fenced({"issue": text}),
    "query of the web": lambda text: query_of(text, [text]),
    "inert": lambda text: inert(text, SIZE),
    "inert cell": lambda text: inert_cell(text, SIZE),
    "code span": code_span,
    "fenced": fenced,
    "plain": lambda text: plain(text, SIZE),
    "live effects": lambda text: live_effects(text, []),
    "log lines": inert_lines,
    "log line": one_line,
}
OF_READING: dict[str, Callable[[Reading], object]] = {
    "missing": lambda reading: missing_information(reading, []),
    "symptoms": symptoms,
    "query of the code": lambda reading: words_of(SearchQuery(reading=reading)),
}
"""Stages after `read`."""


def run(share: float) -> Figure:
    """Each stage on each shape."""
    cases = part([(stage, shape) for shape in SHAPES for stage in [*STAGES, *OF_READING]], share)
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
    return Figure(len(cases), failures, f"{slowest[1] * 1000:.0f} ms at most ({slowest[0]})")


@functools.lru_cache(maxsize=1)
def _text(shape: str) -> str:
    return SHAPES[shape](SIZE)


@functools.lru_cache(maxsize=1)
def _reading(shape: str) -> Reading:
    return read(_issue(_text(shape)))


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


def blind() -> Figure:
    """An expression that tries again from every start, and one that tries every way."""
    naive: Iterable[tuple[str, Stage, str]] = (
        ("trailing blanks", re.compile(r"\s+$").search, " " * 10_000 + "x"),
        ("nested repeats", re.compile(r"(?:a|a)*$").match, "a" * 23 + "b"),
    )
    told = [(name, _seconds(stage, text, 1)) for name, stage, text in naive]
    return Figure(len(told), [f"{name}: {seconds:.2f} s" for name, seconds in told if seconds > LIMIT_SECONDS])


MEASURE = Measure(
    "Text stages over 250 ms",
    "0",
    "Every stage of reading and writing text on a shape of 64 KiB that keeps parsers and expressions busy; more "
    "than 250 ms of one processor is a failure.",
    run,
    blind,
)
