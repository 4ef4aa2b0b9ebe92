"""What a report says about itself, each with its place in the text."""

from typing import Literal

from pydantic import Field

from triage.domain.findings import Severity
from triage.domain.value import Value

SignKind = Literal[
    "security",
    "data_loss",
    "blocks_everyone",
    "crash",
    "hang",
    "regression",
    "performance",
    "cosmetic",
    "documentation",
]


class Quote(Value):
    """Words of the report. The place counts characters of `Reading.text`; the end is exclusive."""

    text: str
    start: int
    end: int


class Regression(Value):
    """Something that worked before. A version is empty where the report does not name it."""

    worked_in: str = ""
    broken_in: str = ""
    quote: Quote


class SeveritySign(Value):
    """A sentence that says how bad the bug is."""

    kind: SignKind
    severity: Severity
    quote: Quote


class ReportFacts(Value):
    version: Quote | None = None
    """Of the project: a release, a commit, or a moving state such as `current master`."""
    environment: list[Quote] = Field(default_factory=list)
    error: Quote | None = None
    """The message as the program wrote it, whole."""
    reproduction: Quote | None = None
    expectation: Quote | None = None
    regression: Regression | None = None
    severity: SeveritySign | None = None
    """None where no sentence says how bad it is."""
    symptom: Quote | None = None
    """An exception with its message that the title does not have; it can be quoted as it stands."""
