"""Settings for all tests."""

from typing import Any

import pytest
from hypothesis import settings

from triage.adapters.github.github_client import GitHubClient

# A busy machine must not fail a test: how cost grows is tested by `testing.cost_growth`.
settings.register_profile("without-deadline", deadline=None)
settings.load_profile("without-deadline")


@pytest.fixture(autouse=True)
def no_wait_between_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub asks for a second between two writes. A server on loopback needs none."""
    create = GitHubClient.__init__

    def create_without_wait(self: GitHubClient, *values: Any, **named: Any) -> None:
        create(self, *values, **named | {"seconds_between_writes": 0.0})

    monkeypatch.setattr(GitHubClient, "__init__", create_without_wait)
