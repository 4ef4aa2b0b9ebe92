"""A draft as a file: the same value comes back, and nothing else is taken."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.patches.drafts import make_draft
from triage.domain.patch import FileVersion
from triage.errors import BadInput
from triage.patches.draft_file import MAX_DRAFT_BYTES, dump_draft, hash_draft, parse_draft

DRAFT = make_draft([FileVersion(path="shop/a.py", text="é = 1\r\n")])


@given(text=st.text(), summary=st.text())
def test_what_was_dumped_is_parsed(text: str, summary: str):
    draft = make_draft([FileVersion(path="a", text=text)], summary=summary)
    assert parse_draft(dump_draft(draft)) == draft
    assert parse_draft(dump_draft(draft).encode()) == draft


def test_the_hash_is_that_of_the_value():
    assert hash_draft(DRAFT) == hash_draft(parse_draft(json.dumps(json.loads(dump_draft(DRAFT)))))
    assert len(hash_draft(DRAFT)) == 64
    assert hash_draft(DRAFT) != hash_draft(DRAFT.model_copy(update={"summary": "Another"}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[]", "the whole is wrong"),
        ("{", "not JSON"),
        ('{"a": "\\ud800"}', "not JSON"),
        (dump_draft(DRAFT).replace('"version": 1', '"version": 2'), "'version' is wrong (literal error)"),
        (dump_draft(DRAFT).replace('"version": 1', '"version": "1"'), "'version' is wrong"),
        (dump_draft(DRAFT).replace('"is_new_file": false', '"is_new_file": 0'), "'changes.0.is_new_file' is wrong"),
        (
            dump_draft(DRAFT).replace('"version": 1', '"evil\\n::error::": 1'),
            "'evil\\n::error::' is wrong (extra forbidden)",
        ),
        (dump_draft(DRAFT).replace('"shop/a.py"', '"shop/a.py", "mode": "120000"'), "'changes.0.mode' is wrong"),
        (" " * (MAX_DRAFT_BYTES + 1), "16,000,000 are allowed"),
    ],
)
def test_other_files_are_refused_with_the_field(text: str, message: str):
    with pytest.raises(BadInput) as error:
        parse_draft(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
