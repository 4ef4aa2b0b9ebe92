"""Opens the clients of a scorecard. It imports them where it opens them, as `app.wiring` does."""

from dataclasses import dataclass
from datetime import datetime

from triage.app import wiring
from triage.app.wiring import RunSetup
from triage.backtest.scorecard.make_scorecard import ScorecardJob
from triage.backtest.scorecard.scorecard_ports import ScorecardIssues
from triage.backtest.scorecard.since import parse_since
from triage.domain.issue import Repository
from triage.domain.past_issues import ClosedIssues
from triage.safety.secrets.redactor import SecretRedactor


def open_scorecard(setup: RunSetup, since: str, issue_number: int | None) -> ScorecardJob:
    """Returns what makes the scorecard of the setup's repository. Raises BadInput for a bad time or repository."""
    from triage.backtest.scorecard.scorecard_issues import GitHubScorecardIssues
    from triage.backtest.scorecard.trend_file import CachedTrend
    from triage.code.files.file_roles import classify_file

    token, environment = setup.settings.github_token.get_secret_value(), setup.environment
    start = parse_since(since, wiring.utc_now())
    # GraphQL's questions are POST requests, before which PyGithub would wait as before writes.
    issues = GitHubScorecardIssues(
        token, setup.repository, environment.api_url, seconds_between_writes=0.0, network=environment.network
    )
    folder = wiring.find_cache_folder(setup)
    return ScorecardJob(
        issues=_RedactingIssues(issues, setup.redactor),
        file=CachedTrend(folder / "scorecard" if folder else None, setup.repository, wiring.utc_now),
        is_product_code=lambda path: classify_file(path).is_product_code,
        repository=Repository(slug=setup.repository, server_url=environment.server_url),
        since=start,
        issue_number=issue_number,
        dry_run=setup.settings.dry_run,
    )


@dataclass(frozen=True)
class _RedactingIssues:
    issues: ScorecardIssues
    redactor: SecretRedactor

    def read_closed_issues(self, since: datetime) -> ClosedIssues:
        return self.redactor.redact_model("issue", self.issues.read_closed_issues(since))

    def read_trend(self, number: int) -> str:
        return self.issues.read_trend(number)

    def write_trend(self, number: int, body: str) -> None:
        self.issues.write_trend(number, self.redactor.redactor_for("comment")(body))
