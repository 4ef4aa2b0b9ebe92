"""Puts together what the batches of a backlog have recorded: each issue once."""

from collections.abc import Mapping, Sequence

from triage.backlog.backlog import BacklogPlan, BatchRecord, Caps, LeftOut
from triage.backlog.backlog_page import BacklogResults
from triage.backlog.batch_progress import sum_spent
from triage.domain.report import RunReport

NOT_BEGUN = "Its batch did not get to it. Start the failed jobs again, or list the backlog again."


def collect_results(
    plan: BacklogPlan, records: Mapping[int, Sequence[BatchRecord]], titles: Mapping[int, str]
) -> BacklogResults:
    """Returns the results of all batches, whose records are given by number. `titles` are those of the issues."""
    reports: dict[int, RunReport] = {}
    reasons: dict[int, str] = {}
    for batch, numbers in enumerate(plan.batches, 1):
        wanted = set(numbers)
        for record in records.get(batch, []):
            if record.number not in wanted or record.reserved is not None:
                continue
            if record.report is not None:
                reports[record.number] = record.report
            else:
                reasons[record.number] = record.reason
    missing = [
        LeftOut(number=number, title=titles.get(number, ""), reason=reasons.get(number) or NOT_BEGUN)
        for numbers in plan.batches
        for number in numbers
        if number not in reports
    ]
    spent = [sum_spent(one) for one in records.values()]
    return BacklogResults(
        plan,
        list(reports.values()),
        [*missing, *plan.left_out],
        Caps(usd=sum(caps.usd for caps in spent), tokens=sum(caps.tokens for caps in spent)),
    )
