"""A job in this process, with a GitHub, a model and a search whose replies can be replaced."""

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from testing.runs import external_services, sample_bug
from testing.runs.action_run import JobResult, read_result, run_here
from testing.runs.job import MOUNTS, Job
from testing.servers.github_api import GitHubApi, serve_issue
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply
from testing.servers.scripted_server import serve_script as endpoint_serving

ReplyOverride = Callable[[ReceivedRequest], ScriptedReply | None]
"""Returns another reply, or None for the default."""


def no_override(request: ReceivedRequest) -> ScriptedReply | None:
    """Replaces nothing."""


@dataclass
class InProcessJob:
    """The job, and the replies that differ from the default."""

    job: Job
    model: ReplyOverride = no_override
    search: ReplyOverride = no_override
    embeddings: ReplyOverride = no_override
    context: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext
    """Context manager around the run."""
    requests: list[str] = field(default_factory=list)
    """Requests to models, embeddings and search."""

    def run(self, **inputs: str) -> JobResult:
        """Runs the action in this process."""
        self.job.inputs |= {name.replace("_", "-"): value for name, value in inputs.items()}
        folders = {name: str(self.job.folder / name) for name in MOUNTS}
        with self.context():
            code, log = run_here(self.job.environment(folders))
        return read_result(self.job.folder / "temp", code, log)

    @property
    def github(self) -> GitHubApi:
        return self.job.github

    @property
    def comment(self) -> str:
        """The comment; empty without one."""
        return "".join(self.github.comment_bodies)

    @property
    def report(self) -> dict[str, Any]:
        """The JSON report."""
        found: dict[str, Any] = json.loads((self.job.workspace / ".triage" / "report.json").read_text())
        return found


@contextlib.contextmanager
def set_up_job(folder: Path) -> Iterator[InProcessJob]:
    """Yields a checkout of the sample bug with all services on loopback."""
    with contextlib.ExitStack() as stack:
        github = stack.enter_context(serve_issue(sample_bug.TITLE, sample_bug.BODY))

        def reply(request: ReceivedRequest) -> ScriptedReply:
            what, answer = external_services.default_reply(request)
            override = {"search": harness.search, "embeddings": harness.embeddings}.get(what, harness.model)
            harness.requests.append(what)
            return override(request) or answer

        endpoint = stack.enter_context(endpoint_serving(reply))
        job = Job(folder, github)
        job.inputs |= {"engine": "model", "model-api-key": "sk-" + "y2" * 20, "model-base-url": f"{endpoint.url}/v1"}
        job.variables["TAVILY_BASE_URL"] = endpoint.url
        sample_bug.commit_plain_checkout(job.workspace)
        harness = InProcessJob(job)
        yield harness
