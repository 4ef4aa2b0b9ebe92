"""What of a model's words is said of an issue: its explanation, if a citation holds and no critic refuses it.

Whatever else a model answers says nothing to anybody: what rules know stays as it is.
"""

import re
from collections.abc import Iterator

from triage.agents.cited_places import link_marks
from triage.domain.agent_input import AgentInput
from triage.domain.report import Explanation, NamedPlace

MIN_CONFIDENCE = 0.3
"""Below it, the search says that nothing it saw explains the symptom: see its prompt."""
MIN_WHY_CHARS = 40
MIN_STEP_CHARS = 12
"""Of an idea for a fix, or a check: `Fix it` and `Add tests.` say nothing."""
_COMMIT = re.compile(r"\b[0-9a-f]{7,40}\b")
_LOGGED = re.compile(r"^([0-9a-f]{10}) \d{4}-\d\d-\d\d\b", re.MULTILINE)


def has_evidence(agent_input: AgentInput) -> bool:
    """Return whether a model has read the code: something that it cites was shown to it, and no critic refuses it."""
    is_refused = agent_input.critique is not None and agent_input.critique.verdict == "CHALLENGED"
    return agent_input.searched_by_model and agent_input.citations.verified > 0 and not is_refused


def explain(agent_input: AgentInput) -> Explanation | None:
    """Return what a model says of the cause, with its citations as names; None if that says nothing."""
    search = agent_input.codebase
    if search is None or not has_evidence(agent_input) or search.confidence < MIN_CONFIDENCE:
        return None
    if len(search.why.strip()) < MIN_WHY_CHARS:
        return None
    texts = {name: getattr(search, name) for name in ("summary", "why", "fix_idea", "check")}
    linked = {name: link_marks(text, agent_input.excerpts) for name, text in texts.items()}
    steps = {name: linked[name][0] if len(linked[name][0]) >= MIN_STEP_CHARS else "" for name in ("fix_idea", "check")}
    reason = search.severity_reason.strip()
    return Explanation(
        summary=linked["summary"][0],
        why=linked["why"][0],
        severity=search.severity if reason else None,
        severity_reason=reason if search.severity else "",
        named_places=[
            *{place.text: place for _, places in linked.values() for place in places}.values(),
            *_list_commits(" ".join(texts.values()), agent_input),
        ],
        **steps,
    )


def _list_commits(text: str, agent_input: AgentInput) -> Iterator[NamedPlace]:
    """Yield the commits that a text names, of those that the model was shown."""
    window = agent_input.regression_window
    shown = [change.commit for change in (*window.commits, *window.further)] if window else []
    shown += (commit for one in agent_input.looked_up for commit in _LOGGED.findall(one.answer))
    for word in dict.fromkeys(_COMMIT.findall(text)):
        if commit := next((one for one in shown if one.startswith(word) or word.startswith(one)), ""):
            yield NamedPlace(text=word, path="", commit=commit)
