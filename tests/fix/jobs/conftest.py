from pathlib import Path

import pytest

from testing.servers.git_data_api import GitDataApi
from testing.servers.pull_requests_api import PullRequestsApi
from tests.fix.fix_harness import FixHarness
from tests.outside.github.conftest import api, git, open_store, pulls, store
from triage.fix.proposal_store import GitHubProposalStore

__all__ = ["api", "git", "open_store", "pulls", "store"]


@pytest.fixture
def harness(git: GitDataApi, pulls: PullRequestsApi, store: GitHubProposalStore, tmp_path: Path) -> FixHarness:
    return FixHarness(git=git, pulls=pulls, store=store, workspace=tmp_path)
