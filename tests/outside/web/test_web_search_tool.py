"""The web search tool against a real HTTP server."""

import asyncio
from typing import Any

import pytest
from langchain_core.tools import ToolException
from pydantic import SecretStr

from testing.each_row import each_row
from testing.servers.scripted_server import ScriptedReply, serve_script
from testing.text.encoded_secrets import MODEL
from triage.outside.web.web_search_tool import build_search_tool
from triage.safety.secrets.redactor import SecretRedactor

PAGE = {"title": "Dates", "url": "https://docs.test/date", "content": "out of range", "score": 0.9, "raw_content": "x"}
FOUND = {"results": [{key: PAGE[key] for key in ("title", "url", "content")}]}
KEY = SecretStr("tvly-test")


async def search(reply: ScriptedReply, query: str = "date out of range") -> tuple[Any, dict[str, Any]]:
    with serve_script([reply]) as server:
        tool = build_search_tool(KEY, server.url)
        try:
            answer = await tool.ainvoke({"query": query})
        finally:
            asked = server.requests[0] if server.requests else None
            assert len(server.requests) <= 1, "a search that fails is not made again"
    assert asked is not None
    assert asked.headers["authorization"] == "Bearer tvly-test"
    return answer, asked.body


async def test_pages_come_back_with_title_address_and_text_only():
    answer, asked = await search(ScriptedReply({"query": "q", "results": [PAGE], "answer": "words", "images": ["x"]}))
    assert answer == FOUND
    assert asked["query"] == "date out of range"
    assert asked["max_results"] == 5
    assert asked["search_depth"] == "advanced"


async def test_nothing_found_is_no_error():
    answer, _ = await search(ScriptedReply({"query": "q", "results": []}))
    assert answer == {"results": []}


async def test_an_empty_query_is_not_sent():
    with serve_script([ScriptedReply({"results": [PAGE]})]) as server:
        assert await build_search_tool(KEY, server.url).ainvoke({"query": "https://intern.corp/x"}) == {"results": []}
    assert server.requests == []


async def test_the_query_is_the_only_argument():
    tool = build_search_tool(KEY, "http://127.0.0.1:9")
    assert list(tool.args) == ["query"]


OUTSIDE = {"detail": {"error": "words from outside"}}
FAILURES: dict[str, tuple[ScriptedReply, str]] = {
    "bad key": (ScriptedReply(OUTSIDE, 401), "unauthorized (401)"),
    "rate limit": (ScriptedReply(OUTSIDE, 429), "rate limited (429)"),
    "plan": (ScriptedReply(OUTSIDE, 432), "plan's limit reached (432)"),
    "pay as you go": (ScriptedReply(OUTSIDE, 433), "pay-as-you-go limit reached (433)"),
    "broken": (ScriptedReply(OUTSIDE, 500), "search failed (500)"),
    "html": (ScriptedReply(b"<html>200</html>"), "unreadable answer"),
    "nothing": (ScriptedReply(b""), "unreadable answer"),
    "results that are none": (ScriptedReply({"results": "text"}), "unreadable answer"),
    "deep": (ScriptedReply(b"[" * 500_000), "unreadable answer"),
    "dropped": (ScriptedReply(drop=True), "connection failed"),
    "half": (ScriptedReply({"results": [PAGE]}, cut=True), "connection failed"),
}


@each_row(("reply", "reason"), FAILURES.values())
async def test_failures_have_our_names(reply: ScriptedReply, reason: str):
    with pytest.raises(ToolException) as raised:
        await search(reply)
    assert str(raised.value) == reason


@each_row(
    ("key", "url"), [("tvly-test", "http://127.0.0.1:9"), ("tvly-test", "no address"), ("two\nlines", "http://a")]
)
async def test_what_cannot_be_sent_has_our_name(key: str, url: str):
    with pytest.raises(ToolException, match=r"^connection failed$"):
        await build_search_tool(SecretStr(key), url).ainvoke({"query": "date"})


async def test_a_search_that_hangs_can_be_cancelled():
    with serve_script([ScriptedReply(delay_seconds=30)]) as server, pytest.raises(TimeoutError):
        await asyncio.wait_for(build_search_tool(KEY, server.url).ainvoke({"query": "date"}), 0.3)


async def test_our_own_secrets_are_redacted_last():
    with serve_script([ScriptedReply({"results": [PAGE]})]) as server:
        tool = build_search_tool(
            KEY,
            server.url,
            redact=lambda tree: tree if isinstance(tree, list) else tree.replace("hunter", "https://a.test/"),
        )
        await tool.ainvoke({"query": "date hunter fails"})
    assert server.requests[0].body["query"] == "date fails"


async def test_our_own_secrets_are_masked_in_what_is_found():
    page = PAGE | {"content": f"{'x' * 3_990} {MODEL}"}
    with serve_script([ScriptedReply({"results": [page]})]) as server:
        redact = SecretRedactor([MODEL]).redactor_for("web search")
        (found,) = (await build_search_tool(KEY, server.url, redact=redact).ainvoke({"query": "date"}))["results"]
    assert MODEL[:7] not in found["content"], "before it is cut"
