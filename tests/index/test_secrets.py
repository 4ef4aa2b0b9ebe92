import time

import pytest

from triage.index.secrets import masked

A36 = "abcdefghijklmnopqrstuvwxyz0123456789"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n{line}\n{line}\n-----END RSA PRIVATE KEY-----\nx = 1\n"


@pytest.mark.parametrize(
    "token",
    [
        f"ghp_{A36}",
        f"github_pat_{A36}{A36}",
        f"glpat-{A36}",
        "AKIAIOSFODNN7EXAMPLE",
        f"sk-{A36}",
        f"sk-proj-{A36}",
        f"sk_live_{A36}",
        f"xoxb-{A36}",
        f"AIza{A36[:35]}",
        f"tvly-{A36}",
        f"npm_{A36}",
        f"pypi-{A36}{A36}",
    ],
)
def test_tokens_are_masked(token: str):
    assert masked(f'KEY = "{token}"  # ours\n') == 'KEY = "[masked secret]"  # ours\n'


def test_private_keys_are_masked_and_lines_keep_their_numbers():
    text = KEY.format(line="A" * 64)
    assert "AAAA" not in masked(text)
    assert masked(text).count("\n") == text.count("\n")
    assert masked(text).endswith("x = 1\n")


@pytest.mark.parametrize(
    "text",
    [
        "sk-no-key-required",
        "task-list-of-things",
        "ghp_short",
        'if "-----BEGIN PRIVATE KEY-----" in text:\n    return parse(text)\n',
        "sha = 'da39a3ee5e6b4b0d3255bfef95601890afd80709'\n",
    ],
)
def test_what_is_no_secret_stays(text: str):
    assert masked(text) == text


@pytest.mark.parametrize(
    "text", ["sk-" * 20_000, "ghp_" * 16_000, "-----BEGIN PRIVATE KEY-----\n" * 2_000, "xoxb-" * 13_000]
)
def test_hostile_text_takes_linear_time(text: str):
    started = time.perf_counter()
    masked(text)
    assert time.perf_counter() - started < 0.25
