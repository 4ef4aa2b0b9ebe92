"""What a report says, in a few fields."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.issue import issues
from triage.domain.issue import Issue
from triage.issue.read_issue import read_issue
from triage.issue.reading_summary import summarize_issue


def test_a_complete_report():
    summary = summarize_issue(issues.COMPLETE)
    assert (summary.kind, summary.certain) == ("bug", True)
    assert summary.version == "2.4.1"
    assert summary.environment == ["Python: 3.11.2", "Ubuntu 22.04"]
    assert summary.error == "TypeError: unsupported operand type(s) for +: 'int' and 'NoneType'"
    assert [trace.exception for trace in summary.traces] == ["TypeError"]
    assert summary.symptom == summary.error
    assert summary.missing == []


def test_a_report_that_says_nothing_of_it_has_none_of_it():
    summary = summarize_issue(Issue(title="The header is large", body="It covers half of the page."))
    assert (summary.version, summary.error, summary.regression, summary.severity, summary.symptom) == (None,) * 5
    assert (summary.environment, summary.traces) == ([], [])
    assert "version" in [question.kind for question in summary.missing]


def test_the_words_of_a_regression():
    summary = summarize_issue(Issue(title="Sorting is wrong", body="It worked in 1.2.0, and broke with 1.3.0."))
    assert summary.regression is not None
    assert (summary.regression.worked_in, summary.regression.broken_in) == ("1.2.0", "1.3.0")
    assert summary.severity == "HIGH"


def test_a_label_decides_what_is_asked():
    crash = issues.VAGUE_CRASH
    assert summarize_issue(crash).missing != []
    labelled = summarize_issue(crash.model_copy(update={"labels": ["question"]}))
    assert (labelled.kind, labelled.severity, labelled.missing) == ("question", None, [])


def test_places_are_those_of_the_quoted_words():
    text = read_issue(issues.COMPLETE).text
    summary = summarize_issue(issues.COMPLETE)
    assert text[slice(*summary.places["version"])] == summary.version
    assert text[slice(*summary.places["error"])] == summary.error


def test_the_name_of_the_project_tells_its_version_apart():
    issue = Issue(
        title="Wrong total", body="numpy: 1.18.4\nxarray: 0.16.0", url="https://github.com/pydata/xarray/issues/7"
    )
    assert summarize_issue(issue).version == "0.16.0"
    assert summarize_issue(issue, "numpy/numpy").version == "1.18.4"


@settings(max_examples=60)
@given(st.text(), st.text())
def test_any_text_has_a_summary(title: str, body: str):
    summary = summarize_issue(Issue(title=title, body=body))
    assert 0 < summary.probability <= 1
    summary.model_dump_json()
