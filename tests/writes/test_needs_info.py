"""The label for an open question, over all states that an issue and its comment may have."""

from itertools import product
from typing import get_args

import pytest

from triage.comment.hidden_state import NeedsInfo
from triage.domain.effect import LabelsMode
from triage.domain.issue import Issue
from triage.writes.needs_info import LabelPlan, plan_needs_info

LABEL = "Needs info"


def plan(state: NeedsInfo, has_label: bool, asks: bool, mode: LabelsMode = "apply", label: str = LABEL) -> LabelPlan:
    labels = ["bug", LABEL.lower()] if has_label else ["bug"]
    return plan_needs_info(label, mode, Issue(number=7, title="t", labels=labels), state, asks=asks)


ADD, REMOVE, NOTHING = (True, False), (False, True), (False, False)


@pytest.mark.parametrize(
    ("state", "has_label", "asks", "changes", "next_state"),
    [
        ("", False, True, ADD, "added"),
        ("", True, True, NOTHING, ""),  # a person has put it on
        ("", True, False, NOTHING, ""),
        ("", False, False, NOTHING, ""),
        ("added", True, True, NOTHING, "added"),
        ("added", False, True, NOTHING, "removed"),  # a person has taken it off
        ("added", True, False, REMOVE, ""),
        ("added", False, False, NOTHING, ""),
        ("removed", False, True, NOTHING, "removed"),
        ("removed", True, True, NOTHING, "removed"),  # and put it on again: it is theirs
        ("removed", True, False, NOTHING, ""),
        ("removed", False, False, NOTHING, ""),
    ],
)
def test_the_label_follows_the_question(
    state: NeedsInfo, has_label: bool, asks: bool, changes: tuple[bool, bool], next_state: NeedsInfo
):
    assert plan(state, has_label, asks) == (*changes, next_state)


ALL_STATES: list[tuple[NeedsInfo, bool, bool]] = list(product(get_args(NeedsInfo), [False, True], [False, True]))


@pytest.mark.parametrize(("state", "has_label", "asks"), ALL_STATES)
def test_nothing_happens_without_the_setting_or_unless_labels_are_applied(
    state: NeedsInfo, has_label: bool, asks: bool
):
    nothing = (*NOTHING, state)
    assert plan(state, has_label, asks, label="") == nothing
    assert plan(state, has_label, asks, "suggest") == plan(state, has_label, asks, "off") == nothing


@pytest.mark.parametrize(("state", "has_label", "asks"), ALL_STATES)
def test_a_second_run_changes_nothing(state: NeedsInfo, has_label: bool, asks: bool):
    first = plan(state, has_label, asks)
    has_label_now = (has_label or first.adds) and not first.removes
    assert plan(first.state, has_label_now, asks) == (*NOTHING, first.state)
