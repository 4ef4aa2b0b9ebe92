"""What the repository says of an issue: where its facts lead, of which kind it is, and what labels fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triage.domain.past_issues import LearnedFromLabels, PastIssue
from triage.graph.triage_state import BugTriageState, Update
from triage.read.area_labels import choose_area_labels
from triage.read.issue_forms import find_used_forms, parse_forms
from triage.read.kind.issue_kind import read_kind

if TYPE_CHECKING:
    from triage.find.codebase import Codebase

NOTHING_LEARNED = LearnedFromLabels()


def relate_to_code(
    state: BugTriageState,
    codebase: Codebase,
    learned: LearnedFromLabels = NOTHING_LEARNED,
    past: Sequence[PastIssue] = (),
) -> Update:
    """Return the places, the kind and the labels, by the indexed commit and by what past issues say.

    Labels are those that nobody, and no form, has put on the issue. Takes seconds: call it in a thread.
    """
    places = codebase.find_places(state.parsed)
    # A thread dump has frames, but nothing failed.
    ends_here = any(
        place.rule == "frame" and place.is_here and place.text and not place.calls_before_error for place in places
    )
    forms, labels = codebase.read_issue_forms(), state.issue.labels
    used_forms = find_used_forms(parse_forms(forms), state.opening_post)
    of_forms = [name for form in used_forms for name in form.labels]
    given = {name.casefold() for name in (*labels, *of_forms)}
    free = [name for name in state.repository.labels if name.casefold() not in given]
    rules = codebase.read_label_rules()
    return {
        "places": places,
        "kind_reading": read_kind(state.opening_post, labels, forms, ends_here=ends_here, learned=learned.kinds),
        "area_labels": choose_area_labels(state.opening_post, free, rules, places, learned.labels, past),
        "form_labels": of_forms,
    }
