"""The hash is that of the value, on every machine."""

import pytest

from tests.fix.patch.drafts import make_draft
from triage.domain.proposal import PatchDraft, PatchedFile
from triage.domain.value import hash_value

DRAFT = make_draft([PatchedFile(path="shop/a.py", text="é = 1\r\n")])


def test_a_value_that_was_passed_on_has_the_same_hash():
    assert hash_value(PatchDraft.model_validate_json(DRAFT.model_dump_json())) == hash_value(DRAFT)
    assert hash_value(DRAFT) == "f19756516c427c1f71980ccab9e305a20fd4f7d853ae39cde277bf68b3f14e44"


@pytest.mark.parametrize(
    "changes",
    [
        {"summary": "Another"},
        {"revision": 1},
        {"changes": [PatchedFile(path="shop/a.py", text="é = 1\n")]},
        {"issue": 8},
    ],
)
def test_any_other_value_has_another(changes: dict[str, object]):
    assert hash_value(DRAFT.model_copy(update=changes)) != hash_value(DRAFT)
