"""The command line. Results go to standard output, progress and warnings to standard error.

Exit code 0: done, also when degraded; 1: an error, in one line; 2: wrong usage; 130 and 143: stopped by a signal.
"""

import os
import signal
import sys
from functools import partial
from importlib import import_module
from typing import Annotated, Any

import typer

from triage import __version__
from triage.base.errors import TriageError, WrongUsage, describe_os_error
from triage.base.os_signals import EXIT_CODES

COMMANDS = {
    "run": ("triage.app.terminal_commands", "Triage one issue and print the report."),
    "fix": (
        "triage.fix.fix_command",
        "Propose a fix for one issue. What you approve becomes a local branch; nothing is pushed.",
    ),
    "reproduce": (
        "triage.reproduce.reproduce_command",
        "Run the example of a report on the version that it names and on the current commit. Needs no model.",
    ),
    "backtest": (
        "triage.backtest.backtest_command",
        "Triage past issues on the commit before their fix, and count how often the triage was right.",
    ),
    "scorecard": (
        "triage.backtest.scorecard",
        "Count how often the comments on closed issues were right, by the fixes that closed them.",
    ),
    "backlog": (
        "triage.backlog.backlog_job",
        "Triage at most 1,000 issues of a repository, and print one ranked table. Without --github it goes on.",
    ),
    "locate": ("triage.app.terminal_commands", "Rank the files of a checkout for an issue given on standard input."),
    "read": (
        "triage.app.terminal_commands",
        "Print what a report says: its kind, version, error, traces, and what is missing. Needs no checkout.",
    ),
    "doctor": ("triage.app.doctor", "Check what is configured, what can be reached, and what is missing."),
}
"""The module of each command, and its line in the help: a module is imported only when its command is used."""


class LazyGroup(typer.core.TyperGroup):
    """Commands whose modules are imported when they are called. The help of all costs no import."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


def load_command(name: str) -> Any:
    """Return the command of this name."""
    function = getattr(import_module(COMMANDS[name][0]), name)
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    single.command(name)(function)
    return typer.main.get_command(single)


commands = typer.Typer(
    name="bug-triage",
    cls=LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text: a frame breaks words in a narrow terminal
    help="Triages a bug report: which file, why, how sure, what is missing. Works without any key.",
    epilog="Settings come from TRIAGE_* variables with the action's input names, such as TRIAGE_MODEL_API_KEY.",
)


def main() -> None:
    """Run the command line. An error is one line, never a traceback."""
    try:
        try:
            commands()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        os._exit(EXIT_CODES[signal.SIGINT])
    except SystemExit as exit_request:
        code = exit_request.code
        if isinstance(code, int) and code in EXIT_CODES.values():  # a normal exit waits for threads that are stuck
            os._exit(code)
        raise
    except TriageError as error:
        sys.stderr.write(f"bug-triage: {error}\n")
        raise SystemExit(2 if isinstance(error, WrongUsage) else 1) from None
    except BrokenPipeError:  # the reader has closed the pipe, such as `| head`
        _discard_output()
        raise SystemExit(141) from None
    except OSError as error:
        _discard_output()
        sys.stderr.write(f"bug-triage: the result cannot be written ({describe_os_error(error)})\n")
        raise SystemExit(1) from None


def _discard_output() -> None:
    # Otherwise Python tries once more to write its buffer as it exits.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@commands.callback(invoke_without_command=True)
def version(
    context: typer.Context,
    *,
    show: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    """Print the version."""
    context.obj = _open_examples
    if show:
        sys.stdout.write(f"bug-triage {__version__}\n")
        raise typer.Exit


def _open_examples(app: Any) -> Any:
    """What one feature has for another: the examples of reports, for `fix`."""
    from triage.reproduce.fix_example import open_fix_example

    return partial(open_fix_example, app.root, app.config.reproduce)
