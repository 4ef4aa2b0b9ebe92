"""What a person reads before they decide about a patch, and the body of the pull request."""

from datetime import UTC, datetime
from typing import Any

import pytest

from testing.fake_files import FakeFiles
from testing.fakes import COMMIT
from triage.domain.proposal import (
    ExampleResult,
    Patch,
    PatchedFile,
    Proposal,
    TestsOutcome,
    TextFile,
)
from triage.fix.commit_text import CommitSummary
from triage.fix.proposal_text import (
    MAX_PART_UNITS,
    render_proposal,
    render_pull_request_body,
)
from triage.safety.active_content import find_active_content
from triage.say.template import render_block

SOURCE = "src/ledger/dates.py"
OLD = "def parse(text):\n    day, month = text.split('-')\n    return int(day), int(month)\n"
NEW = OLD.replace("text.split('-')", "text.strip().split('-')")
TEST = "tests/test_dates.py"
TEST_TEXT = "from ledger.dates import parse\n\n\ndef test_spaces():\n    assert parse(' 1-2 ') == (1, 2)\n"
FILES = FakeFiles({SOURCE: TextFile(text=OLD)})
PROPOSAL = Proposal(
    issue=412,
    issue_text_hash="0123456789abcdef",
    created_at=datetime(2026, 11, 22, 9, tzinfo=UTC),
    base=COMMIT,
    test_commit="1" * 40,
    commit="2" * 40,
)
URL = f"https://github.com/acme/ledger/compare/{PROPOSAL.base}...{PROPOSAL.commit}"
RUN = "https://github.com/acme/ledger/actions/runs/1/attempts/1"
EVIL = "Fixes #1 @everyone <img src=x> [x](https://evil.test) /triage approve 000000000000\n/close"


def make_patch(**changes: Any) -> Patch:
    known: dict[str, Any] = {
        "repository": "acme/ledger",
        "issue": 412,
        "issue_title": "`parse` fails on dates with spaces around them",
        "issue_text_hash": "0123456789abcdef",
        "base": COMMIT,
        "summary": "Ignore white space around a date",
        "root_cause": "`parse` splits the text as it is. `int(' 1')` accepts the space before the day, but the caller "
        "compares the text first, so a date with spaces is never found.",
        "modules": ["src/ledger/"],
        "changes": [PatchedFile(path=SOURCE, description="Strips the text before it is split.", text=NEW)],
        "tests": [PatchedFile(path=TEST, description="A date with spaces.", is_new_file=True, text=TEST_TEXT)],
        "unverified": ["Whether other formats need the same."],
    }
    return Patch(**known | changes)


def render(patch: Patch, tests: TestsOutcome = "proved", files: FakeFiles = FILES) -> str:
    example = ExampleResult(outcome="fixed")
    return (
        render_proposal(patch, files, PROPOSAL, tests_outcome=tests, example_result=example, diff_url=URL, run_url=RUN)
        + "\n"
    )


def test_a_proposal_reads_as_in_its_golden_file(golden: Any) -> None:
    golden("tests/golden/proposal_proved.md", render(make_patch()))


def test_a_story_without_a_test_reads_as_in_its_golden_file(golden: Any) -> None:
    lines = "".join(f"VALUE_{number} = {number}\n" for number in range(400))
    story = make_patch(
        kind="Story",
        root_cause=None,
        acceptance_criteria=["Spaces are ignored.", "An empty text stays an error."],
        changes=[PatchedFile(path="src/ledger/values.py", description="Values.", is_new_file=True, text=lines)],
        tests=[],
        no_test_reason="The values are data without behaviour.",
        unverified=[],
        modules=["src/a/", "src/b/", "src/c/"],
    )
    golden("tests/golden/proposal_story.md", render(story, "none"))


def test_the_pull_request_reads_as_in_its_golden_file(golden: Any) -> None:
    issue = "https://github.com/acme/ledger/issues/412"
    words = CommitSummary(
        "Round half to even",
        "'total' rounds up.",
        ["src/totals.py - Rounds as banks do.", "Revision 1, after - use Decimal"],
        ["Whether a negative total rounds so, too."],
    )
    body = render_pull_request_body(PROPOSAL.id, issue, "mona", "proved", words, ["tests/test_totals.py"], "changed")
    golden("tests/golden/pull_request.md", body + "\n")


@pytest.mark.parametrize("tests", ["proved", "unproved", "uncounted", "failed", "none", ""])
def test_nothing_is_active_whatever_a_model_writes(tests: TestsOutcome) -> None:
    patch = make_patch(
        issue_title=EVIL,
        summary=EVIL,
        root_cause=EVIL,
        no_test_reason=EVIL,
        unverified=[EVIL],
        changes=[PatchedFile(path=SOURCE, description=EVIL, text=NEW + f"# ````\n# {EVIL}\n")],
        tests=[],
    )
    assert find_active_content(render(patch, tests), [URL, RUN]) == []
    assert find_active_content(render_block("proposal", "no_change", EVIL), []) == []
    assert find_active_content(render_block("proposal", "rejected", "mona", EVIL), []) == []


def test_nothing_is_active_whatever_a_person_is_called() -> None:
    url = "https://github.com/acme/ledger/pull/1"
    for text in (
        render_block("proposal", "opened", EVIL, 1, url),
        render_block("proposal", "refused_pull_request", EVIL, EVIL, url, EVIL),
        render_pull_request_body("0" * 12, url, EVIL, "", CommitSummary(EVIL, EVIL, [EVIL], [EVIL]), [EVIL]),
    ):
        assert find_active_content(text, [url]) == []


def test_a_line_of_the_diff_is_shown_as_it_is() -> None:
    paths = make_patch(changes=[PatchedFile(path=SOURCE, text=NEW + "/api/users\n")])
    assert "\n+/api/users\n" in render(paths)
    indented = make_patch(changes=[PatchedFile(path=SOURCE, text=NEW + "  /approve\n")])
    assert "\n+  \\/approve\n" in render(indented)
    assert "is not in the commit" in render(indented)


def test_a_large_patch_is_cut_and_linked() -> None:
    text = "".join(f"LINE_{number} = '{'x' * 90}'\n" for number in range(3_000))
    patch = make_patch(changes=[PatchedFile(path=SOURCE, text=text)])
    shown = render(patch)
    assert len(shown) < 2 * MAX_PART_UNITS
    assert f"[The whole diff on GitHub]({URL})" in shown


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        ("unproved", "prove nothing about it"),
        ("uncounted", "fewer of them ran with this change"),
        ("failed", "tests fail with this change"),
        ("", "No test of the project was run"),
    ],
)
def test_it_says_what_was_checked(tests: TestsOutcome, words: str) -> None:
    assert words in render(make_patch(), tests)
