"""The search door against a real HTTP server."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import ToolException
from pydantic import SecretStr

from tests.endpoint import Reply, serving
from triage.web.search import MAX_QUERY_CHARS, plain_query, search_tool

PAGE = {"title": "Dates", "url": "https://docs.test/date", "content": "out of range", "score": 0.9, "raw_content": "x"}


async def search(reply: Reply, query: str = "date out of range") -> tuple[Any, dict[str, Any]]:
    with serving([reply]) as server:
        tool = search_tool(SecretStr("tvly-test"), server.url)
        try:
            answer = await tool.ainvoke({"query": query})
        finally:
            asked = server.requests[0] if server.requests else None
    assert asked is not None
    assert asked.headers["authorization"] == "Bearer tvly-test"
    return answer, asked.body


async def test_pages_come_back_with_title_address_and_text_only():
    answer, asked = await search(Reply({"query": "q", "results": [PAGE], "answer": "words", "images": ["x"]}))
    assert answer == {"results": [{key: PAGE[key] for key in ("title", "url", "content")}]}
    assert asked["query"] == "date out of range"
    assert asked["max_results"] == 5
    assert asked["search_depth"] == "advanced"


async def test_nothing_found_is_no_error():
    answer, _ = await search(Reply({"query": "q", "results": []}))
    assert answer == {"results": []}


async def test_a_model_can_say_nothing_but_the_query():
    tool = search_tool(SecretStr("tvly-test"), "http://127.0.0.1:9")
    assert list(tool.args) == ["query"]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply({"detail": {"error": "words from outside"}}, 401), "unauthorized (401)"),
        (Reply({"detail": {"error": "words from outside"}}, 429), "rate limited (429)"),
        (Reply({"detail": {"error": "words from outside"}}, 432), "plan's limit reached (432)"),
        (Reply({"detail": {"error": "words from outside"}}, 500), "search failed (500)"),
        (Reply(b"<html>502</html>", 502), "search failed"),
        (Reply(b"<html>200</html>"), "search failed"),
        (Reply(drop=True), "search failed"),
    ],
)
async def test_failures_have_our_names(reply: Reply, reason: str):
    with pytest.raises(ToolException, match="^" + reason.replace("(", r"\(").replace(")", r"\)")) as raised:
        await search(reply)
    assert "outside" not in str(raised.value)


@pytest.mark.parametrize("results", ["text", [1, None], [{"url": "javascript:alert(1)"}], [{"title": "no url"}]])
async def test_odd_results_are_dropped(results: Any):
    try:
        answer, _ = await search(Reply({"results": results}))
    except ToolException:
        return
    assert answer == {"results": []}


async def test_five_megabytes_are_cut():
    answer, _ = await search(Reply({"results": [PAGE | {"content": "x" * 5_000_000}]}))
    assert len(answer["results"][0]["content"]) == 4_000


@given(st.text(max_size=500))
def test_what_leaves_is_short_printable_and_without_addresses(query: str):
    left = plain_query(query)
    assert len(left) <= MAX_QUERY_CHARS
    assert left.isprintable()
    assert "://" not in left or "http" not in left
    assert plain_query(left) == left


def test_a_bare_scheme_stays_at_home_too():
    assert plain_query("see http:// there") == "see there"


def test_addresses_stay_at_home():
    assert plain_query("fails at https://intern.corp/x?token=1 for bob@corp.test\nsee\x00") == "fails at for see"
