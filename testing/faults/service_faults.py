"""A fault that a run must survive, and what is seen of it; those of the model, the search and the embeddings, by name."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from testing.runs.in_process_job import InProcessJob
from testing.runs.job import JobResult
from testing.servers.scripted_server import ScriptedReply, chat_completion, error_reply

EXTERNAL_TEXT = "words from outside"
"""Stand in every spoilt answer; must be read nowhere."""
COULD_NOT = "What this report could not do"
BY_RULES = {"engine": "rules", "timeout_seconds": "5"}


@dataclass(frozen=True)
class Fault:
    """One fault and its outcome."""

    name: str
    inject: Callable[[InProcessJob], None]
    message: str
    """How the fault is called where its outcome is told."""
    status: str = "degraded"
    exit_code: int = 0
    reported_in: str = "comment"
    """`comment`, `page` (the job's, and no comment stands), or `log`."""
    names_suspect: bool = True
    """The bug is told, in the comment or on the page."""
    inputs: dict[str, str] = field(default_factory=dict)
    max_requests: int = 4 * 8
    """Requests to models and search."""

    def find_problems(self, place: InProcessJob) -> list[str]:
        """Run it, and say what was not as promised."""
        self.inject(place)
        return self.check_run(place, place.run(**self.inputs))

    def check_run(self, place: InProcessJob, done: JobResult) -> list[str]:
        """What was not as promised in a run that is over."""
        comment = (
            place.comment.partition(COULD_NOT)[2] if self.reported_in == "comment" and self.message else place.comment
        )
        where = {"comment": comment, "page": done.summary, "log": done.log}[self.reported_in]
        told = [place.comment, done.summary, done.log, _file(place)]
        wrong = {
            f"exit code {done.exit_code}": done.exit_code != self.exit_code,
            f"status {done.outputs.get('status', 'none')}": done.outputs.get("status", "none") != self.status,
            f"not told: {self.message}": self.message not in where,
            "words from outside were told": any(EXTERNAL_TEXT in text for text in told),
            "a bare traceback": 'Traceback (most recent call last):\n  File "/' in done.log,
            "no page": self.reported_in == "page" and not done.summary,
            f"{len(place.job.github.comments)} comments": len(place.job.github.comments)
            != (self.reported_in != "page"),
            "the bug was not told": self.names_suspect and "shop/basket.py" not in place.comment + done.summary,
            f"{len(place.requests)} requests": len(place.requests) > self.max_requests,
        }
        return [words for words, is_wrong in wrong.items() if is_wrong]


def _file(place: InProcessJob) -> str:
    file = place.job.workspace / ".triage" / "report.json"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def truncated_completion() -> ScriptedReply:
    """Half of an answer, whole as HTTP."""
    whole = json.dumps(chat_completion("{}").body).encode()
    return ScriptedReply(whole[: len(whole) // 2])


HTML = ScriptedReply(b"<html>words from outside</html>", headers={"content-type": "text/html"})


def _model(name: str, reply: ScriptedReply, words: str) -> Fault:
    def provoke(place: InProcessJob) -> None:
        place.model = lambda request: reply

    return Fault(name, provoke, words, inputs={"timeout_seconds": "20"})


MODEL_FAULTS = [
    _model("400", error_reply(400), "request refused (400)"),
    _model("401", error_reply(401), "unauthorized (401)"),
    _model("403", error_reply(403), "forbidden (403)"),
    _model("404", error_reply(404), "no such model (404)"),
    _model("410", error_reply(410), "gone (410)"),
    _model("429 with Retry-After", error_reply(429, retry_after="0"), "rate limited (429)"),
    _model("429 that asks too much", error_reply(429, retry_after="3600"), "rate limited (429)"),
    _model("quota", error_reply(429, "insufficient_quota"), "quota spent (429)"),
    _model("500", error_reply(500, retry_after="0"), "endpoint failed (500)"),
    _model("503", error_reply(503, retry_after="0"), "endpoint failed (503)"),
    _model("context length", error_reply(400, "context_length_exceeded"), "prompt too long for the model (400)"),
    _model("a dropped line", ScriptedReply(drop=True, headers={}), "connection failed"),
    _model("half a body", truncated_completion(), "unreadable reply"),
    _model("a page of HTML", HTML, "unreadable reply"),
    _model("JSON of another make", ScriptedReply({"hello": EXTERNAL_TEXT}), "unreadable reply"),
    _model("no choices", ScriptedReply({**chat_completion("").body, "choices": []}), "unreadable reply"),
    _model("an empty answer", chat_completion(""), "empty answer"),
    _model("a refusal", chat_completion(None, refusal=EXTERNAL_TEXT), "refused by the model"),
    _model("length", chat_completion('{"summ', finish_reason="length"), "answer cut at its length limit"),
    _model("a content filter", chat_completion("", finish_reason="content_filter"), "content filter"),
    _model("wrong types", chat_completion('{"hypothesis": 7}'), "answer does not fit"),
    _model("prose", chat_completion("All is well."), "answer does not fit"),
    _model("a tool nobody has", chat_completion(tool_calls=[("rm", "{}")]), "empty answer"),
    _model("bad tool arguments", chat_completion(tool_calls=[("tavily_search", "{not json")]), "empty answer"),
    _model("None for an answer", chat_completion(None), "empty answer"),
    Fault(
        "a hang",
        lambda place: setattr(place, "model", lambda request: ScriptedReply(delay_seconds=60)),
        "no answer within 1 seconds",
        inputs={"agent_timeout_seconds": "1", "timeout_seconds": "20"},
        max_requests=2,  # an endpoint that keeps failing is not asked any more
    ),
]


def _search(name: str, reply: ScriptedReply, words: str, status: str = "degraded") -> Fault:
    def provoke(place: InProcessJob) -> None:
        place.search = lambda request: reply

    inputs = {"tavily_api_key": "tvly-" + "z3" * 16, "tool_timeout_seconds": "1"}
    return Fault(name, provoke, words, status=status, inputs=inputs)


def _refused(status: int) -> ScriptedReply:
    return ScriptedReply({"detail": {"error": EXTERNAL_TEXT}}, status)


_BIG = ScriptedReply({"results": [{"url": "https://a.test", "title": "t", "content": "x" * 5_000_000}]})
SEARCH_FAULTS = [
    _search("401", _refused(401), "unauthorized (401)"),
    _search("429", _refused(429), "rate limited (429)"),
    _search("432", _refused(432), "plan's limit reached (432)"),
    _search("433", _refused(433), "pay-as-you-go limit reached (433)"),
    _search("500", _refused(500), "search failed (500)"),
    _search("a page of HTML", HTML, "unreadable answer"),
    _search("five megabytes", _BIG, "answer larger than 1 MB"),
    _search("nothing found", ScriptedReply({"results": []}), "", "complete"),
    _search("a hang", ScriptedReply(delay_seconds=60), "no answer within 1 seconds"),
    _search("a dropped line", ScriptedReply(drop=True), "connection failed"),
]


def _embeddings(name: str, reply: ScriptedReply) -> Fault:
    def provoke(place: InProcessJob) -> None:
        place.embeddings = lambda request: reply

    inputs = {"embedding_model": "text-embedding-3-small", "timeout_seconds": "20"}
    return Fault(name, provoke, "local vectors stand in", inputs=inputs)


EMBEDDING_FAULTS = [
    _embeddings("503", error_reply(503, retry_after="0")),
    _embeddings("429 that asks too much", error_reply(429, retry_after="3600")),
    _embeddings("a hang", ScriptedReply(delay_seconds=60)),
]
