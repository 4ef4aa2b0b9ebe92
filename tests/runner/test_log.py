"""The Actions log: what it says, and that nothing in it is obeyed."""

import io
import sys
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given

from tests.runner.hostile import COMMANDS, TEXT
from tests.runner.real_runner import Obeyed, log_lines, obeyed
from triage.domain.run import ModelCall, Outcome, StepRecord, ToolExecution, Usage
from triage.ports import Journal
from triage.runner.guard import GuardedStream
from triage.runner.lines import PREFIX, LineWriter, inert_lines, one_line
from triage.runner.log import ActionsLog
from triage.runner.spoken import told

WHEN = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
STEP = StepRecord(
    step="critic",
    engine="model",
    model="gpt-4o",
    started_at=WHEN,
    offset_seconds=1.0,
    seconds=3.21,
    usage=Usage(input_tokens=1000, output_tokens=234, calls=1, usd=0.01234),
    outcome=Outcome.SUCCESS,
)
BY_RULES = STEP.model_copy(update={"engine": "rules", "model": None, "usage": Usage()})
FAILED = STEP.model_copy(
    update={"outcome": Outcome.TIMED_OUT, "error": "timed out", "usage": Usage(usd=None), "model": None}
)
TOOL = ToolExecution(
    tool="web_search",
    input_summary="::error::in",
    output_summary="::error::out",
    ms=1540,
    outcome=Outcome.FAILED,
    error="rate limited",
    started_at=WHEN,
)


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


class TestLines:
    def test_a_run(self) -> None:
        out, clock = io.StringIO(), Clock()
        log: Journal = ActionsLog(LineWriter(out), clock)
        log.started("critic")
        clock.seconds += 4
        for record in (STEP, BY_RULES, FAILED, TOOL):
            log.ended(record)
        clock.seconds += 3600
        log.note("The rest by rules.")
        log.folded("Analysis", "First.\n\nSecond.")
        assert log_lines(out.getvalue()) == [
            "| 00:00 critic started",
            "| 00:04 critic success in 3.2 s, 1,234 tokens, $0.0123, by gpt-4o",
            "| 00:04 critic success in 3.2 s, by rules",
            "| 00:04 critic timed out in 3.2 s, by model: timed out",
            "| 00:04 web_search failed in 1.5 s: rate limited",
            "| 60:04 The rest by rules.",
            "::group::Analysis",
            "| First.",
            "|",
            "| Second.",
            "::endgroup::",
        ]

    def test_a_step_that_asked_more_than_once_says_so(self) -> None:
        call = ModelCall(model="gpt-4o", mode="tools", started_at=WHEN, ms=800, outcome=Outcome.SUCCESS)
        assert told(STEP.model_copy(update={"calls": [call]})) == told(STEP)
        assert told(STEP.model_copy(update={"calls": [call] * 4})) == (
            "critic success in 3.2 s, 1,234 tokens in 4 requests, $0.0123, by gpt-4o"
        )

    def test_a_part_that_fell_short_is_named(self) -> None:
        short = STEP.model_copy(update={"shortfalls": ["ticket: rate limited; written by rules"]})
        assert told(short) == f"{told(STEP)}: ticket: rate limited; written by rules"

    @pytest.mark.parametrize("text", COMMANDS)
    def test_commands_are_words(self, text: str) -> None:
        out = io.StringIO()
        log = ActionsLog(LineWriter(out))
        log.started(text)
        log.note(text)
        log.ended(FAILED.model_copy(update={"error": text, "model": text}))
        assert obeyed(out.getvalue()) == []
        log.folded(text, text)
        assert [command.name for command in obeyed(out.getvalue())] == ["group", "endgroup"]

    @given(TEXT, TEXT)
    def test_any_text_is_words(self, title: str, text: str) -> None:
        out = io.StringIO()
        log = ActionsLog(LineWriter(out))
        log.note(text)
        log.folded(title, text)
        assert [command.name for command in obeyed(out.getvalue())] == ["group", "endgroup"]
        plain = [line for line in log_lines(out.getvalue()) if not line.startswith("::")]
        assert all(line.startswith(PREFIX.strip()) for line in plain)
        assert not {"\x1b", "\x00", "\x07", "\x9b", "\u202e"} & set(out.getvalue())

    @given(TEXT)
    def test_inert_text_stays_as_it_is(self, text: str) -> None:
        once = inert_lines(text)
        assert inert_lines("\n".join(once)) == once
        assert "\n" not in one_line(text)

    @pytest.mark.parametrize("shape", ["##[", "\r", "\x1b[", "::", "\x1b]", "\u200b", "\t", "😀"])
    def test_time_is_linear(self, shape: str) -> None:
        text = (shape * 65_536)[:65_536]
        started = time.perf_counter()
        inert_lines(text)
        assert time.perf_counter() - started < 0.25

    def test_a_stream_without_unicode(self) -> None:
        raw = io.BytesIO()
        stream = io.TextIOWrapper(raw, encoding="ascii", newline="")
        LineWriter(stream).write(["Größe 😀"])
        assert raw.getvalue() == b"Gr\\xf6\\xdfe \\U0001f600\n"


class TestMasks:
    def masks(self, *secrets: str) -> list[str]:
        out = io.StringIO()
        ActionsLog(LineWriter(out)).add_masks(secrets)
        assert {command.name for command in obeyed(out.getvalue())} <= {"add-mask"}
        return [command.data for command in obeyed(out.getvalue())]

    def test_each_once(self) -> None:
        assert self.masks("ghs_12345678", "sk-%25abcdef", "ghs_12345678") == ["ghs_12345678", "sk-%25abcdef"]

    def test_short_ones_would_blot_out_words(self) -> None:
        assert self.masks("", "1234567", "12345678") == ["12345678"]

    def test_lines_of_a_key_one_by_one(self) -> None:
        key = "-----BEGIN KEY-----\r\nMIIEvQIBADANBg\n}\n-----END KEY-----\n"
        assert self.masks(key) == ["-----BEGIN KEY-----", "MIIEvQIBADANBg", "-----END KEY-----"]


class TestGuard:
    def written(self, *pieces: str) -> str:
        out = io.StringIO()
        stream = GuardedStream(out)
        for piece in pieces:
            assert stream.write(piece) == len(piece)
        stream.finish()
        stream.finish()
        return out.getvalue()

    def test_lines_of_others_are_framed(self) -> None:
        assert self.written("one\ntwo\n") == "| one\n| two\n"

    def test_a_command_in_pieces(self) -> None:
        assert self.written(":", ":err", "or::x", "\n", "rest") == "| ::error::x\n| rest\n"

    def test_an_endless_line_is_passed_on(self) -> None:
        text = self.written(*["::error::" + "x" * 9_991] * 20)
        assert obeyed(text) == []
        assert text.count("\n") > 1

    @given(TEXT, TEXT)
    def test_nothing_is_obeyed(self, first: str, second: str) -> None:
        assert obeyed(self.written(first, second)) == []

    def test_it_stands_in_for_standard_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        out = io.StringIO()
        monkeypatch.setattr(sys, "stderr", GuardedStream(out))
        sys.stderr.writelines(["::add-mask::x", "\n"])
        sys.stderr.flush()
        assert out.getvalue() == "| ::add-mask::x\n"


def test_the_test_runner_does_obey() -> None:
    """The grammar above would catch a leak."""
    assert obeyed("x\r ::error::a%0Ab\nfoo ##[add-mask]b") == [Obeyed("error", "a\nb"), Obeyed("add-mask", "b")]
