"""A whole run as the runner starts it, with a collector that listens."""

import signal
import time
from pathlib import Path

import pytest

from testing.runs import external_services, sample_bug
from testing.runs.job import Job
from testing.servers.github_api import serve_issue
from testing.servers.scripted_server import serve_script as endpoint_serving
from testing.servers.telemetry_collector import CollectorBehaviour, format_span_tree, serve_collector, to_dict
from tests.test_cli import checkout, triage

__all__ = ["checkout"]


@pytest.fixture
def job(tmp_path: Path):
    with serve_issue(sample_bug.TITLE, sample_bug.BODY) as github:
        job = Job(tmp_path, github)
        sample_bug.commit_plain_checkout(job.workspace)
        yield job


def test_every_model_call_is_a_span_of_the_run_with_the_request_id(tmp_path: Path):
    with (
        serve_collector() as receiver,
        external_services.serve_all(tmp_path / "job") as (servers, job),
        endpoint_serving(servers.reply) as endpoint,
    ):
        job.inputs["model-base-url"] = f"{endpoint.url}/v1"
        job.variables["OTEL_EXPORTER_OTLP_ENDPOINT"] = receiver.url
        done = job.run_forked()
    assert done.exit_code == 0, done.log
    (seen,) = {request.headers.get("x-request-id") for request in endpoint.requests}
    (run,) = [to_dict(span.attributes) for span in receiver.spans if not span.parent_span_id]
    assert run["triage.request_id"] == seen
    calls = [span for span in receiver.spans if span.name.startswith("chat ")]
    assert len(calls) == len([request for request in endpoint.requests if request.path.endswith("/chat/completions")])
    tools = [span.name for span in receiver.spans if span.name.startswith("execute_tool ")]
    assert "execute_tool tavily_search" in tools, format_span_tree(receiver.spans)
    said = [sample_bug.TITLE, *sample_bug.BODY.split(), *(servers.github.comments[0]["body"]).split()]
    words = {word for text in said for word in text.split() if len(word) > 12}
    bodies = b"".join(one.body for one in receiver.requests)
    assert not [word for word in words if word.encode() in bodies]


def test_the_command_line_sends_telemetry(checkout: Path):
    with serve_collector() as receiver:
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}
        done = triage("run", "--repo", str(checkout), "--issue", "-", stdin="# total fails\n\ncart", **variables)
    assert done.returncode == 0, done.stderr
    assert "Telemetry sent" in done.stderr
    assert receiver.resources[0]["vcs.repository.name"] == checkout.name


def test_a_signal_during_the_export_leaves_the_comment(job: Job):
    with serve_collector(CollectorBehaviour(delay_seconds=60)) as receiver:
        job.variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}
        running = job.start_forked()
        while not receiver.requests and running.poll() is None:
            time.sleep(0.02)
        running.send_signal(signal.SIGTERM)
        done = job.wait(running)
    assert done.exit_code == 143
    assert done.outputs["status"] == "complete"
    assert len(job.github.comments) == 1
    assert "Telemetry not sent: the collector takes too long." in done.log
