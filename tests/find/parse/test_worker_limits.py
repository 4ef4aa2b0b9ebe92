"""A process limits itself, and works where the system refuses a limit.

Syntax errors are counted in another process, which a hostile text can end."""

import os
import resource
import subprocess
import sys

import pytest

from testing.each_row import each_row
from tests.find.parse.test_worker_pool import KILLER
from triage.find.files.languages import detect_language
from triage.find.parse.worker_pool import MAX_ERRORS, WorkerPool, count_syntax_errors, limit_process

GIB = 1 << 30
CODE = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from triage.find.parse.worker_pool import limit_process
{before}
limit_process(1 << 30)
print(resource.getrlimit(resource.RLIMIT_AS)[1], resource.getrlimit(resource.RLIMIT_CORE)[1])
"""


def limits_after(before: str) -> list[int]:
    """Returns the limits of a new process for memory and core files."""
    command = [sys.executable, "-c", CODE.format(before=before), "."]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


@pytest.mark.skipif(sys.platform != "linux", reason="macOS takes no limit below what is mapped already")
def test_memory_is_limited_and_no_core_file_is_written():
    assert limits_after("") == [GIB, 0]


@pytest.mark.skipif(sys.platform != "linux", reason="macOS takes no limit below what is mapped already")
def test_a_lower_limit_of_the_user_stays():
    lower = GIB // 2
    assert limits_after(f"resource.setrlimit(resource.RLIMIT_AS, ({lower}, {lower}))") == [lower, 0]


@pytest.mark.parametrize("error", [ValueError("current limit exceeds maximum limit"), OSError(22, "Invalid argument")])
def test_a_system_that_refuses_every_limit_is_no_reason_to_stop(monkeypatch: pytest.MonkeyPatch, error: Exception):
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(resource, "setrlimit", refuse)
    limit_process(GIB)


@each_row(
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


def tell_variables(_: object) -> list[str]:
    return [*os.environ]


def test_a_worker_has_none_of_our_variables(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with WorkerPool(workers=1) as pool:
        job = pool.start(tell_variables, None)
        assert job
        assert job.result(60) == ["OPENBLAS_NUM_THREADS"]
