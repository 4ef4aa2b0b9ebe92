"""Plain text and free JSON as models send them: behind thoughts, or by a call that nobody asked for."""

import pytest

from testing.servers.scripted_server import chat_completion, serve_script
from tests.model.model import ModelSetup
from triage.base.errors import ModelUnavailable
from triage.model.lenient_json import strip_thinking


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Why: x", "Why: x"),
        ("<think>No.</think>Why: x", "Why: x"),
        ("<Thinking>\nNo. `</think>`\n</Thinking>\n\nWhy: x", "\n\nWhy: x"),
        ("No.\n</think>\nWhy: x", "\nWhy: x"),
        ("<think>a</think><think>b</think>Why: x", "Why: x"),
        ("<think>No end", ""),
        ("Why: `<think>` and `</think>` stay", "Why: `<think>` and `</think>` stay"),
        ("Why: it prints <think> here", "Why: it prints <think> here"),
    ],
)
def test_thoughts_are_no_part_of_a_text(text: str, rest: str):
    assert strip_thinking(text) == rest


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (chat_completion("<think>Hm.</think>\nWhy: x"), "Why: x"),
        (chat_completion(tool_calls=[("comment", '{"text": "Why: x"}')]), "Why: x"),
        (chat_completion(tool_calls=[("comment", '{"why": "x", "check": "y"}')]), '{"why": "x", "check": "y"}'),
    ],
)
async def test_a_text_is_taken_wherever_it_stands(reply, text: str):
    with serve_script([reply]) as server:
        assert await ModelSetup(server).model.text_output("main", 50).ainvoke("go") == text


async def test_thoughts_alone_are_no_text():
    with serve_script([chat_completion("<think>Hm.</think>")]) as server:
        chain = ModelSetup(server).model.text_output("main", 50)
        with pytest.raises(ModelUnavailable, match="empty answer"):
            await chain.ainvoke("go")
