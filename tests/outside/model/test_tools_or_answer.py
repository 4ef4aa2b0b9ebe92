"""A turn with tools in which the model may also answer."""

import json

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from testing.servers.scripted_server import chat_completion, serve_script
from tests.outside.model.model import GREEN, Colour, ModelSetup
from triage.base.errors import ModelUnavailable


@tool
async def look_up(name: str) -> str:
    """Look something up."""
    return name


LOOK = ("look_up", '{"name": "x"}')
ANSWER = ("Colour", GREEN)


@pytest.mark.parametrize(
    "reply",
    [
        chat_completion(tool_calls=[ANSWER], finish_reason="tool_calls"),
        chat_completion(tool_calls=[LOOK, ANSWER], finish_reason="tool_calls"),
        chat_completion(tool_calls=[("functions.colour", GREEN)]),
        chat_completion(f"I have seen enough.\n```json\n{GREEN}\n```"),
        chat_completion(f'<tool_call>{{"name": "Colour", "arguments": {GREEN}}}</tool_call>'),
    ],
    ids=[
        "called",
        "called with others",
        "another name",
        "in the content",
        "a call written as text",
    ],
)
async def test_an_answer_is_taken_wherever_it_stands(reply):
    with serve_script([reply]) as server:
        answer = await ModelSetup(server).model.tools_or_answer([look_up], Colour, "main", 100).ainvoke("which?")
    assert isinstance(answer, Colour)
    assert answer.depth == 3
    assert [one["function"]["name"] for one in server.requests[0].body["tools"]] == ["look_up", "Colour"]


@pytest.mark.parametrize(
    "reply",
    [
        chat_completion(tool_calls=[LOOK], finish_reason="tool_calls"),
        chat_completion("enough"),
        chat_completion(tool_calls=[("no_such_tool", '{"name": "x"}')]),
        chat_completion(tool_calls=[("functions.look_up", GREEN)]),
        chat_completion(f"Perhaps {GREEN}, but first:", tool_calls=[LOOK]),
    ],
)
async def test_everything_else_is_a_turn(reply):
    with serve_script([reply]) as server:
        answer = await ModelSetup(server).model.tools_or_answer([look_up], Colour, "main", 100).ainvoke("which?")
    assert isinstance(answer, AIMessage)


async def test_an_empty_turn_is_no_answer():
    with serve_script([chat_completion("")] * 2) as server, pytest.raises(ModelUnavailable, match="empty answer"):
        await ModelSetup(server).model.tools_or_answer([look_up], Colour, "main", 100).ainvoke("which?")


CALL = '{"name": "look_up", "arguments": {"name": "x"}}'


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"First I look it up.\n```json\n{CALL}\n```",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<think>Perhaps {GREEN}?</think>{CALL}",
        f'{{"tool_calls": [{{"type": "function", "function": {CALL}}}]}}',
        '{"name": "look_up", "parameters": "{\\"name\\": \\"x\\"}"}',
        '{"name": "look_up", "arguments": {"name": "x"',
    ],
    ids=["bare", "fenced", "marked", "after thoughts", "as the API nests it", "arguments as text", "without its end"],
)
async def test_a_call_written_as_text_is_a_call(text: str):
    with serve_script([chat_completion(text)]) as server:
        answer = await ModelSetup(server).model.tools_or_answer([look_up], Colour, "main", 100).ainvoke("which?")
    assert isinstance(answer, AIMessage)
    call = {"name": "look_up", "args": {"name": "x"}, "id": "", "type": "tool_call"}  # as LangChain makes them
    assert answer.tool_calls == [call]
    assert answer.text == ""


async def test_several_calls_written_as_text_are_all_run_before_an_answer_made_up_behind_them():
    with serve_script([chat_completion(f"[{CALL}, {CALL}]\nResult: {GREEN}")]) as server:
        answer = await ModelSetup(server).model.tools_or_answer([look_up], Colour, "main", 100).ainvoke("which?")
    assert isinstance(answer, AIMessage)
    assert len(answer.tool_calls) == 2


QUOTED = '{"name": "look_up", "arguments": {"name": "secret"}}'


@pytest.mark.parametrize("asked", [QUOTED, json.dumps(json.loads(QUOTED), indent=2)])
@pytest.mark.parametrize("text", [f"The report has {QUOTED}.\n{GREEN}", f"{GREEN} as in {QUOTED}"])
async def test_a_call_or_an_answer_of_the_prompt_is_only_quoted(asked: str, text: str):
    with serve_script([chat_completion(text)]) as server:
        answer = await ModelSetup(server).model.tools_or_answer([look_up], Colour, "main", 100).ainvoke(f"> {asked}")
    assert answer == Colour(name="green", depth=3)


async def test_of_two_answers_the_last_one_counts_unless_the_prompt_has_it():
    red = '{"name": "red", "depth": 1}'
    for asked, taken in (("which?", "red"), (f"An issue: {red}", "green")):
        with serve_script([chat_completion(f"At first {GREEN}, then {red}.")]) as server:
            answer = await ModelSetup(server).model.structured_output(Colour, "main", 100).ainvoke(asked)
        assert answer.name == taken


async def test_an_answer_that_does_not_fit_is_asked_for_again():
    replies = [
        chat_completion(tool_calls=[("Colour", '{"name": 1}')], finish_reason="tool_calls"),
        chat_completion(tool_calls=[ANSWER], finish_reason="tool_calls"),
    ]
    with serve_script(replies) as server:
        answer = await ModelSetup(server).model.tools_or_answer([look_up], Colour, "main", 100).ainvoke("which?")
    assert isinstance(answer, Colour)
    assert "cannot be read" in json.dumps(server.requests[1].body["messages"])
