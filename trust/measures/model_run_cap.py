"""Hundreds of issues opened in ten minutes, or one edited as often: how many ask a model."""

import contextlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from testing.runs import external_services, sample_bug
from testing.runs.job import MOUNTS, Job
from testing.servers.github_api import START, GitHubApi
from testing.servers.github_api import serve_github_api as github_serving
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply
from testing.servers.scripted_server import serve_script as endpoint_serving
from triage.action import main
from trust.measure import Measure, MeasureResult

ISSUES = 200
MINUTES = 10
CAP = 50
FEWEST = 2
BOT = "github-actions[bot]"
TOKEN = "ghs_" + "f1" * 18
MODEL_KEY = "sk-" + "f2" * 20


@dataclass
class IssueBurst:
    job: Job
    api: GitHubApi
    seconds_between: int
    model_requests: int = 0
    """Requests to the model for the current event."""
    by_model: list[int] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def open_issue(self, number: int) -> None:
        self._pass_time()
        self.api.add_issue(number, title=f"{sample_bug.TITLE}, {number}", body=sample_bug.BODY)
        self._triage({"action": "opened"}, number, number)

    def edit_issue(self, time: int) -> None:
        self._pass_time()
        self.api.issues[1]["body"] = f"{sample_bug.BODY}\nThis happens {time} times a day."
        self.api.issues[1]["updated_at"] = self.api.timestamp
        self._triage({"action": "edited", "changes": {"body": {"from": "before"}}}, 1, time)

    def _pass_time(self) -> None:
        self.api.seconds += self.seconds_between
        self.api.date_header = START + timedelta(seconds=self.api.seconds)

    def _triage(self, event: dict[str, Any], number: int, counted: int) -> None:
        payload = event | {"issue": self.api.issues[number], "sender": {"login": "mona", "type": "User", "id": 7}}
        (self.job.folder / "temp" / "event.json").write_text(json.dumps(payload), encoding="utf-8")
        self.model_requests = 0
        log = io.StringIO()
        with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
            code = main(self.job.environment({name: str(self.job.folder / name) for name in MOUNTS}))
        comments = sum(comment["issue"] == number for comment in self.api.comments)
        if code or "Traceback" in log.getvalue() or comments != 1:
            self.problems.append(f"event {counted}: exit code {code}, {comments} comments")
        if self.model_requests:
            self.by_model.append(counted)


def _set_clock(api: GitHubApi) -> None:
    """The newest issues and runs are those of the last day by this machine's clock."""
    api.seconds = int((datetime.now(UTC) - START).total_seconds())
    api.date_header = START + timedelta(seconds=api.seconds)


@contextlib.contextmanager
def serve_burst(cap: int, events: int) -> Iterator[IssueBurst]:
    """Yields a repository with a cap of model runs, for this number of events in ten minutes."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        api = stack.enter_context(github_serving())
        api.logins[TOKEN] = BOT

        def reply(request: ReceivedRequest) -> ScriptedReply:
            burst.model_requests += 1
            return external_services.default_reply(request)[1]

        endpoint = stack.enter_context(endpoint_serving(reply))
        job = Job(folder / "job", api)
        job.inputs = {
            "engine": "auto",
            "comment": "always",
            "github-token": TOKEN,
            "model-api-key": MODEL_KEY,
            "model-base-url": f"{endpoint.url}/v1",
            "max-model-runs-per-day": str(cap),
        }
        sample_bug.commit_plain_checkout(job.workspace)
        _set_clock(api)
        burst = IssueBurst(job, api, max(1, MINUTES * 60 // events))
        yield burst


def run(share: float) -> MeasureResult:
    events = max(FEWEST, round(ISSUES * share))
    cap = max(1, CAP * events // ISSUES)
    with serve_burst(cap, events) as burst:
        for number in range(1, events + 1):
            burst.open_issue(number)
    with serve_burst(cap, events) as edits:
        edits.open_issue(1)
        for time in range(2, events + 1):
            edits.edit_issue(time)
    failures = [
        *burst.problems,
        *edits.problems,
        *_find_excess(burst, cap, "issues"),
        *_find_excess(edits, cap, "edits"),
    ]
    measured = f"{len(burst.by_model)} issues, {len(edits.by_model)} edits of {events} by a model, cap {cap}"
    return MeasureResult(2 * events, failures, measured)


def _find_excess(burst: IssueBurst, cap: int, what: str) -> list[str]:
    asked = len(burst.by_model)
    if not asked:
        return [f"no model run for any of the {what}: the cap was not tried"]
    return [f"{asked} {what} by a model, the cap is {cap}"] if asked > cap else []


def run_without_defence() -> MeasureResult:
    """A cap that is never reached, checked against a smaller one."""
    with serve_burst(10_000, FEWEST) as burst:
        for number in range(1, FEWEST + 1):
            burst.open_issue(number)
    return MeasureResult(FEWEST, _find_excess(burst, 1, "issues"))


MEASURE = Measure(
    "Runs by a model in a flood",
    "within the cap",
    f"{ISSUES} issues in {MINUTES} minutes with `max-model-runs-per-day: {CAP}`, and one edited as often: more runs, "
    "or an issue without its comment.",
    run,
    run_without_defence,
)
