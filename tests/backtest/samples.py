"""Results of backtests."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from triage.backtest.backtest_page import BacktestOutcome, count_figures
from triage.backtest.judge import CaseResult, PastCase, PlaceResult, RankedFile, judge_place
from triage.domain.past_issues import PastFix, PastIssue, PredictedBy
from triage.domain.run import Status

AT = datetime(2026, 5, 4, tzinfo=UTC)


def case(number: int = 7, **changes: Any) -> PastCase:
    fields: dict[str, Any] = {
        "name": f"#{number}",
        "number": number,
        "title": f"Crash number {number}",
        "opened_at": AT,
        "base": "b" * 40,
        "fix": "f" * 40,
        "edited": ["shop/cart.py"],
        "url": f"https://github.com/acme/shop/issues/{number}",
    }
    return PastCase(**fields | changes)


def result(number: int = 7, rank: int | None = 1, **changes: Any) -> CaseResult:
    """A result whose edited file has a rank among three; None for a miss."""
    files = [RankedFile(path=f"shop/other{place}.py", edited=False) for place in (1, 2, 3)]
    if rank:
        files[rank - 1] = RankedFile(path="shop/cart.py", edited=True)
    fields: dict[str, Any] = {
        "case": case(number),
        "kind": "bug",
        "status": Status.COMPLETE,
        "files": files,
        "seconds": 1.5,
    }
    return CaseResult(**fields | changes)


def place(*, edited: bool = True, by: PredictedBy = "name") -> PlaceResult:
    return judge_place(["shop/cart.py" if edited else "shop/other1.py"], by, ["shop/cart.py"])


def outcome(results: Sequence[CaseResult], **changes: Any) -> BacktestOutcome:
    fields: dict[str, Any] = {
        "repository": "acme/shop",
        "triage_version": "1.0.0",
        "at": AT,
        "wanted": len(results),
        "chosen": len(results),
        "left_out": {},
        "results": list(results),
        "by_issues": True,
    } | changes
    figures = count_figures(results, by_issues=fields["by_issues"])
    return BacktestOutcome(figures=figures, **fields)


def fixed_issue(number: int, *fixes: PastFix, **changes: Any) -> PastIssue:
    fields: dict[str, Any] = {
        "number": number,
        "title": f"Crash number {number}",
        "created_at": AT,
        "closed_at": AT.replace(month=6),
        "state": "closed",
        "fixes": list(fixes),
    }
    return PastIssue(**fields | changes)
