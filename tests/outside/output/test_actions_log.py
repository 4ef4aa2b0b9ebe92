"""The Actions log: what it says, and that nothing in it is obeyed."""

import io
from datetime import UTC, datetime

from hypothesis import given

from testing.cost_growth import assert_grows_linearly
from testing.each_row import each_row
from testing.runner_grammar import log_lines, parse_commands
from testing.text.encoded_secrets import MODEL, encode_all, find_secrets
from tests.outside.output.hostile import TEXT
from triage.base.progress import ProgressLog
from triage.domain.run import ModelCall, Outcome, StepRecord, ToolExecution, Usage
from triage.outside.output.line_logs import PREFIX, ActionsLog, LineWriter, format_record, to_safe_line
from triage.safety.secrets.redactor import SecretRedactor

WHEN = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
STEP = StepRecord(
    step="critic",
    engine="model",
    model="gpt-4o",
    started_at=WHEN,
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
    arguments="::error::what",
    output_summary="::error::out",
    ms=1540,
    outcome=Outcome.FAILED,
    error="rate limited",
    started_at=WHEN,
)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


class TestLines:
    def test_a_run(self) -> None:
        out, clock = io.StringIO(), Clock()
        log: ProgressLog = ActionsLog(LineWriter(out), clock)
        log.log_start("critic")
        clock.seconds += 4
        for record in (STEP, BY_RULES, FAILED, TOOL):
            log.log_end(record)
        clock.seconds += 3600
        log.info("The rest by rules.")
        assert log_lines(out.getvalue()) == [
            "| 00:00 critic started",
            "| 00:04 critic success in 3.2 s, 1,234 tokens, $0.0123, by gpt-4o",
            "| 00:04 critic success in 3.2 s, by rules",
            "| 00:04 critic timed out in 3.2 s, by model: timed out",
            "| 00:04 web_search failed in 1.5 s: rate limited",
            "| 60:04 The rest by rules.",
        ]

    def test_a_step_that_asked_more_than_once_says_so(self) -> None:
        call = ModelCall(model="gpt-4o", mode="tools", started_at=WHEN, ms=800, outcome=Outcome.SUCCESS)
        assert format_record(STEP.model_copy(update={"calls": [call]})) == format_record(STEP)
        assert format_record(STEP.model_copy(update={"calls": [call] * 4})) == (
            "critic success in 3.2 s, 1,234 tokens in 4 requests, $0.0123, by gpt-4o"
        )

    def test_a_shortfall_is_named(self) -> None:
        short = STEP.model_copy(update={"shortfalls": ["ticket: rate limited; written by rules"]})
        assert format_record(short) == f"{format_record(STEP)}: ticket: rate limited; written by rules"

    @given(TEXT)
    def test_any_text_is_plain_text(self, text: str) -> None:
        out = io.StringIO()
        log = ActionsLog(LineWriter(out))
        log.log_start(text)
        log.info(text)
        log.log_end(FAILED.model_copy(update={"error": text, "model": text}))
        assert parse_commands(out.getvalue()) == []
        assert all(line.startswith(PREFIX.strip()) for line in log_lines(out.getvalue()))
        assert not {"\x1b", "\x00", "\x07", "\x9b", "\u202e"} & set(out.getvalue())

    @given(TEXT)
    def test_inert_text_stays_as_it_is(self, text: str) -> None:
        once = to_safe_line(text)
        assert to_safe_line(once) == once
        assert "\n" not in once

    @each_row("shape", ["##[", "\r", "\x1b[", "::", "\x1b]", "\u200b", "\t", "😀"])
    def test_time_is_linear(self, shape: str) -> None:
        assert_grows_linearly(lambda size: (shape * size)[:size], to_safe_line)

    def test_a_stream_without_unicode(self) -> None:
        raw = io.BytesIO()
        stream = io.TextIOWrapper(raw, encoding="ascii", newline="")
        LineWriter(stream).write(["Größe 😀"])
        assert raw.getvalue() == b"Gr\\xf6\\xdfe \\U0001f600\n"


class TestMasks:
    def masks(self, *secrets: str) -> list[str]:
        out = io.StringIO()
        ActionsLog(LineWriter(out)).add_masks(secrets)
        assert {command.name for command in parse_commands(out.getvalue())} <= {"add-mask"}
        return [command.data for command in parse_commands(out.getvalue())]

    def test_each_secret_once(self) -> None:
        assert self.masks("ghs_12345678", "a/b+c=d%e", "ghs_12345678") == ["ghs_12345678", "a/b+c=d%e"]

    def test_short_secrets_are_not_masked(self) -> None:
        assert self.masks("", "1234567") == []
        assert self.masks("12345678") == ["12345678"]

    def test_lines_of_a_key_one_by_one(self) -> None:
        key = "-----BEGIN KEY-----\r\nMIIEvQIBADANBg\n}\n-----END KEY-----\n"
        assert self.masks(key) == ["-----BEGIN KEY-----", "MIIEvQIBADANBg", "-----END KEY-----"]

    def test_a_key_is_no_command_of_another_name(self) -> None:
        assert self.masks("::stop-commands::x", "a]##[error]bc") == ["::stop-commands::x", "a]##[error]bc"]


def test_no_line_of_ours_holds_a_secret() -> None:
    out = io.StringIO()
    log = ActionsLog(LineWriter(out, SecretRedactor([MODEL]).redactor_for("log")))
    log.add_masks([MODEL])
    for form in encode_all(MODEL):
        log.info(f"It is {form} there.\nSecond")
    masks = [line for line in out.getvalue().splitlines() if line.startswith("::add-mask::")]
    logged = out.getvalue().removeprefix("\n".join(masks))
    assert find_secrets(logged) == []
    assert parse_commands(logged) == []
    assert MODEL in masks[0]
