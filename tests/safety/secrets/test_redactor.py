"""Our own secrets are found in every form that is looked for, and nothing else is."""

import base64
import html
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing import factories
from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.each_row import each_row
from testing.text.encoded_secrets import COLLECTOR, ENCODINGS, GITHUB, KEYS, MODEL, encode_all, find_secrets
from tests.say.sample_reports import MODEL_STEPS
from triage.domain.issue import Issue
from triage.safety.secrets.redactor import OWN_SECRET_PLACEHOLDER, SecretRedactor

ROOT = Path(__file__).parents[3]
REDACTOR = SecretRedactor(KEYS)
PASSWORD = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=8, max_size=40)
TEXT = st.text(max_size=60) | st.sampled_from(["```\n", "| a | b |", '{"a": "', "ghs_", "\\u00", "%4", "&#1", "é" * 9])


def redact(text: str, *secrets: str) -> str:
    redactor = SecretRedactor(secrets) if secrets else REDACTOR
    result: str = redactor.redactor_for("text")(text)
    return result


class TestForms:
    @pytest.mark.parametrize("key", KEYS)
    def test_each_is_replaced_whole(self, key: str) -> None:
        for form in encode_all(key):
            redacted = redact(f"It is {form} there.")
            assert redacted.startswith("It is ")
            assert redacted.endswith(" there.")
            assert OWN_SECRET_PLACEHOLDER in redacted
            assert len(redacted) < len(f"It is {OWN_SECRET_PLACEHOLDER} there.") + 24  # what base64 encodes around it
            assert find_secrets(redacted) == []

    @given(PASSWORD, TEXT, TEXT)
    def test_of_any_password_in_any_text(self, password: str, before: str, after: str) -> None:
        data = password.encode()
        redactor = SecretRedactor([password])
        for form in (
            password,
            quote(password),
            quote(password, safe=""),
            json.dumps(password)[1:-1],
            json.dumps(json.dumps(password))[3:-3],
            json.dumps(password, ensure_ascii=False)[1:-1].replace("/", "\\/"),
            html.escape(password),
            html.escape(password, quote=False),
            data.hex(),
            data.hex().upper(),
            base64.b64encode(before.encode("utf-8", "replace") + data + after.encode("utf-8", "replace")).decode(),
            base64.urlsafe_b64encode(before.encode("utf-8", "replace") + data).decode(),
        ):
            assert redactor.has_match(f"{before}{form}{after}"), form

    def test_lines_of_a_secret_one_by_one(self) -> None:
        assert redact("MIIEvQIBADANBgkqhkiG9w0B", "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n") == (
            OWN_SECRET_PLACEHOLDER
        )

    def test_of_a_value_longer_than_any_key(self) -> None:
        value = "aB3-" * 32_000  # Linux allows 131,072 characters in a variable
        assert OWN_SECRET_PLACEHOLDER in redact(f"x {value} y", value)


class TestOtherText:
    def test_of_this_project(self) -> None:
        secrets = (*KEYS, "correct-horse-battery-staple", "production-gateway-token")
        for name in ("README.md", "SECURITY.md", "requirements.txt", "triage/app/app.py", "docs/how-it-works.md"):
            text = (ROOT / name).read_text(encoding="utf-8")
            assert redact(text, *secrets) == text, name

    @pytest.mark.parametrize(
        "other", [MODEL[:-1], MODEL[1:], MODEL.upper(), MODEL[::-1], " ".join(MODEL), "sk-proj-", "ghs_"]
    )
    def test_that_is_only_similar(self, other: str) -> None:
        assert redact(f"A key is like {other} or so.") == f"A key is like {other} or so."

    @pytest.mark.parametrize("secret", ["", "1234567", "a b"])
    def test_short_values_are_not_looked_for(self, secret: str) -> None:
        assert not SecretRedactor([secret]).has_match(f"1234567 a b {secret}")

    @given(st.text(st.characters()))
    def test_any_text_stays(self, text: str) -> None:
        assert redact(text) == text
        assert not SecretRedactor([]).has_match(text)


class TestTrees:
    def test_keys_and_values_at_any_depth(self) -> None:
        tree = {"a": [MODEL, 1, None, {"b": f"x {MODEL} y"}], MODEL: (GITHUB, 2.5)}
        assert REDACTOR.redactor_for("text")(tree) == {
            "a": [OWN_SECRET_PLACEHOLDER, 1, None, {"b": f"x {OWN_SECRET_PLACEHOLDER} y"}],
            OWN_SECRET_PLACEHOLDER: (OWN_SECRET_PLACEHOLDER, 2.5),
        }

    def test_json_stays_json(self) -> None:
        password = 'p"a\\ss/wörd'
        for ascii_only in (True, False):
            redacted = redact(json.dumps({"a": f"x {password} y"}, ensure_ascii=ascii_only), password)
            assert json.loads(redacted) == {"a": f"x {OWN_SECRET_PLACEHOLDER} y"}

    @given(st.lists(TEXT | st.sampled_from(encode_all(MODEL)), max_size=8))
    def test_once_is_enough(self, texts: list[str]) -> None:
        redacted = redact(" ".join(texts))
        assert redact(redacted) == redacted

    def test_a_model_keeps_its_type(self) -> None:
        step = MODEL_STEPS[1].model_copy(update={"error": f"x {GITHUB}"})
        redacted = REDACTOR.redact_value("telemetry", step)
        assert (type(redacted), redacted.error) == (type(step), f"x {OWN_SECRET_PLACEHOLDER}")
        assert redacted.started_at == step.started_at
        issue = factories.issue()
        assert REDACTOR.redact_value("issue", issue) is issue
        assert isinstance(issue, Issue)


def test_the_warning_names_each_location_once_and_no_secret() -> None:
    redactor = SecretRedactor(KEYS)
    assert redactor.warning == ""
    redactor.redactor_for("log")(f"x {GITHUB}")
    redactor.redactor_for("log")(f"y {COLLECTOR}")
    redactor.redactor_for("model's prompt")({"content": [MODEL]})
    redactor.redactor_for("outputs")("nothing")
    assert "(log, model's prompt)" in redactor.warning
    assert find_secrets(redactor.warning) == []


@each_row("shape", ["word ", "AbC1", "\\", "\\u0", "%41", "&#0", "&lt;", MODEL[:-1], "0f", "\0", "😀"])
def test_time_is_linear(shape: str) -> None:
    assert_grows_linearly(repeat_to(shape), REDACTOR.has_match)


PROSE = "The basket raises a KeyError when a name has no price; see shop/basket.py, line 6. " * 40


@each_row("encoding", ENCODINGS)
@each_row("key", KEYS)
def test_every_encoding_is_decoded(key: str, encoding: str) -> None:
    assert find_secrets(f"{PROSE}\n{ENCODINGS[encoding](key)} {PROSE}") == [key]
