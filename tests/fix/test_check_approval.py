"""Everything that is not a clear yes is a no."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from triage.domain.project_config import ProjectConfig
from triage.domain.proposal import PatchProposal
from triage.fix.check_approval import ApprovalFacts, check_owners, check_proposal, is_expired
from triage.run.may_run.admission import WRITE_ROLES
from triage.safety.code_owners import MAX_RULES, CodeOwners

CONFIG = ProjectConfig(owners={"acme/core": "mona"})


@each_row(
    ("rules", "reason"),
    [
        ("", ""),
        ("docs/ @hubot", ""),
        ("* @hubot\na.py\nb.py", ""),
        ("* @Mona", ""),
        ("* @acme/core", ""),
        ("* @hubot @mona", ""),
        ("* ops@example.com @mona", ""),
        ("[ab].py\n* @mona", ""),
        ("* @hubot", "a.py has other owners"),
        ("* @mona\nb.py @hubot", "b.py has other owners"),
        ("* @acme/web", "owned by a team"),
        ("* @acme/web @hubot", "owned by a team"),
        ("* mona@example.com", "owned by an e-mail address, which the token cannot resolve. Write the login"),
        ("* mona", "a.py may have owners by line 1 of CODEOWNERS, which cannot be read"),
        ("* @mona\nb.py @mona hubot", "b.py may have owners by line 2"),
        ("* @mona\n[bc].py @hubot", "a.py may have owners by line 2"),
        ("* @mona\n" * (MAX_RULES + 1), "more than 10,000 rules"),
    ],
)
def test_an_owner_of_every_file_with_owners(rules: str, reason: str) -> None:
    problem = check_owners("mona", ["a.py", "b.py"], CodeOwners(rules), CONFIG)
    assert reason in problem
    assert bool(reason) is bool(problem)


NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
PROPOSAL = PatchProposal(
    repository="octo/shop",
    issue=7,
    issue_text="a" * 16,
    created_at=NOW,
    base="1" * 40,
    commit="2" * 40,
    draft_hash="3" * 64,
)


def make_facts(**changes: Any) -> ApprovalFacts:
    known = {"repository": "octo/shop", "issue": 7, "issue_text": "a" * 16, "role": "write", "now": NOW}
    return ApprovalFacts(**known | changes)


def test_a_clear_yes() -> None:
    assert check_proposal(PROPOSAL, make_facts()) == ""


@each_row(
    ("changes", "reason"),
    [
        ({"repository": "octo/other"}, "another issue"),
        ({"issue": 8}, "another issue"),
        ({"role": "triage"}, "write access"),
        ({"role": "none"}, "write access"),
        ({"issue_text": "b" * 16}, "was edited"),
        ({"now": NOW + timedelta(days=7, seconds=1)}, "older than 7 days"),
        ({"now": NOW - timedelta(minutes=16)}, "still to come"),
        ({"changed_paths": ["a.py"]}, "have changed"),
        ({"owner_problem": "a.py has other owners."}, "other owners"),
    ],
)
def test_each_doubt_is_a_no(changes: dict[str, Any], reason: str) -> None:
    assert reason in check_proposal(PROPOSAL, make_facts(**changes))


def test_seven_days_are_not_too_old() -> None:
    assert not is_expired(PROPOSAL, NOW + timedelta(days=7))


def test_a_clock_that_is_a_little_behind() -> None:
    assert check_proposal(PROPOSAL, make_facts(now=NOW - timedelta(minutes=14))) == ""


@given(st.text(max_size=12))
def test_only_known_roles_may_decide(role: str) -> None:
    assert bool(check_proposal(PROPOSAL, make_facts(role=role))) is (role not in WRITE_ROLES)
