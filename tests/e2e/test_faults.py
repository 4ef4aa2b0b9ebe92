"""Each fault of the model, the search and the embeddings, over real HTTP: what the maintainer and later steps see."""

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import outside, scenes
from tests.e2e.github_server import GitHubServer
from tests.e2e.github_server import serving as github_serving
from tests.e2e.job import MOUNTS, Finished, Job
from tests.endpoint import Endpoint, Reply, Request, completion, refusal
from tests.endpoint import serving as endpoint_serving
from triage.action import main

OUTSIDE_WORDS = "words from outside"
COULD_NOT = "What this report could not do"


@dataclass
class Place:
    """A job with a model and a search, whose answers a test may spoil."""

    job: Job
    endpoint: Endpoint
    capsys: pytest.CaptureFixture[str]
    model: Callable[[Request], Reply | None] = lambda request: None
    search: Callable[[Request], Reply | None] = lambda request: None
    embeddings: Callable[[Request], Reply | None] = lambda request: None
    asked: list[str] = field(default_factory=list)

    def run(self, **inputs: str) -> Finished:
        self.job.inputs |= {name.replace("_", "-"): value for name, value in inputs.items()}
        seen_as = {name: str(self.job.folder / name) for name in MOUNTS}
        code = main(self.job.environment(seen_as))
        return self.job.finished(code, "".join(self.capsys.readouterr()).encode())

    @property
    def comment(self) -> str:
        (comment,) = self.job.github.comments
        return str(comment["body"])

    @property
    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.job.workspace / ".triage" / "report.json").read_text())
        return found


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Place]:
    with contextlib.ExitStack() as stack:
        github = stack.enter_context(github_serving(GitHubServer(scenes.TITLE, scenes.BODY)))
        spoilt: list[Place] = []

        def reply(request: Request) -> Reply:
            what, usual = outside.reply_to(request)
            spoil = {"search": spoilt[0].search, "embeddings": spoilt[0].embeddings}.get(what, spoilt[0].model)
            spoilt[0].asked.append(what)
            return spoil(request) or usual

        endpoint = stack.enter_context(endpoint_serving(reply))
        job = Job(tmp_path, github)
        job.inputs |= {"engine": "model", "model-api-key": "sk-" + "y2" * 20, "model-base-url": f"{endpoint.url}/v1"}
        job.variables["TAVILY_BASE_URL"] = endpoint.url
        scenes.plain_checkout(job.workspace)
        job.commit()
        spoilt.append(Place(job, endpoint, capsys))
        yield spoilt[0]


def cut_short() -> Reply:
    whole = json.dumps(completion("{}").body).encode()
    return Reply(whole[: len(whole) // 2])


HTML = Reply(b"<html>words from outside</html>", headers={"content-type": "text/html"})
MODEL_FAULTS: dict[str, tuple[Reply, str]] = {
    "400": (refusal(400), "request refused (400)"),
    "401": (refusal(401), "unauthorized (401)"),
    "403": (refusal(403), "forbidden (403)"),
    "404": (refusal(404), "no such model (404)"),
    "410": (refusal(410), "gone (410)"),
    "429 with Retry-After": (refusal(429, retry_after="0"), "rate limited (429)"),
    "429 that asks too much": (refusal(429, retry_after="3600"), "rate limited (429)"),
    "quota": (refusal(429, "insufficient_quota"), "quota spent (429)"),
    "500": (refusal(500, retry_after="0"), "endpoint failed (500)"),
    "503": (refusal(503, retry_after="0"), "endpoint failed (503)"),
    "context length": (refusal(400, "context_length_exceeded"), "prompt too long for the model (400)"),
    "a dropped line": (Reply(drop=True, headers={}), "connection failed"),
    "half a body": (cut_short(), "unreadable reply"),
    "a page of HTML": (HTML, "unreadable reply"),
    "JSON of another make": (Reply({"hello": OUTSIDE_WORDS}), "unreadable reply"),
    "no choices": (Reply({**completion("").body, "choices": []}), "unreadable reply"),
    "an empty answer": (completion(""), "empty answer"),
    "a refusal": (completion(None, refusal=OUTSIDE_WORDS), "refused by the model"),
    "length": (completion('{"summ', finish_reason="length"), "answer cut at its length limit"),
    "a content filter": (completion("", finish_reason="content_filter"), "content filter"),
    "wrong types": (completion('{"hypothesis": 7}'), "answer does not fit"),
    "prose": (completion("All is well."), "answer does not fit"),
    "a tool nobody has": (completion(tool_calls=[("rm", "{}")]), "empty answer"),
    "bad tool arguments": (completion(tool_calls=[("tavily_search", "{not json")]), "empty answer"),
    "None for an answer": (completion(None), "empty answer"),
}


@pytest.mark.parametrize(("reply", "words"), MODEL_FAULTS.values(), ids=MODEL_FAULTS)
def test_a_model_that_fails_is_named_and_replaced(reply: Reply, words: str, place: Place):
    place.model = lambda request: reply
    done = place.run(timeout_seconds="20")
    assert done.exit_code == 0, done.log
    assert (done.outputs["status"], done.outputs["engine"]) == ("degraded", "model")
    assert words in place.comment.partition(COULD_NOT)[2]
    assert words in done.summary
    assert "shop/basket.py" in place.comment
    assert json.loads(done.outputs["suspect-files"])[0] == "shop/basket.py"
    for told in (place.comment, done.summary, done.log, json.dumps(place.report)):
        assert OUTSIDE_WORDS not in told
    assert 'Traceback (most recent call last):\n  File "/' not in done.log
    assert len(place.asked) <= 4 * 8


def test_a_model_that_hangs_is_cut_off(place: Place):
    place.model = lambda request: Reply(hang=60)
    done = place.run(agent_timeout_seconds="1", timeout_seconds="20")
    assert (done.exit_code, done.outputs["status"]) == (0, "degraded"), done.log
    assert "no answer within 1 seconds" in place.comment
    assert len(place.asked) <= 2, "an endpoint that keeps failing is not asked any more"


def test_a_model_that_asks_for_tools_for_ever_is_led_to_its_answer(place: Place):
    def ever(request: Request) -> Reply | None:
        names = [tool["function"]["name"] for tool in request.body.get("tools", [])]
        return completion(tool_calls=[(names[0], '{"query": "basket"}')]) if names else None

    place.model = ever
    done = place.run()
    assert done.exit_code == 0, done.log
    assert place.report["verdict"] == "CONFIRMED"
    assert len([what for what in place.asked if what == "model look up"]) <= 3


SEARCH_FAULTS: dict[str, tuple[Reply, str]] = {
    "401": (Reply({"detail": {"error": OUTSIDE_WORDS}}, 401), "unauthorized (401)"),
    "429": (Reply({"detail": {"error": OUTSIDE_WORDS}}, 429), "rate limited (429)"),
    "432": (Reply({"detail": {"error": OUTSIDE_WORDS}}, 432), "plan's limit reached (432)"),
    "500": (Reply({"detail": {"error": OUTSIDE_WORDS}}, 500), "search failed (500)"),
    "a page of HTML": (HTML, "unreadable answer"),
    "five megabytes": (Reply({"results": [{"url": "https://a.test", "title": "t", "content": "x" * 5_000_000}]}), ""),
    "nothing found": (Reply({"results": []}), ""),
    "a hang": (Reply(hang=60), "no answer within 1 seconds"),
    "a dropped line": (Reply(drop=True), "connection failed"),
}


@pytest.mark.parametrize(("reply", "words"), SEARCH_FAULTS.values(), ids=SEARCH_FAULTS)
def test_a_web_search_that_fails_costs_only_itself(reply: Reply, words: str, place: Place):
    place.search = lambda request: reply
    done = place.run(tavily_api_key="tvly-" + "z3" * 16, tool_timeout_seconds="1")
    assert done.exit_code == 0, done.log
    assert done.outputs["verdict"] == "CONFIRMED"
    assert words in place.comment
    assert OUTSIDE_WORDS not in place.comment + done.summary + done.log
    if not words:
        assert "search failed" not in place.comment


@pytest.mark.parametrize(
    "reply",
    [refusal(503, retry_after="0"), refusal(429, retry_after="3600"), Reply(hang=60)],
    ids=["503", "429 that asks too much", "a hang"],
)
def test_embeddings_that_fail_are_replaced(reply: Reply, place: Place):
    place.embeddings = lambda request: reply
    done = place.run(embedding_model="text-embedding-3-small", timeout_seconds="20")
    assert (done.exit_code, done.outputs["status"]) == (0, "degraded"), done.log
    assert "local vectors stand in" in place.comment
    assert done.outputs["verdict"] == "CONFIRMED"


def usage_of(tokens: int, reply: Reply) -> Reply:
    told = {"prompt_tokens": tokens - 20, "completion_tokens": 20, "total_tokens": tokens}
    return Reply({**reply.body, "usage": told})


BEFORE_THE_WRITER = 4


@pytest.mark.parametrize("call", range(1, 8))
def test_a_cap_that_is_crossed_at_a_call_ends_all_asking(call: int, place: Place):
    """The call reports more tokens than there were: nothing was known before, and nothing is asked after."""

    def dear(request: Request) -> Reply | None:
        usual = outside.reply_to(request)[1]
        return usage_of(100_000 if len(place.asked) == call else 100, usual)

    place.model = dear
    done = place.run()
    assert done.exit_code == 0, done.log
    parallel = 3 - 1
    assert len(place.asked) <= call + parallel, place.asked
    assert int(done.outputs["tokens"]) <= 100_000 + 100 * (call + parallel)
    if call <= BEFORE_THE_WRITER:
        assert done.outputs["status"] == "degraded"
        assert "budget ran low" in place.comment or "would be exceeded" in place.comment


def test_a_cap_of_no_dollars_means_rules(place: Place):
    done = place.run(max_cost_usd="0")
    assert (done.exit_code, done.outputs["engine"], done.outputs["status"]) == (0, "rules", "complete"), done.log
    assert place.asked == []
    assert "max-cost-usd is 0" in done.log
