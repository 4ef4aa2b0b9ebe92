"""Words for enums and numbers on a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from triage.domain.findings import Effort, Kind
from triage.domain.run import Outcome, StepName, StepRecord, Usage
from triage.domain.skill import SkillTier

if TYPE_CHECKING:
    from triage.domain.report import RunReport

LOW_CONFIDENCE, HIGH_CONFIDENCE = 0.4, 0.7
"""Confidence below the first is low; from the second on it is high."""

KINDS: dict[Kind | None, str] = {
    None: "It is not clear what kind of issue this is.",
    "documentation": "This reads as an issue with the documentation.",
    "ci": "This reads as an issue with the project's own builds or tests.",
    "bug": "This reads as a bug report.",
    "feature_request": "This reads as a feature request.",
    "question": "This reads as a question.",
    "not_actionable": "The report does not say yet what happened.",
}
EFFORTS: dict[Effort, str] = {
    "XS": "under an hour",
    "S": "half a day",
    "M": "one or two days",
    "L": "about a week",
    "XL": "more than a week",
}
STEPS: dict[StepName, str] = {
    "read_and_index": "Index",
    "fetch_past_issues": "Past issues",
    "compare_past_issues": "Comparison with past issues",
    "investigator": "Investigator",
    "codebase_search": "Codebase search",
    "web_search": "Web search",
    "critic": "Critic",
    "writer": "Writer",
    "classify_ticket": "Kind of change",
    "identify_modules": "Modules",
    "generate_code_changes": "Change",
    "generate_tests": "Test",
}
TIERS: Mapping[SkillTier, str] = {2: "its text", 3: "its text, and files that it references"}
OUTCOMES: dict[Outcome, str] = {
    Outcome.SUCCESS: "done",
    Outcome.FAILED: "failed",
    Outcome.TIMED_OUT: "timed out",
    Outcome.SKIPPED: "skipped",
}


def describe_engine(report: RunReport) -> str:
    """Return who answered, a model or rules, and why no model did."""
    if report.engine == "rules":
        return "by rules, no model"
    if has_model_answer(report):
        return "by a model"
    if any(step.calls or step.engine == "model" for step in report.steps):
        return "by rules (a model was asked and gave no usable answer)"
    return "by rules (a model was chosen and not asked)"


def has_model_answer(report: RunReport) -> bool:
    """Return whether a model found or judged something. The writer's model files a ticket alone."""
    asked = (record for record in report.steps if record.engine == "model" and record.step != "writer")
    return any(record.outcome is Outcome.SUCCESS for record in asked)


def model_name(step: StepRecord) -> str:
    """Return the name that the endpoint gives the model that answered or was asked last; empty without one."""
    if step.engine == "rules":
        return ""
    return step.model or (step.calls[-1].model if step.calls else "")


def format_confidence(value: float) -> str:
    return f"{confidence_level(value)} confidence ({value:.2f})"


def confidence_level(value: float) -> str:
    if value < LOW_CONFIDENCE:
        return "low"
    return "medium" if value < HIGH_CONFIDENCE else "high"


def format_dollars(usd: float | None) -> str:
    """Return the amount without a dollar sign: GitHub renders text between two of them as a formula."""
    if usd is None:
        return "unknown"
    return f"{usd:.4f}" if 0 < usd < 1 else f"{usd:.2f}"


def format_usage(usage: Usage) -> str:
    if not usage.calls and not usage.tokens:
        return "no tokens"
    price = "price unknown" if usage.usd is None else f"{format_dollars(usage.usd)} US dollars"
    return f"{format_count(usage.tokens, 'token')}, {price}"


def format_count(number: int, noun: str) -> str:
    """Return text such as `1 file` or `3 files`."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def format_outcome(step: StepRecord) -> str:
    word = "done, after" if step.error and step.outcome is Outcome.SUCCESS else OUTCOMES[step.outcome]
    shortfalls = f", but {'. '.join(step.shortfalls)}" if step.shortfalls else ""
    return (f"{word}: {step.error}" if step.error else word) + shortfalls


def first_sentences(text: str, count: int) -> str:
    """Return the first `count` sentences. A full stop inside a name, a number or `e.g.` does not end a sentence."""
    words = text.split()
    sentences = 0
    for index, word in enumerate(words):
        bare = word.rstrip("\"')]*`”’")
        is_end = bare.endswith((".", "!", "?", "…")) and bare.lower().lstrip("(") not in _ABBREVIATIONS
        following = words[index + 1 : index + 2]
        if is_end and following and not following[0][0].islower():
            sentences += 1
        if sentences == count:
            return " ".join(words[: index + 1])
    return " ".join(words)


_ABBREVIATIONS = frozenset({"e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "resp."})
