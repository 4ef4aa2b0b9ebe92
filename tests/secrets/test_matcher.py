"""Our own secrets are found in every disguise, and nothing else is."""

import base64
import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.e2e.leaked import KEYS, MODEL, forms, leaks
from triage.secrets.encodings import looks_random
from triage.secrets.matcher import OWN_SECRET_PLACEHOLDER, SecretMatcher

JWT = "ghs_12345_eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiIxMjM0NSJ9.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
SECRETS = SecretMatcher(KEYS)
ROOT = Path(__file__).parents[2]
ALNUM = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
TAIL = st.builds(
    "{}{}".format, st.text(ALNUM, min_size=10, max_size=10), st.text(ALNUM + "-_", min_size=14, max_size=50)
)
KEY = TAIL.filter(looks_random).map("sk-proj-".__add__)
TEXT = st.text(max_size=60) | st.sampled_from(["```\n", "| a | b |", '{"a": "', "ghs_", "\\u00", "%4", "&#1", "é" * 9])


class TestFound:
    @pytest.mark.parametrize("key", KEYS)
    def test_in_every_form(self, key: str) -> None:
        for form in forms(key):
            masked = SECRETS.redact(f"It is {form} there.")
            assert masked.startswith("It is ")
            assert masked.endswith(" there.")
            assert OWN_SECRET_PLACEHOLDER in masked
            assert leaks(masked) == []

    @settings(max_examples=25)  # each makes another key's traces
    @given(KEY, st.data(), TEXT, TEXT)
    def test_any_eight_characters(self, key: str, data: st.DataObject, before: str, after: str) -> None:
        at = data.draw(st.integers(len("sk-proj-"), len(key) - 8))
        assert SecretMatcher([key]).has_match(f"{before}{key[at : at + 8]}{after}")

    @settings(max_examples=25)  # each makes another key's traces
    @given(KEY, st.data(), TEXT, TEXT)
    def test_any_form_of_any_key(self, key: str, data: st.DataObject, before: str, after: str) -> None:
        form = data.draw(st.sampled_from(forms(key)))
        masked = SecretMatcher([key]).redact(f"{before} {form} {after}")
        assert key[8:] not in masked
        assert form not in masked

    @pytest.mark.parametrize(
        "turn",
        [
            lambda text: base64.b64encode(base64.b64encode(text.encode())).decode(),
            lambda text: base64.b64encode(text.encode("utf-16-le")).decode(),
            lambda text: base64.b64encode(text.encode()).hex(),
            lambda text: base64.b32encode(text.encode()).decode(),
            lambda text: base64.b64encode(text.encode())[::-1].decode(),
            lambda text: base64.b64encode(text.upper().encode()).decode(),
            lambda text: "".join(chr(ord(one) + 0xFEE0) for one in text),
            lambda text: ", ".join(str(ord(one)) for one in text),
            lambda text: ", ".join(f"0x{ord(one):x}" for one in text),
            lambda text: " ".join(f"{ord(one):08b}" for one in text),
            lambda text: json.dumps(json.dumps("\u200b".join(text))),
            lambda text: json.dumps(list(text)),
            lambda text: "".join(f"%25{ord(one):02x}" for one in text),
            lambda text: "".join(f"&amp;#x{ord(one):x};" for one in text),
            "**".join,
            lambda text: f"e\u0301{text}e\u0301",
        ],
    )
    def test_packed_once_more_or_drawn_otherwise(self, turn) -> None:
        for key in KEYS:
            assert SECRETS.has_match(f"see {turn(key)}.")

    def test_a_tokens_signature_and_not_its_header(self) -> None:
        secrets = SecretMatcher([JWT])
        assert secrets.has_match("XgL0n3I9")
        assert not secrets.has_match("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9 is the header of every one")
        assert secrets.redact(f"a {JWT} b") == f"a {OWN_SECRET_PLACEHOLDER} b"

    def test_lines_of_a_key_one_by_one(self) -> None:
        secrets = SecretMatcher(["-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----END KEY-----\n"])
        assert secrets.redact("MIIEvQIBADANBgkqhkiG9w0B") == OWN_SECRET_PLACEHOLDER

    @pytest.mark.parametrize("secret", ["correct-horse-battery-staple", "changeme-2024", "Tr0ub4dor&3"])
    def test_words_and_short_ones_as_a_whole(self, secret: str) -> None:
        secrets = SecretMatcher([secret])
        data = secret.encode()
        for form in (secret, secret.upper(), data.hex(), base64.b64encode(b"user:" + data).decode(), secret[::-1]):
            assert OWN_SECRET_PLACEHOLDER in secrets.redact(f"It is {form} there."), form
        assert not secrets.has_match(
            "The correct answer: a horse, a battery, a staple. Change me in 2024, word for word."
        )

    def test_signs_as_they_stand(self) -> None:
        assert (
            SecretMatcher(["p@$$:w!rd%^&"]).redact("It is P@$$:w!rd%^& there")
            == f"It is {OWN_SECRET_PLACEHOLDER} there"
        )

    @pytest.mark.parametrize(
        ("text", "masked"), [("change me now", False), ("changeme", True), ("c-h-a-n-g-e-m-e", True)]
    )
    def test_a_short_one_stands_in_one_piece_or_letter_by_letter(self, text: str, masked: bool) -> None:
        assert SecretMatcher(["changeme"]).has_match(f"please {text} please") is masked


class TestNothingElse:
    def test_normal_text(self) -> None:
        every = SecretMatcher([*KEYS, JWT, "correct-horse-battery-staple", "production-gateway-token"])
        for name in ("README.md", "SECURITY.md", "requirements.txt", "triage/wiring.py", "docs/control.md"):
            text = (ROOT / name).read_text(encoding="utf-8")
            assert every.redact(text) == text, name

    @pytest.mark.parametrize(
        "text", ["sk-proj-", "ghs_", "tvly-dev-", "github_pat_", "eyJhbGciOiJIUzI1NiIs", "required"]
    )
    def test_prefixes_and_words(self, text: str) -> None:
        assert not SecretMatcher([*KEYS, JWT, "sk-no-key-required"]).has_match(
            f"A key begins with {text} or so: {text}..."
        )

    @pytest.mark.parametrize("secret", ["", "1234567", "a b"])
    def test_too_short_to_be_told_from_a_word(self, secret: str) -> None:
        assert not SecretMatcher([secret]).has_match(f"1234567 a b {secret}")

    @given(st.text())
    def test_any_text_stays(self, text: str) -> None:
        assert SECRETS.redact(text) == text


class TestMasked:
    def test_json_stays_json(self) -> None:
        tree = {"a": [MODEL, 1, None, {"b": f"x {MODEL[12:]} y"}], MODEL: list(MODEL)}
        for text in (json.dumps(tree), json.dumps(tree, indent=2, ensure_ascii=False) + "\n"):
            masked = SECRETS.redact(text)
            assert json.loads(masked)["a"] == [OWN_SECRET_PLACEHOLDER, 1, None, {"b": f"x {OWN_SECRET_PLACEHOLDER} y"}]
            assert leaks(masked) == []
            assert masked.endswith("\n") == text.endswith("\n")

    def test_json_whose_numbers_spell_one(self) -> None:
        assert json.loads(SECRETS.redact(json.dumps({"codes": list(MODEL.encode())}))) == OWN_SECRET_PLACEHOLDER

    def test_a_tree_without_any_is_the_same(self) -> None:
        tree = {"a": ["x", 1, 2.5, True, None]}
        assert SECRETS.redact_tree(tree) is tree

    def test_what_is_spread_over_several_texts(self) -> None:
        masked = SECRETS.redact_tree([{"one": MODEL[:14]}, {"one": MODEL[14:22], "two": MODEL[22:]}])
        assert leaks(json.dumps(masked)) == []

    @given(st.lists(TEXT | st.sampled_from(forms(MODEL)), max_size=8))
    def test_once_is_enough(self, texts: list[str]) -> None:
        masked = SECRETS.redact(" ".join(texts))
        assert SECRETS.redact(masked) == masked

    def test_side_by_side_they_are_one(self) -> None:
        assert SECRETS.redact(" ".join(KEYS)) == OWN_SECRET_PLACEHOLDER


@pytest.mark.parametrize(
    "shape", ["word ", "AbC1", "😀", "e\u0301\u0327", "\\n", "%41", "&lt;", "Vb3xT9", "a-", "\u0130", "0f", "\0"]
)
def test_time_is_linear(shape: str) -> None:
    """60,000 characters take some 10 ms; what is allowed here is for a busy machine."""
    text = (shape * 60_000)[:60_000]
    SECRETS.has_match("")
    started = time.process_time()
    SECRETS.has_match(text)
    assert time.process_time() - started < 0.25
