"""Answers under other names, cut ones, and hostile text. `test_forms.py` has the forms that models write."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from testing.cost_growth import assert_grows_linearly, repeat_to
from tests.model.answers import ANSWERS, CODEBASE, CRITIQUE, FILE, REPORT, dump, read
from triage.base.errors import InvalidAnswer
from triage.domain.findings import (
    CodebaseFinding,
    CritiqueFinding,
)
from triage.model.fit_schema import Misfit, fit_answer
from triage.model.lenient_json import find_json_objects
from triage.model.model_errors import WrongFormat
from triage.model.output_formats import RequestedTool

SCHEMAS = pytest.mark.parametrize(("schema", "answer"), ANSWERS, ids=[schema.__name__ for schema, _ in ANSWERS])


@SCHEMAS
@pytest.mark.parametrize("args", [json.loads, lambda text: text[:-2] + ",}", lambda text: f"{text} "])
def test_a_call_is_read_whatever_it_is_named(args: Any, schema: type[BaseModel], answer: Any):
    call = RequestedTool(id="1", name="anything", args=args(dump(answer)))
    assert read(schema, "", [call]) == read(schema, "I call it.", [call]) == schema.model_validate(answer)


def test_files_by_their_paths():
    files = {"a/b.py": {"lines": "12-14", "reason": "saves"}, "c.py": "loads", "d.py": None}
    answer = read(CodebaseFinding, dump(CODEBASE | {"relevant_files": files}))
    assert [(file.path, file.start_line) for file in answer.relevant_files] == [
        ("a/b.py", 12),
        ("c.py", None),
        ("d.py", None),
    ]
    assert answer.relevant_files[0].relevance_reason == "saves"


def test_an_answer_that_was_cut_is_used_as_far_as_it_goes():
    text = dump(CODEBASE | {"relevant_files": [FILE, FILE]})
    cut = text[: text.rindex('"symbol"') + 14]
    answer = read(CodebaseFinding, cut, finish="length")
    assert [file.model_dump() for file in answer.relevant_files] == [FILE, FILE | {"symbol": None, "quote": None}]


def test_half_a_number_of_an_answer_that_was_cut_is_no_number():
    assert read(CodebaseFinding, '{"relevant_files": [], "confidence": 0.1', finish="length").confidence == 0.4
    assert read(CodebaseFinding, '{"relevant_files": [], "confidence": 0.1').confidence == 0.1


# --- hostile text

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=12,
)
MARKS = [
    '{"',
    '"}',
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\\",
    "'",
    "//",
    "/*",
    "*/",
    "#",
    "```",
    "<think>",
    "</think>",
    "1e",
    "NaN",
    "-Infinity",
    "\\ud800",
    "true",
]
NAMES = ['"error":', '"relevant_files":[', '"path":', "9" * 5_000, "\ud800", "\n", " "]
pieces = st.sampled_from([*MARKS, *NAMES])
hostile = st.lists(pieces | st.text(max_size=4), max_size=30).map("".join)


@given(st.dictionaries(st.text(), json_values), st.booleans(), st.sampled_from([None, 1]))
def test_valid_json_in_prose_is_read_as_it_is(value: dict[str, Any], ascii_only: bool, indent: int | None):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert find_json_objects(f"Sure:\n{text}\nThat is all.") == [value]


@given(hostile)
def test_hostile_text_is_an_answer_or_a_misfit(text: str):
    for content in (text, "{" + text, f'{{"relevant_files": [{text}]}}'):
        with contextlib.suppress(InvalidAnswer):
            assert isinstance(read(CodebaseFinding, content), CodebaseFinding)


@given(st.dictionaries(st.sampled_from([*CODEBASE, *REPORT, "lines"]), json_values), st.sampled_from(ANSWERS))
def test_any_object_is_fitted_or_a_misfit(value: dict[str, Any], known: tuple[type[BaseModel], dict[str, Any]]):
    schema, answer = known
    for changed in (value, answer | value):
        try:
            fitted = fit_answer(changed, schema)
        except Misfit:
            continue
        assert schema.model_validate_json(fitted.model_dump_json()) == fitted


@given(st.sampled_from(ANSWERS), st.dictionaries(st.sampled_from([*CODEBASE, *REPORT]), json_values, max_size=2))
def test_what_the_schema_takes_is_taken_as_the_schema_takes_it(known: Any, change: dict[str, Any]):
    schema, answer = known
    text = json.dumps(answer | change)
    try:
        strict = schema.model_validate_json(text)
    except ValidationError:
        return
    assert read(schema, text) == strict


def test_of_a_repeated_name_the_last_counts():
    text = dump(CRITIQUE).replace('"summary": "S."', '"summary": "first", "summary": "last"')
    assert read(CritiqueFinding, text).summary == read(CritiqueFinding, f"So: {text}").summary == "last"


def test_lone_surrogates_are_replaced():
    assert read(CritiqueFinding, "So: " + dump(CRITIQUE | {"summary": "a\ud800b"})).summary == "a?b"


PIECES = ["{", '{"', '{"a":', '{"a":[', "<think>", "<think>{", '{"a": /* ', '{"a":"x" y', "{a:1}", '{"a":1}</think>']


@pytest.mark.parametrize("piece", [*PIECES, '{"a":"\\', '"', "\\", " ", "[", "{'", '{"a": #'])
def test_the_cost_of_hostile_text_is_linear(piece: str):
    begin = "" if "{" in piece else '{"a": '
    assert_grows_linearly(lambda size: begin + repeat_to(piece)(size), find_json_objects)


def test_deep_nesting_costs_no_stack():
    assert find_json_objects('{"a": ' * 100_000 + '{"b": 1}' + "}" * 100_000) == []
    nested: Any = "x"
    for _ in range(900):
        nested = {"a": nested, "lines": [nested]} if nested == "x" else {"a": nested}
    call = RequestedTool(id="1", name="x", args={"relevant_files": nested})
    with pytest.raises(WrongFormat):
        read(CodebaseFinding, "", [call])
