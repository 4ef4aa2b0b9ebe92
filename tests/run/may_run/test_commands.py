"""Which comments are commands."""

from typing import get_args

from testing.each_row import each_row
from triage.domain.task import Subject
from triage.run.may_run.route import Command, CommandName, parse_command

TRIAGE = Command(name=CommandName.TRIAGE)
QUIET = Command(name=CommandName.QUIET)
ALL = list(get_args(Subject))


@each_row(
    ("body", "command"),
    [
        ("/triage", TRIAGE),
        ("/triage\r\nplease", TRIAGE),
        ("\n \n\t\n/triage  \nbecause", TRIAGE),
        ("/triage quiet", QUIET),
        ("/triage wrong", Command(name=CommandName.WRONG, wrong=ALL)),
        ("/triage wrong place", Command(name=CommandName.WRONG, wrong=["place"])),
        ("/triage wrong known: that is another", Command(name=CommandName.WRONG, wrong=["known"])),
        ("/triage wrong placed", Command(name=CommandName.WRONG, wrong=ALL)),
        ("/triage fix", Command(name=CommandName.FIX)),
        ("/triage fix the test", Command(name=CommandName.FIX, words="the test")),
        ("/triage fix\nonly in `a.py`\n", Command(name=CommandName.FIX, words="only in `a.py`")),
        ("/triage apply 0123456789ab", Command(name=CommandName.UNKNOWN, word="apply")),
        ("/triage approve `0123456789ab`", Command(name=CommandName.APPROVE, proposal_id="0123456789ab")),
        (
            "/triage approve 0123456789ab but",
            Command(name=CommandName.APPROVE, proposal_id="0123456789ab", words="but"),
        ),
        (
            "/triage approve 0123456789ab\n\nIf it passes",
            Command(name=CommandName.APPROVE, proposal_id="0123456789ab", words="If it passes"),
        ),
        ("/triage approve 0123456789AB", Command(name=CommandName.APPROVE)),
        ("/triage reject", Command(name=CommandName.REJECT)),
        (
            "/triage reject 0123456789ab too big",
            Command(name=CommandName.REJECT, proposal_id="0123456789ab", words="too big"),
        ),
        (
            "/triage reject 0123456789ab: too big",
            Command(name=CommandName.REJECT, proposal_id="0123456789ab", words="too big"),
        ),
        ("/triage approve 0123456789ab:", Command(name=CommandName.APPROVE)),
        (
            "/triage revise 0123456789ab\nuse a set",
            Command(name=CommandName.REVISE, proposal_id="0123456789ab", words="use a set"),
        ),
        ("/triage quiet please", Command(name=CommandName.UNKNOWN, word="quiet")),
        ("/triage approved 0123456789ab", Command(name=CommandName.UNKNOWN, word="approved")),
        ("/triage <img src=x>", Command(name=CommandName.UNKNOWN)),
        ("/triage QUIET", Command(name=CommandName.UNKNOWN)),
        ("/triage " + "a" * 21, Command(name=CommandName.UNKNOWN)),
    ],
)
def test_a_command(body: str, command: Command) -> None:
    assert parse_command(body) == command


@each_row(
    "body",
    [
        "",
        "Thanks!\n/triage",
        "> /triage",
        "    /triage",
        "\t/triage",
        "```\n/triage\n```",
        "<!-- \n/triage -->",
        "- /triage",
        "/triagequiet",
        "//triage",
        "/Triage",
        "\x0c/triage",
        "\ufeff/triage",
        "/tri\u200bage",
    ],
)
def test_no_command(body: str) -> None:
    assert parse_command(body) is None
