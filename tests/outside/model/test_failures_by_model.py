"""A failure is one of the model that was asked: the other one answers, and one that keeps failing is left alone."""

from dataclasses import dataclass, field

import pytest

from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion, error_reply, serve_script
from tests.outside.model.model import GREEN, ModelSetup, asked_models, cancel_call, colour, measure
from triage.base.errors import ModelUnavailable
from triage.domain.findings import CodebaseFinding
from triage.domain.run import Limits
from triage.outside.model.model_errors import CUT_AT_LENGTH

MAIN, FAST, OTHER = "gpt-4o", "gpt-4o-mini", "gpt-4.1-nano"
PLENTY = Limits(tokens=10_000_000, usd=1_000)
PROSE = chat_completion("Green, I would say.")


@dataclass
class Failing:
    """The models that fail at the moment, and how."""

    reply: ScriptedReply = field(default_factory=lambda: error_reply(429))
    models: set[str] = field(default_factory=lambda: {MAIN})

    def __call__(self, request: ReceivedRequest) -> ScriptedReply:
        return self.reply if request.body["model"] in self.models else chat_completion(GREEN)


async def reason(setup: ModelSetup, prompt: str = "Which colour?") -> str:
    with pytest.raises(ModelUnavailable) as raised:
        await colour(setup.model, prompt)
    return raised.value.reason


FAILURES = {"busy": (error_reply(503), 3), "unauthorized": (error_reply(401), 1), "prose": (PROSE, 2)}


@pytest.mark.parametrize(("reply", "requests"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("fallback", ["", FAST], ids=["by default", "chosen"])
async def test_the_other_model_is_asked_after_every_failure(reply: ScriptedReply, requests: int, fallback: str):
    with serve_script(Failing(reply)) as server:
        assert (await colour(ModelSetup(server, PLENTY, fallback=fallback).model)).name == "green"
    assert asked_models(server) == [*[MAIN] * requests, FAST]


async def test_the_fast_model_has_the_main_one_behind_it_by_default():
    with serve_script(Failing(models={FAST})) as server:
        await ModelSetup(server, fallback="").model.with_tools([], "fast", 50).ainvoke("go")
    assert asked_models(server) == [FAST, FAST, FAST, MAIN]


@pytest.mark.parametrize(
    ("reply", "requests"), [(error_reply(429), 3), (chat_completion(""), 1), (chat_completion("{}"), 2)]
)
async def test_a_model_that_failed_is_asked_last_until_it_answers(reply: ScriptedReply, requests: int):
    failing = Failing(reply)
    with serve_script(failing) as server:
        model = ModelSetup(server, PLENTY).model
        for _ in range(2):
            await colour(model)
        failing.models = {FAST}
        for _ in range(2):
            assert (await colour(model)).name == "green"
    assert asked_models(server) == [*[MAIN] * requests, FAST, FAST, *[FAST] * requests, MAIN, MAIN]


async def test_a_slow_model_leaves_time_for_the_other_one():
    def script(request: ReceivedRequest) -> ScriptedReply:
        return ScriptedReply(delay_seconds=30) if request.body["model"] == MAIN else chat_completion(GREEN)

    with serve_script(script) as server:
        setup = ModelSetup(server, PLENTY)
        with measure(4) as meter:
            assert (await colour(setup.model)).name == "green"
    assert [(call.model, call.error) for call in meter.calls] == [(MAIN, "timed out"), (FAST, None)]


REPEATED = [error_reply(429), error_reply(503), ScriptedReply(drop=True), chat_completion(""), error_reply(400)]


@pytest.mark.parametrize("reply", REPEATED, ids=["429", "503", "dropped", "empty", "400"])
async def test_after_two_failed_calls_in_a_row_a_model_is_not_asked(reply: ScriptedReply):
    with serve_script([reply]) as server:
        setup = ModelSetup(server, PLENTY)
        with measure(600) as meter:
            first = await reason(setup)
            assert await reason(setup) == first
            requests = len(server.requests)
            assert await reason(setup) == f"not asked any more after 2 failed calls: {first}"
            with pytest.raises(ModelUnavailable, match="not asked any more"):
                await setup.model.with_tools([], "fast", 50).ainvoke("go")
    assert len(server.requests) == len(meter.calls) == requests, "what is not asked leaves no record"
    assert set(asked_models(server)) == {MAIN, FAST}


@pytest.mark.parametrize("fallback", ["", MAIN, OTHER])
async def test_a_model_that_only_writes_prose_is_paid_twice(fallback: str):
    with serve_script([PROSE]) as server:
        setup = ModelSetup(server, fallback=fallback)
        for _ in range(3):
            await reason(setup)
            with pytest.raises(ModelUnavailable):
                await setup.model.tools_or_answer([], CodebaseFinding, "main", 50).ainvoke("go")
    assert sorted(asked_models(server)) == sorted([MAIN, fallback or FAST] * 2 if fallback != MAIN else [MAIN] * 2)


async def test_an_endpoint_that_ignores_tools_and_schemas_is_asked_with_the_schema_in_the_prompt():
    def script(request: ReceivedRequest) -> ScriptedReply:
        return PROSE if {"tools", "response_format"} & request.body.keys() else chat_completion(GREEN)

    with serve_script(script) as server:
        model = ModelSetup(server).model
        await model.tools_or_answer([], CodebaseFinding, "main", 50).ainvoke("go")
        assert (await colour(model)).depth == 3
    assert asked_models(server) == [MAIN] * 3


@pytest.mark.parametrize("given", [chat_completion('{"places": []}'), chat_completion(tool_calls=[("look", "{}")])])
async def test_prose_of_a_model_that_has_answered_in_form_is_a_failed_call(given: ScriptedReply):
    with serve_script([given, PROSE]) as server:
        setup = ModelSetup(server, fallback=MAIN)
        await setup.model.tools_or_answer([], CodebaseFinding, "main", 50).ainvoke("go")
        await reason(setup)
        await reason(setup)
    assert len(server.requests) == 1 + 2 * 2


async def test_an_answer_begins_the_count_anew():
    failing = Failing(chat_completion(""), {MAIN, FAST})
    with serve_script(failing) as server:
        setup = ModelSetup(server)
        for models in ({MAIN, FAST}, set[str](), {MAIN, FAST}, set[str]()):
            failing.models = models
            if models:
                assert await reason(setup) == "empty answer"
            else:
                await colour(setup.model)
    assert asked_models(server) == [MAIN, FAST, MAIN, MAIN, FAST, MAIN]


@pytest.mark.parametrize(
    "reply", [chat_completion(tool_calls=[("look", "{}")]), chat_completion('{"error": "I cannot see it."}')]
)
async def test_a_model_that_never_answers_is_given_up_in_spite_of_what_it_asks_for(reply: ScriptedReply):
    failing = Failing(chat_completion(""), {MAIN})
    with serve_script(lambda request: reply if not failing.models else failing(request)) as server:
        setup = ModelSetup(server, fallback=MAIN)
        assert await reason(setup) == "empty answer"
        failing.models = set()
        asked = setup.model.tools_or_answer([], CodebaseFinding, "main", 50)
        await asked.ainvoke("go")
        failing.models = {MAIN}
        assert await reason(setup) == "empty answer"
        assert (await reason(setup)).startswith("not asked any more")
    assert len(server.requests) == 3


async def test_prompts_that_are_too_long_say_nothing_of_the_next_one():
    with serve_script([error_reply(400, "context_length_exceeded")]) as server:
        setup = ModelSetup(server)
        assert {await reason(setup) for _ in range(4)} == {"prompt too long for the model (400)"}


async def test_a_model_whose_answer_was_cut_for_good_is_not_paid_again():
    failing = Failing(chat_completion("Green. " * 9, finish_reason="length"), {MAIN, FAST})
    with serve_script(failing) as server:
        setup = ModelSetup(server)
        assert [await reason(setup) for _ in range(2)] == [CUT_AT_LENGTH] * 2
    assert asked_models(server) == [MAIN, FAST]


async def test_cancelled_calls_count():
    with serve_script([ScriptedReply(delay_seconds=30)]) as server:
        setup = ModelSetup(server, PLENTY, fallback=MAIN)
        for _ in range(2):
            await cancel_call(setup)
        assert await reason(setup) == "not asked any more after 2 failed calls: timed out"
    assert len(server.requests) == 2


async def test_another_model_is_asked_as_before():
    with serve_script(Failing()) as server:
        model = ModelSetup(server, fast=OTHER).model
        await colour(model)
        await model.with_tools([], "fast", 50).ainvoke("go")
    assert asked_models(server) == [*[MAIN] * 3, FAST, OTHER]
