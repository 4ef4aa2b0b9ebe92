"""What of a model's words is said."""

from typing import Any

from testing import factories
from testing.each_row import each_row
from triage.agents.explanation import explain
from triage.domain.code import Excerpt, Span
from triage.domain.findings import CodebaseFinding
from triage.domain.report import Citations

HOLDS = Citations(verified=1, total=1)
SHOWN = [Excerpt(span=Span(path="src/parse.py", start=1, end=3), symbol="parse")]


def state(search: dict[str, Any], **changes: Any) -> Any:
    defaults = {
        "codebase": factories.codebase(**search),
        "searched_by_model": True,
        "citations": HOLDS,
        "excerpts": SHOWN,
        "critique": factories.critique("UNCERTAIN"),
    }
    return factories.state(**defaults | changes)


def test_an_explanation_has_names_for_what_it_cites():
    said = explain(state({}))
    assert said is not None
    assert said.why == "The day is checked against the wrong year in `parse` (`parse.py:3`)."
    assert [place.text for place in said.named_places] == ["parse.py:3"]
    assert (said.severity, said.severity_reason) == ("HIGH", "a crash")
    assert said.as_text().startswith("Why: The day")


@each_row(
    ("search", "changes"),
    [
        ({"why": ""}, {}),
        ({"why": "`parse` is wrong."}, {}),
        ({"why": "Lorem ipsum dolor sit amet, consectetur adipiscing elit [1:2]."}, {}),
        ({"confidence": 0.29}, {}),
        ({}, {"searched_by_model": False}),
        ({}, {"citations": Citations(verified=0, total=2)}),
        ({}, {"critique": factories.critique("CHALLENGED")}),
    ],
)
def test_what_has_no_evidence_says_nothing(search: dict[str, Any], changes: dict[str, Any]):
    assert explain(state(search, **changes)) is None


def test_an_answer_may_speak_of_the_line_that_it_quotes_alone():
    answer = {"places": [], "relevant_files": [], "why": "The second parameter is `$maxFiles`, the level is the third."}
    assert explain(state(answer)) is None
    for quote in ("function open($name, int $maxFiles = 0, $level = 100)", "Parameter 2 is the number of files."):
        quoted = factories.relevant("src/a.php", quote=quote)
        assert explain(state({**answer, "quoted_lines": [quoted]})) is not None, "in any case"


def test_a_severity_without_a_reason_and_a_step_that_says_nothing_are_left_out():
    said = explain(state({"severity_reason": " ", "fix_idea": "Fix it.", "check": "Test."}))
    assert said is not None
    assert (said.severity, said.severity_reason, said.fix_idea, said.check) == (None, "", "", "")


def test_the_form_asks_for_thoughts_first_and_for_the_conclusion_last():
    fields = list(CodebaseFinding.model_json_schema()["properties"])
    asked = [name for name in fields if name not in CodebaseFinding.unasked]
    assert asked[0] == "reasoning"
    assert asked[-3:] == ["confidence", "summary", "error"]
    assert asked.index("places") < asked.index("why")
