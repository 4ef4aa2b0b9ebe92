"""How bad it is: only from a sentence that means it."""

import pytest

from triage.domain.issue import Issue
from triage.issue.kind.severity_signs import find_severity, find_severity_signs
from triage.issue.read_issue import read_issue
from triage.issue.versions.regressions import find_regression


def signs_in(title: str, body: str = "") -> list[tuple[str, str, str]]:
    parsed = read_issue(Issue(title=title, body=body))
    signs = find_severity_signs(parsed, find_regression(parsed))
    return [(sign.kind, sign.severity, sign.quote.text) for sign in signs]


@pytest.mark.parametrize(
    ("text", "kind", "severity"),
    [
        ("There is an XSS in the search field", "security", "CRITICAL"),
        ("The log leaks the API keys of every user", "security", "CRITICAL"),
        ("Saving loses all my changes", "data_loss", "CRITICAL"),
        ("The database is corrupted after a restart", "data_loss", "CRITICAL"),
        ("Our production is down", "blocks_everyone", "CRITICAL"),
        ("All users are affected", "blocks_everyone", "CRITICAL"),
        ("The editor crashes on paste", "crash", "HIGH"),
        ("The process aborts", "crash", "HIGH"),
        ("It worked in 2.1 and fails in 2.2", "regression", "HIGH"),
        ("The worker hangs on exit", "hang", "HIGH"),
        ("Import is 10x slower", "performance", "MEDIUM"),
        ("There is a memory leak in the pool", "performance", "MEDIUM"),
        ("There is a typo in the menu", "cosmetic", "LOW"),
        ("Very low priority", "cosmetic", "LOW"),
        ("The documentation is wrong about it", "documentation", "LOW"),
    ],
)
def test_a_sign(text: str, kind: str, severity: str) -> None:
    assert signs_in(text) == [(kind, severity, text)]


@pytest.mark.parametrize(
    "text",
    [
        "Can't start the debugger from the menu",
        "`ds.update` returns the old row",
        "The cache deletes the file when it is full",
        "On exit it deletes all my temporary files",
        "If you delete all of the entries, it works",
        "It does not crash, and it never hangs",
        "It should not crash here",
        "Based on the documentation this should work",
        "An undocumented option returns None",
        "The total is wrong",
        "We fit a linear regression",
        "It fails with a socket hang up",
        "The uptime is stuck at 0",
        "It blocks on low priority tasks",
        "It overwrites all existing files after confirmation",
        "When the app crashes, there should be a button for feedback",
        "Attach the log of the shop if the bot crashes",
        "",
    ],
)
def test_stray_words_are_no_sign(text: str) -> None:
    assert signs_in("Total is off", text) == []


def test_an_exception_alone_does_not_say_how_bad_it_is() -> None:
    body = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nKeyError: 1'
    assert signs_in("Total is off", body) == []


def test_the_end_of_a_process_in_its_output() -> None:
    body = "```\nstarting\nAborted (core dumped)\n```"
    assert signs_in("Total is off", body) == [("crash", "HIGH", "Aborted (core dumped)")]


def test_the_worst_comes_first() -> None:
    parsed = read_issue(Issue(title="Typo in the menu", body="Today it crashes. It deletes all my files."))
    assert [sign.kind for sign in find_severity_signs(parsed, None)] == ["data_loss", "crash", "cosmetic"]
    worst = find_severity(parsed, None)
    assert worst is not None
    assert worst.quote.text == "It deletes all my files."


def test_what_became_slow_is_slow() -> None:
    assert signs_in("shop 4.7.0 much slower than 4.6.0")[0][:2] == ("performance", "MEDIUM")
