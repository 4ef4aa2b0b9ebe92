"""Plans the project's label for an issue that waits for an answer.

The label is on the issue as long as our comment asks something. It is taken off only if this action has put it on, as
the hidden state of our comment remembers; and if a person has taken it off, it stays off while the question is open.
"""

from typing import NamedTuple

from triage.comment.hidden_state import NeedsInfo
from triage.domain.effect import LabelsMode
from triage.domain.issue import Issue


class LabelPlan(NamedTuple):
    adds: bool
    removes: bool
    state: NeedsInfo
    """What the comment remembers from now on."""


def plan_needs_info(label: str, mode: LabelsMode, issue: Issue, state: NeedsInfo, *, asks: bool) -> LabelPlan:
    """Returns what happens to the label of an issue. Without a label, or unless labels are applied, nothing."""
    if not label or mode != "apply":
        return LabelPlan(adds=False, removes=False, state=state)
    has_label = issue.has_label(label)
    if not asks:
        return LabelPlan(adds=False, removes=state == "added" and has_label, state="")
    if state or has_label:
        return LabelPlan(adds=False, removes=False, state="removed" if state and not has_label else state)
    return LabelPlan(adds=True, removes=False, state="added")
