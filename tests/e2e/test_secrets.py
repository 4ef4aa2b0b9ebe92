"""Nothing secret leaves: every key is in the issue, in the code, in what the search finds and in all that models say.

What reached the servers, the log, the job's page, the outputs, the report and the cache is searched by a judge of its
own.
"""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from testing.runner_grammar import parse_commands
from testing.runs import sample_bug
from testing.runs.external_services import MODEL_ANSWERS, ExternalServices, default_reply
from testing.runs.job import Job
from testing.servers.github_api import ApiFault, ApiRequest, serve_issue
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion
from testing.servers.scripted_server import serve_script as endpoint_serving
from testing.servers.telemetry_collector import FakeCollector, serve_collector
from testing.text.encoded_secrets import COLLECTOR, GITHUB, KEYS, MODEL, PROXY, SEARCH, encode_all, find_secrets

EXACT_FIELDS = ("agent_name", "path", "quote", "root_cause_location", "symbol")
"""Fields that must be right for an answer to be accepted."""


def encoded_keys() -> Iterator[str]:
    """Every form of every key, again and again, each time another one first."""
    every = [form for key in KEYS for form in encode_all(key)]
    return (" ".join(every[start:] + every[:start]) for start in (number * 7 % len(every) for number in count()))


WORDS = encoded_keys()


def answer_with_keys(name: str) -> str:
    """The usual answer with keys in each text that may be longer."""
    answer = MODEL_ANSWERS[name]
    adapter = TypeAdapter(type(answer))
    tree = answer.model_dump(mode="json")
    add_keys(tree, tree, adapter)
    return json.dumps(tree)


def add_keys(node: Any, tree: Any, adapter: TypeAdapter[Any]) -> None:
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if isinstance(value, str) and key not in EXACT_FIELDS:
            node[key] = f"{value} {next(WORDS)}"
            try:
                adapter.validate_python(tree)
            except ValidationError:
                node[key] = value
        else:
            add_keys(value, tree, adapter)


@dataclass
class Chatty(ExternalServices):
    """Servers that say what they should not know, and keep all that they are heard."""

    heard: list[str] = field(default_factory=list)
    """Bodies and paths of all requests."""

    def delay_github(self, asked: ApiRequest) -> ApiFault | None:
        self.heard.append(f"{asked.line} {json.dumps(asked.sent, ensure_ascii=False)}")
        return super().delay_github(asked)

    def reply(self, request: ReceivedRequest) -> ScriptedReply:
        self.heard.append(f"{request.path} {json.dumps(request.body, ensure_ascii=False)}")
        what, usual = default_reply(request)
        self.record_request(what)
        match what.split():
            case ["search"]:
                places = ("https://docs.example.com/baskets", f"https://docs.example.com/{MODEL}")
                return ScriptedReply(
                    {"results": [{"title": next(WORDS), "url": url, "content": next(WORDS)} for url in places]}
                )
            case ["model", "words"]:
                listed = "\n- ".join(SEARCH)
                return chat_completion(f"# Found\n\n- {listed}\n\n```\n{next(WORDS)}\n```\n\n{next(WORDS)}")
            case ["model", "TicketDraft"]:
                answer = json.loads(answer_with_keys("TicketDraft"))
                return chat_completion(json.dumps(answer | {"labels": ["bug", GITHUB], "assignee": MODEL}))
            case ["model", "choose"]:
                call = ("tavily_search", json.dumps({"query": f"KeyError {MODEL[9:]} {' '.join(GITHUB)}"}))
                return chat_completion(tool_calls=[call], finish_reason="tool_calls")
            case ["model", "look", "up"] if len(request.body["messages"]) < 4:
                call = ("grep", json.dumps({"text": f"total {next(WORDS)}"[:300]}))
                return chat_completion(next(WORDS), tool_calls=[call], finish_reason="tool_calls")
            case ["model", name] if name in MODEL_ANSWERS:
                return chat_completion(answer_with_keys(name))
        return usual


@dataclass
class Run:
    """What came of it."""

    job: Job
    servers: Chatty
    receiver: FakeCollector
    log: str
    summary: str
    outputs: dict[str, str]
    environments: dict[str, bytes]
    """Of all its processes, by their command lines."""


def _prepared(job: Job, address: str, collector: str) -> None:
    job.inputs |= {
        "engine": "model",
        "github-token": GITHUB,
        "model-api-key": MODEL,
        "model-base-url": f"{address}/v1",
        "embedding-model": "text-embedding-3-small",
        "tavily-api-key": SEARCH,
        "labels": "apply",
    }
    job.variables |= {
        "TAVILY_BASE_URL": address,
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector,
        "OTEL_EXPORTER_OTLP_HEADERS": f"x-honeycomb-team={COLLECTOR},x-dataset=bug-triage",
        "HTTPS_PROXY": f"http://bot:{PROXY}@127.0.0.1:9",
        "ACTIONS_RUNTIME_TOKEN": GITHUB,
        "AWS_SECRET_ACCESS_KEY": MODEL,
        "GITHUB_PAT": GITHUB,
    }
    sample_bug.write_plain_checkout(job.workspace)
    noted = "".join(f"# basket total: {json.dumps(form)}\n" for key in KEYS for form in encode_all(key))
    (job.workspace / "shop" / "notes.py").write_text(
        f"{noted}\ndef total(prices):\n    return sum(price for price in prices if price)\n", encoding="utf-8"
    )
    job.commit()


def environments(session: int) -> dict[str, bytes]:
    """Of every process of the session, by its command line."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(place.name)) == session:
                found[(place / "cmdline").read_text()] = (place / "environ").read_bytes()
        except OSError:
            continue
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    every = "\n".join(form for key in KEYS for form in encode_all(key))
    issue = f"{sample_bug.BODY}\nKeyError: {' '.join(encode_all(MODEL))}\n\n{every}"
    with (
        serve_issue(f"{sample_bug.TITLE} {GITHUB}", issue) as github,
        endpoint_serving((servers := Chatty(github)).reply) as endpoint,
        serve_collector() as receiver,
    ):
        github.logins = {GITHUB: "github-actions[bot]"}
        github.labels = ["bug", f"by {GITHUB}"]
        job = Job(tmp_path_factory.mktemp("leaks") / "job", github)
        _prepared(job, endpoint.url, receiver.url)
        running, seen = job.start_here(), dict[str, bytes]()
        while running.poll() is None:
            seen |= environments(running.pid)
            time.sleep(0.05)
        done = job.wait(running)
        assert done.exit_code == 0, done.log
        yield Run(job, servers, receiver, done.log, done.summary, done.outputs, seen)


def test_the_run_is_complete(run: Run):
    asked = {one.what for one in run.servers.requests}
    assert {"search", "embeddings", "model TicketDraft"} <= asked
    assert len(run.servers.github.comments) == 1
    assert run.outputs["status"] == "complete", run.log
    assert run.outputs["engine"] == "model"


def test_no_request_has_a_key_of_another_server(run: Run):
    assert {sent.split()[0]: found for sent in run.servers.heard if (found := find_secrets(sent))} == {}
    assert find_secrets(run.servers.github.comments[0]["body"]) == []
    assert [found for one in run.receiver.requests if (found := find_secrets(one.body.decode("latin-1")))] == []
    assert run.receiver.requests


def test_nothing_on_the_jobs_page_has_a_key(run: Run):
    said = "\n".join(line for line in run.log.splitlines() if not line.startswith("::add-mask::"))
    assert find_secrets(said) == []
    assert find_secrets(run.summary) == []
    assert find_secrets("\n".join(run.outputs.values())) == []


def test_the_report_is_whole_and_has_no_key(run: Run):
    text = (run.job.workspace / ".triage" / "report.json").read_text(encoding="utf-8")
    assert find_secrets(text) == []
    assert json.loads(text)["status"] == "complete"
    assert json.loads(run.outputs["suspect-files"]) == ["shop/basket.py"]
    assert json.loads(run.outputs["ticket-labels"]) == ["bug"]


def test_a_redaction_is_reported_once_without_the_secret(run: Run):
    said = [
        command.data for command in parse_commands(run.log) if "secret" in command.data and command.name == "warning"
    ]
    assert len(said) == 1
    for place in ("text from GitHub", "model's answer", "web search"):
        assert place in said[0]


def test_every_secret_is_masked_before_other_log_lines(run: Run):
    commands = parse_commands(run.log)
    names = [command.name for command in commands]
    masks = [command.data for command in commands if command.name == "add-mask"]
    assert set(KEYS) <= set(masks)
    assert names[: len(masks)] == ["add-mask"] * len(masks)
    assert run.log.splitlines()[len(masks) - 1].startswith("::add-mask::")


def test_no_process_has_a_key_in_its_environment(run: Run):
    (ours,) = [shown for command, shown in run.environments.items() if "--secrets-fd=" in command]
    names = {entry.partition(b"=")[0].decode() for entry in ours.split(b"\0") if entry}
    assert not {name for name in names if name.startswith(("INPUT_", "ACTIONS_", "AWS_")) or name.endswith("_TOKEN")}
    assert not names & {"GITHUB_PAT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "OTEL_EXPORTER_OTLP_HEADERS"}
    for command, shown in run.environments.items():
        assert find_secrets(command) == []
        if not command.endswith("entrypoint.py\0"):  # which has not started anew yet
            assert find_secrets(shown.decode("latin-1")) == [], command
