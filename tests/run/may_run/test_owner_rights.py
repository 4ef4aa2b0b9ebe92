"""Owners of the files of a patch."""

from testing.each_row import each_row
from triage.domain.project_config import ProjectConfig
from triage.run.may_run.owner_rights import owner_problem
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
    problem = owner_problem("mona", ["a.py", "b.py"], CodeOwners(rules), CONFIG)
    assert reason in problem
    assert bool(reason) is bool(problem)
