"""Asks GitHub what changed between two versions, where the checkout has no history."""

from triage.base.errors import TriageError
from triage.base.threads import OutOfTime, call_with_deadline
from triage.domain.code import RegressionWindow
from triage.domain.issue import Issue
from triage.domain.report import RunReport
from triage.issue.read_issue import read_issue
from triage.issue.report_facts import find_facts
from triage.issue.versions.regressions import build_window, choose_versions
from triage.jobs.run import Run

SECONDS = 20.0
"""For at most nine requests."""
MAX_PATHS = 5
"""Files of the report, one request each."""


async def add_regression_window(report: RunReport, issue: Issue, run: Run) -> RunReport:
    """Return the report with the commits between the versions that the issue names, if it says that it worked before.

    Agents have no part in it: the paths are those of the indexed commit, and the versions are tags.
    """
    paths = list(dict.fromkeys(suspect.path for suspect in report.suspects))[:MAX_PATHS]
    is_wanted = report.kind == "bug" and not report.security and report.regression_window is None
    if not is_wanted or not paths or not report.commit or report.ended_early:
        return report
    facts = find_facts(read_issue(issue), report.repository)
    if facts.regression is None:
        return report
    head = report.commit

    def find_window() -> RegressionWindow | None:
        versions = choose_versions(facts, run.github.list_tags(), head, lambda _: None)
        if versions is None:
            return None
        worked, broken = versions
        return build_window(worked, broken, run.github.list_changes_between(worked.commit, broken.commit, paths))

    try:
        window = await call_with_deadline(find_window, run.cancelled, min(SECONDS, run.seconds_left() / 2))
    except (TriageError, OutOfTime) as error:  # the report is complete without it
        run.progress.info(f"What changed between the versions could not be read: {error}")
        return report
    return report.model_copy(update={"regression_window": window})
