"""Faults of the model, the search and the embeddings that a run must survive, with their expected outcome."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from unittest.mock import patch

from testing.runs.action_run import JobResult
from testing.runs.external_services import default_reply
from testing.runs.in_process_job import InProcessJob
from testing.servers.endless_body import EndlessBody
from testing.servers.scripted_server import ScriptedReply, chat_completion, error_reply

EXTERNAL_TEXT = "words from outside"
"""Part of every faulty reply; must not appear in any output."""
COULD_NOT = "What this report could not do"
SLOW_SECONDS = 0.4
"""Before each answer of a slow model. Stands for minutes: the limit that it must not meet is scaled down as well."""
BY_RULES = {"engine": "rules", "timeout_seconds": "10"}


@dataclass(frozen=True)
class Fault:
    """One fault and its expected outcome."""

    name: str
    inject: Callable[[InProcessJob], None]
    message: str
    """Text that reports the fault."""
    status: str = "degraded"
    exit_code: int = 0
    reported_in: str = "comment"
    """Where it is reported: `comment` (on the page of the job, beside a comment), `page` (without one), or `log`."""
    names_suspect: bool = True
    """Whether comment or page name the file of the bug."""
    inputs: dict[str, str] = field(default_factory=dict)
    max_requests: int = 4 * 8
    """Maximum requests to models and search."""

    def find_problems(self, harness: InProcessJob) -> list[str]:
        """Runs the job with the fault and returns what is not as expected."""
        self.inject(harness)
        return self.check_run(harness, harness.run(**self.inputs))

    def check_run(self, harness: InProcessJob, done: JobResult) -> list[str]:
        """Returns what is not as expected in a finished run."""
        notes = done.summary.partition(COULD_NOT)[2] if self.message else ""
        where = {"comment": notes, "page": done.summary, "log": done.log}[self.reported_in]
        outputs = [harness.comment, done.summary, done.log, _read_report(harness)]
        problems = {
            f"exit code {done.exit_code}": done.exit_code != self.exit_code,
            f"status {done.outputs.get('status', 'none')}": done.outputs.get("status", "none") != self.status,
            f"not reported: {self.message}": self.message not in where,
            "external text in the output": any(EXTERNAL_TEXT in text for text in outputs),
            "a bare traceback": 'Traceback (most recent call last):\n  File "/' in done.log,
            "no page": self.reported_in == "page" and not done.summary,
            f"{len(harness.github.comments)} comments": len(harness.github.comments) != (self.reported_in != "page"),
            "the suspect is not named": self.names_suspect and "shop/basket.py" not in harness.comment + done.summary,
            f"{len(harness.requests)} requests": len(harness.requests) > self.max_requests,
        }
        return [problem for problem, is_present in problems.items() if is_present]


def _read_report(harness: InProcessJob) -> str:
    file = harness.job.workspace / ".triage" / "report.json"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def truncated_completion() -> ScriptedReply:
    """Returns half of an answer in a whole HTTP response."""
    whole = json.dumps(chat_completion("{}").body).encode()
    return ScriptedReply(whole[: len(whole) // 2])


NESTED = b"[" * 100_000
HTML = ScriptedReply(b"<html>words from outside</html>", headers={"content-type": "text/html"})


def _model_fault(name: str, reply: ScriptedReply, message: str) -> Fault:
    def inject(harness: InProcessJob) -> None:
        harness.model = lambda request: reply

    return Fault(name, inject, message, inputs={"timeout_seconds": "20"})


MODEL_FAULTS = [
    _model_fault("400", error_reply(400), "request refused (400)"),
    _model_fault("401", error_reply(401), "unauthorized (401)"),
    _model_fault("403", error_reply(403), "forbidden (403)"),
    _model_fault("404", error_reply(404), "no such model (404)"),
    _model_fault("410", error_reply(410), "gone (410)"),
    _model_fault("429 with Retry-After", error_reply(429, retry_after="0"), "rate limited (429)"),
    _model_fault("429 that asks too much", error_reply(429, retry_after="3600"), "rate limited (429)"),
    _model_fault("quota", error_reply(429, "insufficient_quota"), "quota spent (429)"),
    _model_fault("500", error_reply(500, retry_after="0"), "endpoint failed (500)"),
    _model_fault("503", error_reply(503, retry_after="0"), "endpoint failed (503)"),
    _model_fault("context length", error_reply(400, "context_length_exceeded"), "prompt too long for the model (400)"),
    _model_fault("a dropped connection", ScriptedReply(drop=True, headers={}), "connection failed"),
    _model_fault("half a body", truncated_completion(), "unreadable reply"),
    _model_fault("a page of HTML", HTML, "unreadable reply"),
    _model_fault("endless JSON", ScriptedReply(EndlessBody()), "answer larger than 8 MB"),
    _model_fault("endless gzip", ScriptedReply(EndlessBody(gzipped=True)), "answer larger than 8 MB"),
    _model_fault("nested JSON", ScriptedReply(NESTED), "unreadable reply"),
    _model_fault("a nested answer", chat_completion(NESTED.decode()), "answer does not fit"),
    _model_fault("other JSON", ScriptedReply({"hello": EXTERNAL_TEXT}), "unreadable reply"),
    _model_fault("no choices", ScriptedReply({**chat_completion("").body, "choices": []}), "unreadable reply"),
    _model_fault("an empty answer", chat_completion(""), "empty answer"),
    _model_fault("a refusal", chat_completion(None, refusal=EXTERNAL_TEXT), "refused by the model"),
    _model_fault("length", chat_completion('{"summ', finish_reason="length"), "answer cut at its length limit"),
    _model_fault("a content filter", chat_completion("", finish_reason="content_filter"), "content filter"),
    _model_fault("wrong types", chat_completion('{"hypothesis": 7}'), "answer does not fit"),
    _model_fault("prose", chat_completion("All is well."), "answer does not fit"),
    _model_fault("an unknown tool", chat_completion(tool_calls=[("rm", "{}")]), "answer does not fit"),
    _model_fault(
        "bad tool arguments", chat_completion(tool_calls=[("tavily_search", "{not json")]), "answer does not fit"
    ),
    _model_fault("None for an answer", chat_completion(None), "empty answer"),
    Fault(
        "a hang",
        lambda harness: setattr(harness, "model", lambda request: ScriptedReply(delay_seconds=60)),
        "no answer within 1 seconds",
        inputs={"timeout_seconds": "5"},
        max_requests=4,  # Two calls to each model, then neither is asked.
    ),
]


SEARCH_KEY = "tvly-" + "z3" * 16
AGENT_REQUESTS = 5
"""Of a run without web search: investigator, one look-up, codebase search, critic, writer."""


@contextmanager
def _short_read_limit() -> Iterator[None]:
    with patch("triage.outside.model.endpoint.READ_SECONDS", SLOW_SECONDS / 4):
        yield


def _slow_down(harness: InProcessJob) -> None:
    harness.context = _short_read_limit
    harness.model = lambda request: replace(default_reply(request)[1], delay_seconds=SLOW_SECONDS)


def _limit_main_model(harness: InProcessJob) -> None:
    busy = error_reply(429, retry_after="0")
    harness.model = lambda request: busy if request.body["model"] == MAIN_MODEL else None


MAIN_MODEL = "gpt-6.1-terra"
HARMLESS_MODEL_FAULTS = [
    Fault("slower than a connection's own limit", _slow_down, "", status="complete"),
    Fault(
        "a rate limit of the main model only",
        _limit_main_model,
        "",
        status="complete",
        max_requests=AGENT_REQUESTS + len(["first attempt", "second attempt", "third attempt"]),
    ),
]
"""Faults in spite of which the models answer."""


def _search_fault(name: str, reply: ScriptedReply, message: str, status: str = "degraded") -> Fault:
    def inject(harness: InProcessJob) -> None:
        harness.search = lambda request: reply

    inputs = {"tavily_api_key": SEARCH_KEY, "timeout_seconds": "20"}
    return Fault(name, inject, message, status=status, inputs=inputs)


def _search_error(status: int) -> ScriptedReply:
    return ScriptedReply({"detail": {"error": EXTERNAL_TEXT}}, status)


SEARCH_FAULTS = [
    _search_fault("401", _search_error(401), "unauthorized (401)"),
    _search_fault("429", _search_error(429), "rate limited (429)"),
    _search_fault("432", _search_error(432), "plan's limit reached (432)"),
    _search_fault("433", _search_error(433), "pay-as-you-go limit reached (433)"),
    _search_fault("500", _search_error(500), "search failed (500)"),
    _search_fault("a page of HTML", HTML, "unreadable answer"),
    _search_fault("nested JSON", ScriptedReply(NESTED), "unreadable answer"),
    _search_fault("nothing found", ScriptedReply({"results": []}), "", "complete"),
    _search_fault("a hang", ScriptedReply(delay_seconds=60), "no answer within 2 seconds"),
    _search_fault("a dropped connection", ScriptedReply(drop=True), "connection failed"),
]


def _embeddings_fault(name: str, reply: ScriptedReply, timeout_seconds: str = "20") -> Fault:
    def inject(harness: InProcessJob) -> None:
        harness.embeddings = lambda request: reply

    inputs = {"embedding_model": "text-embedding-3-small", "timeout_seconds": timeout_seconds}
    return Fault(name, inject, "local vectors stand in", inputs=inputs)


EMBEDDING_FAULTS = [
    _embeddings_fault("endless JSON", ScriptedReply(EndlessBody())),
    _embeddings_fault("endless gzip", ScriptedReply(EndlessBody(gzipped=True))),
    _embeddings_fault("nested JSON", ScriptedReply(NESTED)),
    _embeddings_fault("503", error_reply(503, retry_after="0")),
    _embeddings_fault("429 that asks too much", error_reply(429, retry_after="3600")),
    _embeddings_fault("a hang", ScriptedReply(delay_seconds=60), timeout_seconds="10"),
]
