"""How many past issues have an example that can be run, and what running it before the fix and at the fix says."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from triage.backtest.count import ExampleScore, count_rate
from triage.backtest.results import PastCase
from triage.domain.issue import Issue

MAX_RUN = 20
"""Examples. Each takes minutes: two versions are built, and the example is run twice on each."""
ExampleResult = Literal["not run", "no failure", "fails after the fix", "fixed"]


class PastExamples(Protocol):
    """The examples of the project's issues. `reproduce` has them, which this feature may not import."""

    def has_example(self, issue: Issue) -> bool: ...

    def check_can_run(self, *, in_container: bool) -> None:
        """Raise SetupError if nothing can be run."""

    def run(self, issue: Issue, base: str, fix: str, *, in_container: bool) -> ExampleResult:
        """Run the example of an issue on both commits. Takes minutes."""


OPEN_EXAMPLES = "triage.past_examples"
"""In the `meta` of a command's context: a function that takes an `App` and returns `PastExamples`."""


def score_examples(has_example: Iterable[bool], results: Sequence[ExampleResult] = ()) -> ExampleScore:
    counts = Counter(results)
    ran = len(results) - counts["not run"]
    return ExampleScore(
        found=count_rate(has_example),
        tried=len(results),
        ran=ran,
        failed=ran - counts["no failure"],
        fixed=counts["fixed"],
    )


def choose_examples(cases: Sequence[PastCase], has_example: Sequence[bool]) -> list[PastCase]:
    """Return the cases whose example is run, the newest."""
    return [case for case, has in zip(cases, has_example, strict=True) if has][:MAX_RUN]
