"""The weeks of a scorecard: one row each, by the week in which the issues were closed.

Rows are numbers only, so that they can be stored in a comment or a file that somebody else can write.
"""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError, field_validator

from triage.backtest.count import count_issues
from triage.backtest.results import IssueResult
from triage.base.private_folder import make_private_folder, read_private_file, write_private_file
from triage.domain.value import Value

MAX_WEEKS = 104
MARKER = "<!-- bug-triage-scorecard "
_OPEN, _CLOSE = f"{MARKER}v1 ", " -->"
_MAX_CHARS = 40_000
MAX_FILE_BYTES = 100_000
Count = Annotated[int, Field(ge=0, le=1_000_000)]


class Week(Value):
    monday: date
    triaged: Count
    named: Count
    """Closed by a fix that edits code, and our comment had named a place."""
    first: Count
    any: Count
    asked: Count
    answered: Count
    labels: Count
    labels_on_issue: Count
    hidden: Count
    thumbs_up: Count
    thumbs_down: Count

    @field_validator("monday")
    @classmethod
    def _check_monday(cls, day: date) -> date:
        if day.weekday() or not 1970 < day.year < 5000:
            raise ValueError("not a Monday")
        return day


_WEEKS = TypeAdapter(list[Week])
_NAMES = list(Week.model_fields)


def find_monday(at: datetime) -> date:
    day = at.astimezone(UTC).date()
    return day - timedelta(days=day.weekday())


def count_weeks(results: Sequence[IssueResult]) -> list[Week]:
    """Return the weeks in which issues with a comment of ours were closed, oldest first. A week begins on Monday."""
    mondays = sorted({find_monday(one.closed_at) for one in results})
    return [_count_week(day, [one for one in results if find_monday(one.closed_at) == day]) for day in mondays]


def _count_week(monday: date, results: Sequence[IssueResult]) -> Week:
    card = count_issues(results)
    return Week(
        monday=monday,
        triaged=card.triaged,
        named=card.first.cases,
        first=card.first.hits,
        any=card.any.hits,
        asked=card.answered.cases,
        answered=card.answered.hits,
        labels=card.labels.cases,
        labels_on_issue=card.labels.hits,
        hidden=card.hidden.hits,
        thumbs_up=card.thumbs_up.hits,
        thumbs_down=card.thumbs_down.hits,
    )


def merge_weeks(stored: Sequence[Week], counted: Sequence[Week], since: datetime) -> list[Week]:
    """Return the weeks that were stored, with those counted anew since then, at most `MAX_WEEKS`.

    A week that began before `since` was counted in part: it is taken only if it is not stored. A week that was counted
    whole replaces the stored one, also if it has no issue any more: one was reopened or deleted.
    """
    first_whole = find_monday(since + timedelta(days=7) - timedelta(microseconds=1))
    weeks = {week.monday: week for week in counted if week.monday < first_whole}
    weeks |= {week.monday: week for week in stored if week.monday < first_whole}
    weeks |= {week.monday: week for week in counted if week.monday >= first_whole}
    return [weeks[monday] for monday in sorted(weeks)][-MAX_WEEKS:]


def dump_weeks(weeks: Iterable[Week]) -> str:
    """Return JSON: one list of numbers for each week."""
    rows = [list(week.model_dump(mode="json").values()) for week in weeks]
    return json.dumps(rows, separators=(",", ":"))


def load_weeks(text: str) -> list[Week]:
    """Return the weeks of `dump_weeks`, oldest first; none if the text is anything else."""
    try:
        rows = json.loads(text) if len(text) <= _MAX_CHARS else []
        weeks = _WEEKS.validate_python([dict(zip(_NAMES, row, strict=True)) for row in rows])
    except (ValueError, TypeError, RecursionError, ValidationError):
        return []
    return [week for _, week in sorted({week.monday: week for week in weeks}.items())][-MAX_WEEKS:]


def render_marker(weeks: Iterable[Week]) -> str:
    """Return the hidden first line of the comment with the trend."""
    return f"{_OPEN}{dump_weeks(weeks)}{_CLOSE}"


def parse_marker(body: str) -> list[Week]:
    """Return the weeks in the first line of a comment; none if there are none."""
    line = body.partition("\n")[0].removesuffix("\r")
    is_whole = line.startswith(_OPEN) and line.endswith(_CLOSE)
    return load_weeks(line.removeprefix(_OPEN).removesuffix(_CLOSE)) if is_whole else []


def read_week_file(folder: Path | None, repository: str) -> list[Week]:
    """Return the weeks that the last job for a repository left in its cache; none without a folder."""
    try:
        data = read_private_file(_find_file(folder, repository), MAX_FILE_BYTES) if folder else None
    except OSError:
        return []
    return load_weeks((data or b"").decode("utf-8", "replace"))


def write_week_file(folder: Path | None, repository: str, weeks: Iterable[Week], now: datetime) -> None:
    """Leave the weeks for the next job. Without a folder, or if it cannot be written, nothing is stored."""
    if folder:
        with suppress(OSError):  # the next job counts what GitHub still shows
            make_private_folder(folder)
            write_private_file(_find_file(folder, repository), dump_weeks(weeks).encode(), now.timestamp())


def _find_file(folder: Path, repository: str) -> Path:
    key = blake2b(repository.casefold().encode(), digest_size=16).hexdigest()
    return folder / f"weeks-{key}.json"
