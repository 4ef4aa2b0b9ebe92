"""What a commit says about its proposal is read back exactly, and starts nothing on GitHub."""

import re
import subprocess
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from triage.domain.proposal import Patch, PatchedFile
from triage.fix.commit_text import (
    CommitFacts,
    CommitSummary,
    format_subject,
    make_branch_name,
    parse_proposal,
    read_summary,
    write_messages,
)

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
BASE, TEST, HEAD = "1" * 40, "2" * 40, "3" * 40


def make_patch(**changes: Any) -> Patch:
    known: dict[str, Any] = {
        "repository": "octo/shop",
        "issue": 12,
        "issue_title": "It breaks",
        "issue_text_hash": "a" * 16,
        "base": BASE,
        "summary": "Round half to even",
        "changes": [PatchedFile(path="a.py", text="x\n")],
        "tests": [PatchedFile(path="tests/test_a.py", text="y\n")],
    }
    return Patch(**known | changes)


def commit(sha: str, parent: str, message: str) -> CommitFacts:
    return CommitFacts(sha=sha, parents=[parent], message=message, committed_at=NOW)


def test_two_commits() -> None:
    test_message, message = write_messages(make_patch())
    found = parse_proposal(commit(HEAD, TEST, message), commit(TEST, BASE, test_message))
    assert found is not None
    assert (found.base, found.test_commit, found.commit) == (BASE, TEST, HEAD)
    assert (found.issue, found.issue_text_hash, found.created_at) == (12, "a" * 16, NOW)


def test_one_commit() -> None:
    _, message = write_messages(make_patch(tests=[], revision=2))
    found = parse_proposal(commit(HEAD, BASE, message))
    assert found is not None
    assert (found.base, found.test_commit, found.revision) == (BASE, None, 2)


@pytest.mark.parametrize(
    ("head", "parent"),
    [
        (CommitFacts(sha=HEAD, parents=[TEST, BASE], message="{}", committed_at=NOW), commit(TEST, BASE, "")),
        (CommitFacts(sha=HEAD, parents=[TEST], message="{}", committed_at=NOW), None),
        (CommitFacts(sha=HEAD, parents=[TEST], message="{}", committed_at=NOW), commit(BASE, BASE, "")),
        (
            CommitFacts(sha=HEAD, parents=[TEST], message="{}\nSigned-off-by: x", committed_at=NOW),
            commit(TEST, BASE, ""),
        ),
        (commit(HEAD, TEST, "{}"), commit(TEST, BASE, "")),
        (commit(HEAD, TEST, "{}"), commit(TEST, BASE, "[#12] Add a failing test: Round half to even\n\nFixes 1\n")),
        (CommitFacts(sha=HEAD, parents=[TEST], message="Any text", committed_at=NOW), commit(TEST, BASE, "")),
    ],
)
def test_any_other_commit_is_no_proposal(head: CommitFacts, parent: CommitFacts | None) -> None:
    _, message = write_messages(make_patch())
    head = head.model_copy(update={"message": head.message.replace("{}", message.rstrip())})
    assert parse_proposal(head, parent) is None


@each_row(
    "planted",
    [
        "[#12] feat!: Round\n",
        "[#12] Round\n\nBREAKING CHANGE: x\n",
        "[#12] Round\n\nBreaking change\n",
        "[#12] Round\n\nIt rounds.\nRelease-As: 9.0.0\n",
        "[#12] Round\n\nIt rounds.\n\nMore\n",
        "[#12] Round\n\nFixes #1\n",
        "[#12] Round [skip ci]\n",
        "[#12] Round\r\rskip-checks true\n",
        "[#12] Round it for @mona\n",
        "[#12] fixup! Round\n",
        "[#13] Round\n",
        "\n[#12] Round\n",
        f"[#12] {'x' * 73}\n",
        "",
    ],
)
def test_a_planted_message_is_no_proposal(planted: str) -> None:
    _, message = write_messages(make_patch(tests=[]))
    ours = "[#12] Round half to even\n"
    assert message.startswith(ours)
    assert parse_proposal(commit(HEAD, BASE, message.replace(ours, planted))) is None
    assert parse_proposal(commit(HEAD, BASE, message.replace("\n", "\r\n"))) is not None


FOOTER = re.compile(
    r"^\W*(?:breaking[\s_-]*change|[\w-]+\s*(?:\([^)]*\))?!?\s*(?::|#)|(?:fixup|squash|amend)!)|semver:|skip-checks:",
    re.IGNORECASE | re.MULTILINE,
)
"""What git, Conventional Commits, release tools and GitHub read as a command at the start of a line."""
COMMANDS = [
    "BREAKING CHANGE: drops Python 3",
    "breaking changes",
    "breaking change" + "s" * 72,
    "fixup!! Add it",
    "BREAKING\u200b CHANGE: x",
    "BREAKING\u00a0CHANGE: x",
    "Release-As: 9.0.0",
    "Release-As : 9.0.0",
    "feat(api)!: drop it",
    "fix: it",
    "Co-authored-by: Eve <eve@example.com>",
    "skip-checks: true",
    "+semver: major",
    "Closes #1",
    "Fixes GH-1",
    "Closes octo/shop#1",
    "[skip ci]",
    "***NO_CI***",
    "squash\u200b! Add it",
    "Triage-Issue: 9",
    "std::vector: it",
]


def read_trailers(message: str) -> list[str]:
    """Returns the names of the trailers that git itself finds."""
    command = ["git", "interpret-trailers", "--parse"]
    done = subprocess.run(command, input=message, check=True, capture_output=True, text=True)
    return [line.partition(":")[0] for line in done.stdout.splitlines()]


@each_row("command", COMMANDS)
def test_no_line_of_a_model_is_a_command(command: str) -> None:
    for cause in (
        command,
        f"It rounds.\n\n{command}",
        " ".join(f"{'x' * number} {command}" for number in range(72)),
        "x" * 72 + command,
    ):
        file = PatchedFile(path="a.py", description=cause, text="x\n")
        patch = make_patch(
            summary=command, root_cause=cause, issue=None, changes=[file], revision=1, revision_words=command
        )
        for message in write_messages(patch, is_local=True):
            assert FOOTER.findall(message.replace("Add a failing test:", "")) == []
            assert read_trailers(message) == []
        _, message = write_messages(patch.model_copy(update={"issue": 12}))
        assert [name.partition("-")[0] for name in read_trailers(message)] == ["Triage"] * 4


def test_plain_words_stay() -> None:
    text = "`Cart::total` adds two times: 10:30 and 11:00"
    assert format_subject(text) == "'Cart.total' adds two times - 10 - 30 and 11 - 00"


def test_what_a_message_says_is_read_back() -> None:
    file = PatchedFile(path="a.py", description="Rounds " + "the sum " * 20, text="x\n")
    patch = make_patch(
        root_cause="It rounds " + "up and " * 20,
        changes=[file],
        unverified=["Whether a negative total rounds so, too."],
        revision=1,
        revision_words="Use Decimal.",
    )
    words = read_summary(write_messages(patch)[1])
    assert (words.subject, words.cause) == ("Round half to even", ("It rounds " + "up and " * 20).strip())
    assert words.points == [
        "a.py - " + ("Rounds " + "the sum " * 20).strip(),
        "Revision 1, after a maintainer's words - Use Decimal.",
    ]
    assert words.unverified == ["Whether a negative total rounds so, too."]
    assert read_summary("Merge it\n") == CommitSummary()


def test_a_commit_says_what_was_wrong_what_changes_and_what_it_was_revised_for() -> None:
    what = "The sum of the basket is rounded half to even, as the bank does it; fixes #3 (" + "b" * 40 + ")"
    files = [
        PatchedFile(path=f"{name}.py", description=text, text="x\n") for name, text in {"a": what, "b": ""}.items()
    ]
    patch = make_patch(
        root_cause="It rounds up.", changes=files, revision=2, revision_words="Use Decimal.\n\nFixes: #4"
    )
    test_message, message = write_messages(patch)
    assert message.partition("\n\nTriage-")[0] == (
        "[#12] Round half to even\n\n"
        "It rounds up.\n"
        "- a.py - The sum of the basket is rounded half to even, as the bank does\n"
        "  it; fixes 3 ( )\n"
        "Revision 2, after a maintainer's words - Use Decimal. Fixes - 4"
    )
    assert parse_proposal(commit(HEAD, TEST, message), commit(TEST, BASE, test_message)) is not None


@pytest.mark.parametrize(
    ("number", "title", "name"),
    [
        (12, "Totals are wrong!", "triage/12-totals-are-wrong"),
        (None, "Totals are wrong", "triage/totals-are-wrong"),
        (3, "Über ..  größe @{1}.lock", "triage/3-uber-groe-1-lock"),
        (3, "合計が違う", "triage/3-fix"),
        (None, "", "triage/fix"),
        (1, "a" * 39 + " b", "triage/1-" + "a" * 39),
        (1, "a" * 40 + " b", "triage/1-" + "a" * 40),
        (1, "a" * 41, "triage/1-" + "a" * 40),
        (None, "Set-Cookie header in a response interceptor is", "triage/set-cookie-header-in-a-response"),
    ],
)
def test_names_of_branches(number: int | None, title: str, name: str) -> None:
    assert make_branch_name(number, title) == name


@given(st.none() | st.integers(1, 10**9), st.text())
def test_git_and_shells_take_every_name(number: int | None, title: str) -> None:
    assert re.fullmatch(r"triage/[a-z0-9]+(?:-[a-z0-9]+)*", make_branch_name(number, title))
