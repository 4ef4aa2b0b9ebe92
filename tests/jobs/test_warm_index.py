"""A push fills the cache: what is indexed, what is said, and that no issue is looked at."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from testing import factories
from testing.fake_proposals import FakeIssueApprovals
from testing.fakes import NOW, FakeCodebase, FakeGitHub, FakeModel, FakeProgressLog, FakeRunner, fake_services
from triage.domain.code import IndexFacts
from triage.domain.effect import Policy
from triage.domain.run import Status, Usage
from triage.jobs.flow_context import FlowContext, FlowResult
from triage.jobs.warm_index import warm_index


@dataclass
class ReportingCodebase(FakeCodebase):
    """A codebase whose index tells what the test wants."""

    facts: IndexFacts = field(default_factory=lambda: IndexFacts(commit="c0ffee", files=3, passages=4, vectors=4))

    def index(self) -> IndexFacts:
        self.on_index()
        return self.facts


@dataclass
class WarmHarness:
    """The flow over fakes, and what it did."""

    codebase: ReportingCodebase = field(default_factory=ReportingCodebase)
    runner: FakeRunner = field(default_factory=FakeRunner)
    progress: FakeProgressLog = field(default_factory=FakeProgressLog)
    github: FakeGitHub = field(default_factory=lambda: FakeGitHub(errors={"fetch_issue": AssertionError("asked")}))
    model: FakeModel | None = None
    seconds_left: Callable[[], float] = lambda: 60.0

    def run(self, cancelled: asyncio.Event | None = None) -> FlowResult:
        context = FlowContext(
            github=self.github,
            approvals=FakeIssueApprovals(),
            runner=self.runner,
            progress=self.progress,
            policy=Policy(),
            repository=factories.repository(labels=[]),
            open_services=lambda: fake_services(codebase=self.codebase, model=self.model),
            now=lambda: NOW,
            seconds_left=self.seconds_left,
            cancelled=cancelled or asyncio.Event(),
        )
        return asyncio.run(warm_index(context))


def facts(**changes: object) -> IndexFacts:
    return IndexFacts.model_validate({"commit": "c0ffee", "files": 1_234, "passages": 4, "vectors": 4, **changes})


def test_the_index_is_made_and_told():
    harness = WarmHarness(ReportingCodebase(facts=facts(seconds=0.84, reused=1_230)))
    assert harness.run().status is Status.COMPLETE
    said = "Indexed 1,234 files in 0.8 s, 1,230 from the cache."
    assert harness.progress.lines == [said]
    assert said in harness.runner.summaries[0]
    assert harness.runner.annotations == []
    assert {name: value for name, value in harness.runner.values.items() if value} == {
        "status": "complete",
        "tokens": "0",
        "cost-usd": "0.000000",
        "seconds": "0.8",
    }


def test_what_vectors_cost_is_told():
    model = FakeModel({}, spent=[Usage(input_tokens=700, calls=1, usd=0.25)])
    harness = WarmHarness(model=model)
    harness.run()
    assert (harness.runner.values["tokens"], harness.runner.values["cost-usd"]) == ("700", "0.250000")


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        ({"cache": "The index cache could not be written (x)."}, "The index cache could not be written (x)."),
        ({"notes": ["The embedding endpoint failed."]}, "The embedding endpoint failed."),
        ({"partial": True}, "Part of the repository was not indexed."),
        ({"commit": None}, "There is no commit here: put actions/checkout before this step."),
    ],
)
def test_what_the_next_triage_will_lack_is_a_warning(changes: dict[str, object], warning: str):
    harness = WarmHarness(ReportingCodebase(facts=facts(**changes)))
    assert harness.run().status is Status.DEGRADED
    assert harness.runner.annotations == [("warning", warning)]
    assert harness.runner.values["status"] == "degraded"
    assert warning.partition(":")[0].partition("(")[0] in harness.runner.summaries[0]


def stuck() -> tuple[Callable[[], None], threading.Event]:
    released = threading.Event()
    return lambda: (released.wait(30), None)[1], released


def test_a_cancelled_run_waits_for_nothing():
    wait, released = stuck()
    cancelled = asyncio.Event()
    cancelled.set()
    harness = WarmHarness(ReportingCodebase(on_index=wait))
    assert harness.run(cancelled).status is Status.DEGRADED
    released.set()
    assert "The index is not ready: the run was cancelled." in harness.runner.summaries[0]


def test_a_run_ends_when_its_time_is_up():
    wait, released = stuck()
    harness = WarmHarness(ReportingCodebase(on_index=wait), seconds_left=lambda: 0.05)
    assert harness.run().status is Status.DEGRADED
    released.set()
    assert harness.runner.annotations == [("warning", "The index is not ready: the run's time was up.")]
