"""The doctor's check of the collector."""

import pytest

from testing.apps import make_app
from testing.servers.telemetry_collector import CollectorBehaviour, serve_collector
from triage.app.settings import RunnerEnvironment, Settings
from triage.doctor.checks import Check, run_checks

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


def run_check(tmp_path, **environ: str) -> Check:
    session = make_app(Settings(), tmp_path, environment=RunnerEnvironment.read(environ))
    return run_checks(session)["telemetry"]


def test_a_collector_that_listens(tmp_path):
    with serve_collector() as receiver:
        assert run_check(tmp_path, **{ENDPOINT: receiver.url}).detail == "accepts traces and metrics"
        assert (receiver.spans, receiver.metrics) == ([], {}), "it received nothing"
        only = run_check(tmp_path, OTEL_METRICS_EXPORTER="none", **{ENDPOINT: receiver.url})
        assert (only.state, only.detail) == ("ok", "accepts traces")


@pytest.mark.parametrize(
    ("environ", "state", "words"),
    [
        ({}, "missing", "off (no OTEL_EXPORTER_OTLP_ENDPOINT)"),
        ({ENDPOINT: "ftp://x"}, "broken", f"{ENDPOINT}: the value is not a URL"),
        ({ENDPOINT: "http://127.0.0.1:9"}, "broken", "traces: no answer; metrics: no answer"),
    ],
)
def test_no_collector_or_one_that_does_not_answer(tmp_path, environ: dict[str, str], state: str, words: str):
    check = run_check(tmp_path, **environ)
    assert (check.state, check.detail[: len(words)]) == (state, words)


def test_a_collector_that_refuses_the_key(tmp_path):
    with serve_collector(CollectorBehaviour(401)) as receiver:
        check = run_check(tmp_path, **{ENDPOINT: receiver.url})
    assert (check.state, check.detail) == ("broken", "traces: HTTP 401; metrics: HTTP 401")
