"""Answers that are code are taken exactly or not at all: nothing is stripped, repaired or left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.fix.graph.ask_model import CodeChanges
from triage.outside.model.answer_reader import Misfit, fit_answer
from triage.outside.model.output_formats import structured_format

TEXT = st.text(max_size=40).map(lambda text: text.encode("utf-8", "replace").decode())


def make_answer(search: object, replace: object) -> dict[str, object]:
    file = {"file_path": "a.py", "description": "", "edits": [{"search": search, "replace": replace}]}
    return {"root_cause": None, "summary": "s", "changes": [file], "needs_to_see": [], "error": None}


@given(TEXT, TEXT)
def test_search_and_replace_stay_as_they_are(search: str, replace: str) -> None:
    (file,) = fit_answer(make_answer(search, replace), CodeChanges).changes
    assert [(edit.search, edit.replace) for edit in file.edits] == [(search, replace)]


@pytest.mark.parametrize("text", ["", "None", "null", "n/a", "  x\n", "\t", "- a\n- b"])
def test_words_that_mean_nothing_elsewhere_are_code_here(text: str) -> None:
    (file,) = fit_answer(make_answer("x", text), CodeChanges).changes
    assert file.edits[0].replace == text


@pytest.mark.parametrize("bad", [None, 3, ["a", "b"], {"text": "x"}])
def test_an_edit_that_cannot_be_read_costs_the_whole_answer(bad: object) -> None:
    with pytest.raises(Misfit):
        fit_answer(make_answer("x", bad), CodeChanges)


def test_a_file_that_cannot_be_read_costs_the_whole_answer() -> None:
    answer = make_answer("x", "y")
    assert isinstance(answer["changes"], list)
    answer["changes"].append({"description": "no path", "edits": []})
    with pytest.raises(Misfit):
        fit_answer(answer, CodeChanges)


def test_a_model_that_declines_needs_no_changes() -> None:
    assert fit_answer({"error": "The cause is elsewhere."}, CodeChanges).error == "The cause is elsewhere."


def test_code_is_asked_for_with_more_room_than_other_texts() -> None:
    schema = structured_format(CodeChanges).build_arguments(set())["response_format"]["json_schema"]["schema"]
    edit = schema["$defs"]["EditAnswer"]["properties"]
    assert {edit[name]["maxLength"] for name in ("search", "replace")} == {40_000}
    assert schema["properties"]["summary"]["maxLength"] < 40_000
