"""What of a model's words is said."""

from typing import Any

from testing import factories
from testing.each_row import each_row
from triage.agents.cited_places import build_model_explanation
from triage.domain.code import Excerpt, LookedUp, PathChange, RegressionWindow, Span
from triage.domain.findings import CodebaseFinding
from triage.domain.report import Citations

HOLDS = Citations(verified=1, total=1)
SHOWN = [Excerpt(span=Span(path="src/parse.py", start=1, end=3), symbol="parse")]


def state(search: dict[str, Any], **changes: Any) -> Any:
    defaults = {
        "code_finding": factories.codebase(**search),
        "searched_by_model": True,
        "citations": HOLDS,
        "excerpts": SHOWN,
        "critique": factories.critique("UNCERTAIN"),
    }
    return factories.state(**defaults | changes)


def test_an_explanation_has_names_for_what_it_cites():
    said = build_model_explanation(state({}))
    assert said is not None
    assert said.why == "The day is checked against the wrong year in `parse` (`parse.py:3`)."
    assert [place.text for place in said.named_places] == ["parse.py:3"]
    assert (said.severity, said.severity_reason) == ("HIGH", "a crash")
    assert said.as_text().startswith("Why: The day")


def test_the_commits_that_it_names_are_named_if_it_was_shown_them():
    answer = "src/parse.py:\n91afd4214a 2022-05-11 Mend the year\n"
    looked_up = [LookedUp(call='git_log({"path": "src/parse.py"})', answer=answer)]
    change = PathChange(commit="7be3" * 10, date="2022-05-12", subject="Parse", paths=["src/parse.py"])
    window = RegressionWindow(worked_in="1.0", broken_in="1.1", commits=[change], total=1)
    why = f"{factories.WHY} 91afd42 made `parse` so, 7be37be37b or 0123456789 did not."
    said = build_model_explanation(state({"why": why}, looked_up=looked_up, regression_window=window))
    assert said is not None
    commits = [(place.text, place.commit) for place in said.named_places if place.commit]
    assert commits == [("91afd42", "91afd4214a"), ("7be37be37b", "7be3" * 10)]


@each_row(
    ("search", "changes"),
    [
        ({"why": ""}, {}),
        ({"why": "`parse` is wrong."}, {}),
        ({"confidence": 0.29}, {}),
        ({}, {"searched_by_model": False}),
        ({}, {"citations": Citations(verified=0, total=2)}),
        ({}, {"critique": factories.critique("CHALLENGED")}),
    ],
)
def test_what_has_no_evidence_says_nothing(search: dict[str, Any], changes: dict[str, Any]):
    assert build_model_explanation(state(search, **changes)) is None


def test_a_severity_without_a_reason_and_a_step_that_says_nothing_are_left_out():
    said = build_model_explanation(state({"severity_reason": " ", "fix_idea": "Fix it.", "check": "Test."}))
    assert said is not None
    assert (said.severity, said.severity_reason, said.fix_idea, said.check) == (None, "", "", "")


def test_the_form_asks_for_thoughts_first_and_for_the_conclusion_last():
    fields = list(CodebaseFinding.model_json_schema()["properties"])
    asked = [name for name in fields if name not in CodebaseFinding.unasked]
    assert asked[0] == "reasoning"
    assert asked[-3:] == ["confidence", "summary", "error"]
    assert asked.index("places") < asked.index("why")
