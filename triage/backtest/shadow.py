"""A shadow week: what comments would have said, from the reports of runs that wrote nothing to any issue."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from triage.backtest.closed_issues import read_prediction
from triage.base.errors import BadInput
from triage.comment.hidden_state import next_state
from triage.domain.past_issues import OurComment
from triage.domain.report import RunReport


def read_reports(folder: Path, repository: str) -> dict[int, RunReport]:
    """Return the newest report of each issue of a repository, from all files `report.json` below a folder.

    Raises:
        BadInput: There is none, or one cannot be read.
    """
    newest: dict[int, RunReport] = {}
    paths = sorted(folder.rglob("report.json"))
    for path in paths:
        report = _read_report(path)
        number = report.issue.number
        if number is None or report.repository.casefold() != repository.casefold():
            continue
        if number not in newest or newest[number].started_at < report.started_at:
            newest[number] = report
    if not newest:
        raise BadInput(f"No report of {repository} is below {folder}: {len(paths)} files report.json were read.")
    return dict(sorted(newest.items()))


def _read_report(path: Path) -> RunReport:
    try:
        return RunReport.model_validate_json(path.read_bytes())
    except (OSError, ValueError, ValidationError):
        raise BadInput(f"{path} is not a report of this version. Leave it out.") from None


def make_comments(reports: Mapping[int, RunReport]) -> dict[int, OurComment]:
    """Return the comments that would have been, by issue; none for a run that had nothing to say."""
    return {number: _make_comment(report) for number, report in reports.items() if report.comment_reason}


def _make_comment(report: RunReport) -> OurComment:
    had = {label.casefold() for label in report.issue.labels}
    state = next_state(report, None).with_labels([one for one in report.ticket.labels if one.casefold() not in had])
    return OurComment(
        posted_at=report.started_at,
        is_ours_alone=True,
        prediction=read_prediction(state),
        asked=bool(state.asked),
        labels=state.labels,
    )
