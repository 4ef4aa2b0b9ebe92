"""Owners of the files of a patch."""

import pytest

from triage.approval.owner_rights import owner_problem
from triage.domain.project_config import ProjectConfig

CONFIG = ProjectConfig(owners={"acme/core": "mona"})


@pytest.mark.parametrize(
    ("owners", "reason"),
    [
        ({}, ""),
        ({"a.py": []}, ""),
        ({"a.py": ["Mona"]}, ""),
        ({"a.py": ["acme/core"]}, ""),
        ({"a.py": ["hubot", "mona"]}, ""),
        ({"a.py": ["hubot"]}, "a.py has other owners"),
        ({"a.py": ["mona"], "b.py": ["hubot"]}, "b.py has other owners"),
        ({"a.py": ["acme/web"]}, "owned by a team"),
        ({"a.py": ["acme/web", "hubot"]}, "owned by a team"),
    ],
)
def test_an_owner_of_every_file_with_owners(owners: dict[str, list[str]], reason: str) -> None:
    problem = owner_problem("mona", owners, CONFIG)
    assert reason in problem
    assert bool(reason) is bool(problem)
