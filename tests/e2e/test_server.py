"""LangGraph's own server serves the graph: a process of its own, spoken to over HTTP."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from testing.runs import sample_bug
from testing.runs.external_services import ExternalServices
from testing.runs.job import ROOT
from testing.servers.github_api import GitHubApi
from testing.servers.scripted_server import serve_script as endpoint_serving
from testing.servers.telemetry_collector import FakeCollector, serve_collector, to_dict

pytest.importorskip(
    "langgraph_api", reason="LangGraph's server cannot be installed on this Python (requirements-dev.in)"
)

START_SECONDS = 60.0
ASKED: dict[str, Any] = {
    "issue": {"title": sample_bug.TITLE, "body": sample_bug.BODY, "number": 7},
    "repository": {"slug": "octo/shop"},
}


@dataclass
class Served:
    """The running server."""

    client: httpx.Client
    collector: FakeCollector

    def run(self, **asked: Any) -> dict[str, Any]:
        """Returns the result of the run, also an error."""
        answer: dict[str, Any] = self.client.post("/runs/wait", json={"assistant_id": "triage", "input": asked}).json()
        return answer


@contextmanager
def proxy(seen: list[bytes]) -> Iterator[str]:
    """Records requests and closes the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def listen() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    seen.append(connection.recv(200))

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def _environment(folder: Path, collector: str, model: str, stranger: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGGRAPH_NO_VERSION_CHECK": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TRIAGE_REPOS": str(folder / "checkouts"),
        "TRIAGE_MODEL_API_KEY": "sk-" + "y2" * 20,
        "TRIAGE_MODEL_BASE_URL": f"{model}/v1",
        "TRIAGE_TAVILY_API_KEY": "tvly-" + "z3" * 16,
        "TAVILY_BASE_URL": model,
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector,
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), stranger),
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("server")
    for name in ("langgraph.json", "triage"):  # the server keeps files where it is started
        (folder / name).symlink_to(ROOT / name)
    shop = folder / "checkouts" / "octo" / "shop"
    shop.mkdir(parents=True)
    sample_bug.commit_plain_checkout(shop)
    port, log, seen = _free_port(), folder / "log", list[bytes]()
    options = ["--host", "127.0.0.1", "--port", str(port), "--no-browser", "--no-reload"]
    services = ExternalServices(GitHubApi())

    with (
        serve_collector() as collector,
        endpoint_serving(services.reply) as model,
        proxy(seen) as stranger,
        log.open("wb") as out,
    ):
        process = subprocess.Popen(
            [sys.executable, "-m", "langgraph_cli", "dev", *options],
            cwd=folder,
            env=_environment(folder, collector.url, model.url, stranger),
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
                _await_start(process, client, log)
                yield Served(client, collector)
            assert seen == [], "it contacts no other server"
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _await_start(process: "subprocess.Popen[bytes]", client: httpx.Client, log: Path) -> None:
    latest = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < latest:
        try:
            if client.get("/ok").is_success:
                return
        except httpx.HTTPError:
            time.sleep(0.2)
    pytest.fail(f"the server did not start:\n{log.read_text(errors='replace')}")


def test_the_server_returns_a_report_and_exports_the_run(served: Served):
    report = served.run(**ASKED)["report"]
    assert report["suspects"][0]["path"] == "shop/basket.py"
    assert (report["status"], report["engine"]) == ("complete", "model"), report["notes"]
    assert report["repository"] == "octo/shop"
    assert report["issue"]["number"] == 7
    roots = [to_dict(span.attributes) for span in served.collector.spans if not span.parent_span_id]
    assert report["request_id"] in [root["triage.request_id"] for root in roots]


def test_errors_are_reported(served: Served):
    message = served.run(issue={"title": "x"}, repository={"slug": "octo/none"})["__error__"]["message"]
    assert message == "repository: this server has no such checkout."
