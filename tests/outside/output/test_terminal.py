"""The terminal: progress on standard error, results stored for the command line."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from testing.text.encoded_secrets import GITHUB, KEYS
from tests.outside.output.test_actions_log import BY_RULES, FAILED, STEP, TOOL, Clock
from triage.base.errors import BadInput
from triage.base.progress import ProgressLog
from triage.outside.output.terminal import TerminalOutput, TerminalProgress
from triage.safety.secrets.redactor import OWN_SECRET_PLACEHOLDER, SecretRedactor

MASK = SecretRedactor(KEYS)


def console(*, tty: bool = False) -> Console:
    return Console(
        file=io.StringIO(), width=200, force_terminal=tty, highlight=False, markup=False, emoji=False, soft_wrap=True
    )


def text(of: Console) -> str:
    assert isinstance(of.file, io.StringIO)
    return of.file.getvalue()


class TestRunner:
    def test_annotations_are_lines(self) -> None:
        out = console()
        TerminalOutput(MASK, console=out).annotate("warning", "[bold]50%[/bold]\n:smile: \x1b[31mred")
        assert text(out) == "warning: [bold]50%[/bold] :smile: red\n"

    def test_our_secrets_are_masked(self, tmp_path: Path) -> None:
        out = console()
        output = TerminalOutput(MASK, tmp_path / "report.json", out)
        output.annotate("warning", f"Fix {GITHUB}")
        output.write_report(f'"{GITHUB}"')
        report = (tmp_path / "report.json").read_text(encoding="utf-8")
        assert report == f'"{OWN_SECRET_PLACEHOLDER}"'
        assert text(out) == f"warning: Fix {OWN_SECRET_PLACEHOLDER}\n"

    def test_a_path_that_cannot_be_written(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"^The report cannot be written to this path: is a directory\.$"):
            TerminalOutput(MASK, tmp_path, console()).write_report("{}")

    def test_progress_is_on_standard_error(self, capsys: pytest.CaptureFixture[str]) -> None:
        TerminalOutput(MASK).annotate("notice", "hello")
        assert capsys.readouterr() == ("", "notice: hello\n")


class TestJournal:
    def test_plain_lines_without_a_terminal(self) -> None:
        out, clock = console(), Clock()
        with TerminalProgress(out, clock, verbose=True) as opened:
            progress: ProgressLog = opened
            progress.log_start("critic")
            clock.seconds += 4
            progress.log_end(STEP)
            progress.log_end(FAILED)
            progress.log_end(TOOL)
            progress.detail("Decision 1")
            progress.info("[red]The rest[/red]")
        assert text(out).splitlines() == [
            "00:00 critic started",
            "00:04 critic success in 3.2 s, 1,234 tokens, $0.0123, by gpt-4o",
            "00:04 critic timed out in 3.2 s, by model: timed out",
            "00:04 web_search failed in 1.5 s: rate limited",
            "00:04 Decision 1",
            "00:04 [red]The rest[/red]",
        ]

    def test_a_moving_line_on_a_terminal(self) -> None:
        out = console(tty=True)
        with TerminalProgress(out, verbose=True) as progress:
            progress.log_start("critic")
            progress.log_start("web_search")
            progress.log_end(TOOL)
            progress.log_end(BY_RULES)
            progress.log_start("writer")
        output = text(out)
        assert "critic success in 3.2 s, by rules" in output
        assert "critic started" not in output
        assert output.rfind("\x1b[?25h") > output.rfind("\x1b[?25l")  # the cursor is given back

    @pytest.mark.parametrize("tty", [True, False])
    def test_steps_and_decisions_are_shown_only_if_verbose(self, *, tty: bool) -> None:
        out = console(tty=tty)
        with TerminalProgress(out) as progress:
            progress.log_start("critic")
            progress.log_end(FAILED)
            progress.detail("Decision 1 by rules: writer")
            progress.info("Telemetry not sent.")
        output = text(out)
        assert "Telemetry not sent." in output
        assert "Decision" not in output
        assert "timed out" not in output
        assert ("critic" in output) is tty  # in the line that changes

    def test_a_terminal_shows_at_once_that_something_runs(self) -> None:
        out = console(tty=True)
        with TerminalProgress(out):
            pass
        assert "loading" in text(out)

    @pytest.mark.parametrize("tty", [True, False])
    def test_a_command_without_agents_names_its_own_step(self, *, tty: bool) -> None:
        out = console(tty=tty)
        with TerminalProgress(out) as progress:
            progress.log_step("building 2.4.1")
            progress.log_step("running on main, 1 of 2")
        assert "running on main, 1 of 2" in text(out)
        assert tty or "building 2.4.1\n" in text(out), "a line each where no line can change"
        assert "building 2.4.1, running" not in text(out)

    def test_the_cursor_comes_back_after_an_error(self) -> None:
        out = console(tty=True)

        def fail() -> None:
            with TerminalProgress(out) as progress:
                progress.log_start("critic")
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        assert text(out).rfind("\x1b[?25h") > text(out).rfind("\x1b[?25l")
