"""What enums and numbers read like on a page."""

from collections.abc import Sequence

from triage.domain.fault import Part, is_refused_by_gate
from triage.domain.findings import Effort, Kind, MissingKind, Verdict
from triage.domain.report import RunReport
from triage.domain.run import Outcome, StepName, StepRecord, Usage
from triage.publish.run_stages import has_model_answer, was_model_asked

LOW_CONFIDENCE, HIGH_CONFIDENCE = 0.4, 0.7
"""Below the first, confidence is called low; from the second on, high."""

VERDICTS: dict[Verdict | None, str] = {
    "CONFIRMED": "confirmed by the code",
    "UNCERTAIN": "plausible, not proven",
    "CHALLENGED": "not supported by what was found",
    None: "not reviewed by the critic",
}
BUGS: dict[Verdict | None, str] = {
    "CONFIRMED": "Bug",
    "UNCERTAIN": "Likely bug",
    "CHALLENGED": "Possible bug",
    None: "Possible bug",
}
CAUSES: dict[Verdict | None, str] = {
    "CONFIRMED": "Root cause",
    "UNCERTAIN": "Probable root cause",
    "CHALLENGED": "Possible root cause, not backed by evidence",
    None: "Possible root cause",
}
KINDS: dict[Kind, str] = {
    "bug": "This looks like a bug",
    "feature_request": "This looks like a feature request, not a bug",
    "question": "This looks like a question, not a bug",
    "not_actionable": "Nobody can act on this report yet",
}
QUESTIONS: dict[MissingKind, str] = {
    "reproduction": "Steps that reproduce it",
    "expected": "What should have happened",
    "actual": "What happened instead",
    "version": "The version in use",
    "environment": "The environment (system, runtime, browser)",
    "error_output": "The full error output",
    "configuration": "The configuration in use",
    "other": "A detail that was asked for",
}
"""How an earlier question is named once it is answered."""
EFFORTS: dict[Effort, str] = {
    "XS": "under an hour",
    "S": "half a day",
    "M": "one or two days",
    "L": "about a week",
    "XL": "more than a week",
}
STEPS: dict[StepName, str] = {
    "prepare": "Index",
    "supervisor": "Supervisor",
    "investigator": "Investigator",
    "codebase_search": "Codebase search",
    "web_search": "Web search",
    "critic": "Critic",
    "writer": "Writer",
}
STEPS_WITHOUT_AGENT: frozenset[StepName] = frozenset({"prepare"})
"""Steps that no agent answers."""
OUTCOMES: dict[Outcome, str] = {
    Outcome.SUCCESS: "done",
    Outcome.FAILED: "failed",
    Outcome.TIMED_OUT: "timed out",
    Outcome.SKIPPED: "skipped",
}


def describe_engine(report: RunReport) -> str:
    """Who answered in this run."""
    if report.engine == "rules":
        return "rules (no model)"
    if has_model_answer(report):
        return "model"
    asked = (
        "a model was asked and gave no usable answer" if was_model_asked(report) else "a model was chosen and not asked"
    )
    return f"rules ({asked})"


def model_name(step: StepRecord) -> str:
    """The model that answered or was asked last, as its endpoint names it; empty by rules and when none was named."""
    if step.engine == "rules":
        return ""
    return step.model or (step.calls[-1].model if step.calls else "")


def format_agents(names: Sequence[str]) -> str:
    """The agents' names; a name that is none of ours, which a model may have made up, is not repeated."""
    known = {str(step): word for step, word in STEPS.items()}
    return ", ".join(known.get(name, "an unknown agent") for name in names)


def format_confidence(value: float) -> str:
    """Such as `medium confidence (0.62)`."""
    return f"{confidence_level(value)} confidence ({value:.2f})"


def confidence_level(value: float) -> str:
    """`low`, `medium` or `high`."""
    if value < LOW_CONFIDENCE:
        return "low"
    return "medium" if value < HIGH_CONFIDENCE else "high"


def format_seconds(value: float) -> str:
    """Such as `3.2 s`; from a minute on `2 min 5 s`."""
    if 0 < value < 0.05:
        return "under 0.1 s"
    if value < 59.95:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s"


def format_dollars(usd: float | None) -> str:
    """Without the sign: GitHub reads what stands between two of them as a formula."""
    if usd is None:
        return "unknown"
    return f"{usd:.4f}" if 0 < usd < 1 else f"{usd:.2f}"


def format_usage(usage: Usage) -> str:
    """Such as `12,345 tokens, 0.0421 US dollars`."""
    if not usage.calls and not usage.tokens:
        return "no tokens"
    price = "price unknown" if usage.usd is None else f"{format_dollars(usage.usd)} US dollars"
    return f"{format_count(usage.tokens, 'token')}, {price}"


def format_count(number: int, one: str, many: str = "") -> str:
    """Such as `1 file`, `3 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


PARTS: dict[Part, str] = {
    "step": "the step",
    "gate": "its answer",
    "shortfall": "a part of it",
    "model call": "a request to",
    "tool": "the tool",
}
"""What failed, as a table's cell says it."""


def format_outcome(step: StepRecord) -> str:
    """How a step ended, with the reason where there is one."""
    word = "refused by the gate" if is_refused_by_gate(step) else OUTCOMES[step.outcome]
    but = f", but {'. '.join(step.shortfalls)}" if step.shortfalls else ""
    return (f"{word}: {step.error}" if step.error else word) + but


def first_sentences(text: str, count: int) -> str:
    """The text's first sentences. A full stop inside a name, a number or `e.g.` ends none."""
    words = text.split()
    ended = 0
    for at, word in enumerate(words):
        following = words[at + 1 : at + 2]
        if _ends_sentence(word) and following and not following[0][0].islower():
            ended += 1
        if ended == count:
            return " ".join(words[: at + 1])
    return " ".join(words)


_ABBREVIATIONS = frozenset({"e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "resp."})


def _ends_sentence(word: str) -> bool:
    bare = word.rstrip("\"')]*`”’")
    return bare.endswith((".", "!", "?", "…")) and bare.lower().lstrip("(") not in _ABBREVIATIONS


def truncate(text: str, max_chars: int) -> str:
    """The text's beginning, with a sign where something is missing."""
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"
