"""Syntax errors are counted in another process, which a hostile text can end."""

import pytest

from tests.code.parse.test_worker_pool import KILLER
from triage.code.files.languages import detect_language
from triage.code.parse.syntax_errors import MAX_ERRORS, count_syntax_errors


@pytest.mark.parametrize(
    ("path", "text", "errors"),
    [
        ("a.py", "x = 'é'\n", 0),
        ("a.py", "", 0),
        ("a.py", "x = (\n", 1),
        ("a.py", "def f(:\n    return\n\n\nx = = 1\n", 2),
        ("a.js", "let a = {b: 1}", 0),
        ("a.js", "let a = {b: 1;", 1),
        ("a.tsx", "const a = <p>{b}</p>;", 0),
        ("a.go", "package a\nfunc (", 1),
        ("a.rs", "fn a() {", 1),
        ("a.java", "class A { int b }", 1),
        ("a.sql", "(", None),
    ],
)
def test_errors_and_missing_tokens_are_counted(path: str, text: str, errors: int | None):
    language = detect_language(path)
    assert language is not None
    assert count_syntax_errors(text, language) == errors


def test_a_text_that_ends_the_parser_has_the_most_errors():
    language = detect_language(KILLER.path)
    assert language is not None
    assert count_syntax_errors((KILLER.data or b"").decode(), language) == MAX_ERRORS


def test_the_process_has_none_of_our_secrets(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    code = "import os, sys; sys.stdout.write(str(len([name for name in os.environ if 'KEY' in name])))"
    monkeypatch.setattr("triage.code.parse.syntax_errors._START_CODE", code)
    language = detect_language("a.py")
    assert language is not None
    assert count_syntax_errors("(", language) == 0
