"""The judge that looks for secrets in what a run writes."""

import pytest

from testing.text.encoded_secrets import ENCODINGS, KEYS, find_secrets

PROSE = "The basket raises a KeyError when a name has no price; see shop/basket.py, line 6. " * 40


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("key", KEYS)
def test_every_encoding_is_decoded(key: str, encoding: str) -> None:
    assert find_secrets(f"{PROSE}\n{ENCODINGS[encoding](key)} {PROSE}") == [key]


def test_other_text_has_none() -> None:
    assert find_secrets(PROSE) == []
    assert find_secrets(ENCODINGS["base64"](PROSE) + ENCODINGS["hexadecimal"](PROSE)) == []
    assert find_secrets("sk-proj-, ghs_ and tvly-dev- are prefixes") == []
