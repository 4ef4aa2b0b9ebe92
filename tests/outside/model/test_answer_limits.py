"""Answers that never end, or that are nested so deeply that no parser reads them."""

import gzip
import json

import pytest

from testing.servers.endless_body import EndlessBody
from testing.servers.scripted_server import ScriptedReply, chat_completion, serve_script
from tests.outside.model.model import ModelSetup, colour, measure
from triage.base.errors import ModelUnavailable
from triage.domain.run import Outcome
from triage.outside.model.endpoint import MAX_CHAT_BYTES, MAX_SYNC_BYTES, check_endpoint

BUFFERS = 16_000_000
"""What the connection holds that nobody has read."""
DEPTHS = [300, 900, 100_000]
"""Below and above what the parsers of the SDK, of Python and of pydantic take."""


@pytest.mark.parametrize("status", [200, 400, 500])
async def test_no_more_than_8_megabytes_of_an_answer_are_read(status: int):
    body = EndlessBody()
    with serve_script([ScriptedReply(body, status)]) as server:
        setup = ModelSetup(server, fallback="gpt-4o")
        with measure(60) as meter, pytest.raises(ModelUnavailable) as caught:
            await colour(setup.model)
    assert caught.value.reason == "answer larger than 8 MB (check model-base-url)"
    assert abs(body.sent_bytes - MAX_CHAT_BYTES) < BUFFERS
    assert len(server.requests) == 1, "the next answer would be as long"
    assert [(call.outcome, call.estimated) for call in meter.calls] == [(Outcome.FAILED, True)], "it may be billed"
    assert setup.budget.usage.input_tokens > 0


async def test_the_limit_counts_what_was_compressed():
    body = EndlessBody(gzipped=True)
    with serve_script([ScriptedReply(body)]) as server, pytest.raises(ModelUnavailable, match="larger than 8 MB"):
        await colour(ModelSetup(server).model)
    assert server.requests[0].headers["accept-encoding"] == "identity"


async def test_a_compressed_answer_is_read_all_the_same():
    whole = json.dumps(chat_completion('{"name": "green", "depth": 3}').body).encode()
    reply = ScriptedReply(gzip.compress(whole), headers={"content-encoding": "gzip"})
    with serve_script([reply]) as server:
        assert (await colour(ModelSetup(server).model)).name == "green"


@pytest.mark.parametrize("gzipped", [False, True])
def test_no_more_than_16_megabytes_of_vectors_are_read(gzipped: bool):
    body = EndlessBody(gzipped=gzipped)
    with serve_script([ScriptedReply(body)]) as server, pytest.raises(ModelUnavailable, match="larger than 16 MB"):
        ModelSetup(server).embeddings().embed_query("x")
    assert body.sent_bytes < MAX_SYNC_BYTES + BUFFERS


def test_the_list_of_models_has_a_limit_too():
    with serve_script([ScriptedReply(EndlessBody())]) as server:
        setup = ModelSetup(server)
        with pytest.raises(ModelUnavailable):
            check_endpoint(setup.endpoint, ["gpt-4o"])


def nest(depth: int) -> str:
    return '{"name":' * depth + "1" + "}" * depth


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("where", ["whole", "usage", "content", "message", "error"])
async def test_a_nested_answer_is_an_unreadable_one(depth: int, where: str):
    text = json.dumps(chat_completion("PLACE").body)
    bodies = {
        "whole": nest(depth),
        "usage": text.replace('"total_tokens": 120', f'"total_tokens": {nest(depth)}'),
        "content": text.replace("PLACE", nest(depth).replace('"', '\\"')),
        "message": text.replace('"PLACE"', nest(depth)),
        "error": f'{{"error": {nest(depth)}}}',
    }
    with serve_script([ScriptedReply(bodies[where].encode(), 400 if where == "error" else 200)]) as server:
        setup = ModelSetup(server)
        with pytest.raises(ModelUnavailable):
            await colour(setup.model)


@pytest.mark.parametrize("depth", DEPTHS)
async def test_nested_arguments_of_a_tool_are_an_unreadable_answer_or_arguments(depth: int):
    reply = chat_completion(tool_calls=[("find_symbol", nest(depth))])
    with serve_script([reply]) as server:
        try:
            message = await ModelSetup(server).model.with_tools([], "main", 50).ainvoke("Look.")
        except ModelUnavailable:
            return
    assert len(message.tool_calls) + len(message.invalid_tool_calls) == 1


@pytest.mark.parametrize("depth", DEPTHS)
def test_nested_vectors_are_unreadable(depth: int):
    body = b'{"object":"list","model":"m","data":' + b"[" * depth + b"]" * depth + b"}"
    with serve_script([ScriptedReply(body)]) as server, pytest.raises(ModelUnavailable, match="unreadable reply"):
        ModelSetup(server).embeddings().embed_query("x")
