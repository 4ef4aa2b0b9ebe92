"""A backlog from the list to the table, with the command line in this process and a GitHub on loopback."""

import os
import pkgutil
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from click.testing import CliRunner

from testing.servers.github_api import JOB_TOKEN, ApiFault, ApiRequest, GitHubApi, serve_github_api
from triage.cli import load_command

NEWEST = datetime(2026, 11, 20, 9, tzinfo=UTC)
SECONDARY_LIMIT = {"message": "You have exceeded a secondary rate limit."}
FAULTS: Sequence[Mapping[str, Any]] = (
    {"status": 502, "body": b"<html>Bad Gateway</html>"},
    {"status": 500, "body": {"message": "Server Error"}},
    {"status": 0},
    {"status": 403, "body": SECONDARY_LIMIT, "headers": {"retry-after": "0"}},
)
CRASH = """Checkout crashes.

```
Traceback (most recent call last):
  File "shop/basket.py", line {line}, in total
    return sum(prices[name] for name in self.names)
KeyError: 'fruit{number}'
```
"""
BODIES = (
    CRASH,
    "Since version 2.{number} the total of order {number} is wrong, I expected {line}.",
    "It does not work.",
    "Please add a button that exports invoice {number} as CSV.",
)


@dataclass
class Backlog:
    """A GitHub with many issues, a checkout, and the folder of the results."""

    api: GitHubApi
    repo: Path
    folder: Path
    fault_share: float = 0.0
    dice: random.Random = field(default_factory=lambda: random.Random(17))
    faults: Counter[int] = field(default_factory=Counter)
    """How many there were, by status."""

    def add_issues(self, count: int, first: int = 1) -> None:
        """Adds open issues, four of which are created in one second each."""
        for number in range(first, first + count):
            at = f"{NEWEST - timedelta(seconds=(first + count - number) // 4):%Y-%m-%dT%H:%M:%SZ}"
            body = BODIES[number % len(BODIES)].format(number=number, line=number % 7 + 1)
            title = f"Order {number} fails: basket {self.dice.randrange(10**6)}"
            self.api.add_issue(number, title=title, body=body, created_at=at, updated_at=at)

    def break_some(self, asked: ApiRequest) -> ApiFault | None:
        """Returns a fault for a share of the requests."""
        if self.dice.random() >= self.fault_share:
            return None
        chosen = self.dice.choice(FAULTS)
        self.faults[chosen["status"]] += 1
        return ApiFault(on="", **chosen)

    @property
    def environment(self) -> dict[str, str]:
        return {"TRIAGE_GITHUB_TOKEN": JOB_TOKEN, "GITHUB_API_URL": self.api.url, "TRIAGE_ENGINE": "rules"}

    def run(self, *arguments: str, **variables: str) -> str:
        """Runs `backlog` and returns the table; without arguments it goes on with its list."""
        words = [str(self.folder), "--repo", str(self.repo), *arguments]
        result = CliRunner().invoke(load_command("backlog"), words, env=self.environment | variables)
        assert result.exit_code == 0, (result.exit_code, result.output, result.exception)
        return result.stdout


@contextmanager
def simulate_backlog(repo: Path, folder: Path, fault_share: float = 0.0) -> Iterator[Backlog]:
    """Serves GitHub until the block ends. Nothing waits between requests and writes."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "TRIAGE_"))}
    quick = {"backoff_seconds": 0.0, "reread_seconds": 0.0, "seconds_between_writes": 0.0}
    with serve_github_api() as api, patch.dict(os.environ, clean, clear=True), _without_waits(quick):
        backlog = Backlog(api, repo, folder, fault_share)
        api.on_request = backlog.break_some
        yield backlog


@contextmanager
def _without_waits(quick: Mapping[str, float]) -> Iterator[None]:
    name = "triage.outside.github.repository_connection.RepositoryConnection.__post_init__"
    start: Any = pkgutil.resolve_name(name)

    def start_quickly(connection: Any) -> None:
        vars(connection).update(quick)
        start(connection)

    with patch(name, start_quickly):
        yield
