"""A job in this process, with a GitHub, a model and a search whose answers may be spoilt."""

import contextlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from testing.runs import external_services, sample_bug
from testing.runs.job import MOUNTS, Job, JobResult
from testing.servers.github_server import GitHubServer
from testing.servers.github_server import serve_github as github_serving
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply
from testing.servers.scripted_server import serve_script as endpoint_serving
from triage.action import main

ReplyOverride = Callable[[ReceivedRequest], ScriptedReply | None]
"""What is answered instead, or none for the usual answer."""


def no_override(request: ReceivedRequest) -> ScriptedReply | None:
    """Spoil nothing."""


@dataclass(frozen=True)
class GitHubFault:
    """What GitHub answers instead."""

    request: str
    """End of the request's method and path, such as `POST /repos/octo/shop/issues/7/comments`."""
    status: int
    """0 drops the line."""
    message: str = "words from outside"
    headers: dict[str, str] = field(default_factory=dict)
    first_occurrence: int = 1
    """The how manieth such request is the first in trouble."""


@dataclass
class FaultyGitHub(GitHubServer):
    """A GitHub that answers as usual, but for its trouble."""

    fault: GitHubFault | None = None

    def answer(self, method: str, path: str, sent: dict[str, Any]) -> tuple[int, Any]:
        trouble, self.headers = self.fault, {}
        alike = [asked for asked in self.request_lines if trouble and asked.endswith(trouble.request)]
        if trouble is None or not f"{method} {path}".endswith(trouble.request) or len(alike) < trouble.first_occurrence:
            return super().answer(method, path, sent)
        if not trouble.status:
            raise ConnectionAbortedError
        self.headers = trouble.headers
        return trouble.status, {"message": trouble.message}


@dataclass
class InProcessJob:
    """The job, and what the servers answer instead of the usual."""

    job: Job
    github: FaultyGitHub
    model: ReplyOverride = no_override
    search: ReplyOverride = no_override
    embeddings: ReplyOverride = no_override
    context: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext
    """What the run happens in."""
    requests: list[str] = field(default_factory=list)
    """What models, embeddings and search were asked."""

    def run(self, **inputs: str) -> JobResult:
        """Run the action in this process."""
        self.job.inputs |= {name.replace("_", "-"): value for name, value in inputs.items()}
        seen_as = {name: str(self.job.folder / name) for name in MOUNTS}
        log = io.StringIO()
        with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log), self.context():
            code = main(self.job.environment(seen_as))
        return self.job.read_result(code, log.getvalue().encode(errors="replace"))

    @property
    def comment(self) -> str:
        """The comment, when there is one."""
        return "".join(str(comment["body"]) for comment in self.job.github.comments)

    @property
    def report(self) -> dict[str, Any]:
        """The JSON report."""
        found: dict[str, Any] = json.loads((self.job.workspace / ".triage" / "report.json").read_text())
        return found


@contextlib.contextmanager
def set_up_job(folder: Path) -> Iterator[InProcessJob]:
    """A checkout of the scenes' bug, and everything that a run speaks to, on loopback."""
    with contextlib.ExitStack() as stack:
        github = FaultyGitHub(sample_bug.TITLE, sample_bug.BODY)
        stack.enter_context(github_serving(github))

        def reply(request: ReceivedRequest) -> ScriptedReply:
            what, answer = external_services.default_reply(request)
            spoil = {"search": place.search, "embeddings": place.embeddings}.get(what, place.model)
            place.requests.append(what)
            return spoil(request) or answer

        endpoint = stack.enter_context(endpoint_serving(reply))
        job = Job(folder, github)
        job.inputs |= {"engine": "model", "model-api-key": "sk-" + "y2" * 20, "model-base-url": f"{endpoint.url}/v1"}
        job.variables["TAVILY_BASE_URL"] = endpoint.url
        sample_bug.write_plain_checkout(job.workspace)
        job.commit()
        place = InProcessJob(job, github)
        yield place
