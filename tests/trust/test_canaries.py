"""The harness's own search for secrets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trust.canaries import ENCODINGS, SHORTEST, find_secrets
from trust.observed_run import MODEL_KEY, TOKEN

SECRETS = {"token": TOKEN, "key": MODEL_KEY}
PROSE = "The basket raises a KeyError when a name has no price; see shop/basket.py, line 6. " * 40


@pytest.mark.parametrize("disguise", ENCODINGS)
def test_each_disguise_is_seen_through(disguise: str):
    assert find_secrets(SECRETS, f"{PROSE}\n{ENCODINGS[disguise](TOKEN)} {PROSE}") == ["token"]


@given(
    start=st.integers(0, len(TOKEN) - SHORTEST), disguise=st.sampled_from(["as it is", "backwards", "rot13", "spaced"])
)
def test_a_part_is_enough(start: int, disguise: str):
    part = TOKEN.replace("_", "")[start : start + SHORTEST]
    assert len(part) < SHORTEST or find_secrets(SECRETS, f"see {ENCODINGS[disguise](part)}.") == ["token"]


def test_other_text_holds_none():
    assert find_secrets(SECRETS, PROSE) == []
    assert find_secrets(SECRETS, ENCODINGS["base64"](PROSE) + ENCODINGS["hexadecimal"](PROSE)) == []
