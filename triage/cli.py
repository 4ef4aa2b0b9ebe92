"""The command line. Results go to standard output, progress and warnings to standard error.

Exit code 0: done, also when degraded; 1: an error, in one line; 2: wrong usage; 130 and 143: stopped by a signal.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from triage import __version__, threads, wiring
from triage.doctor import Check, run_checks
from triage.domain.code import SearchQuery
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.errors import BadInput, TriageError
from triage.events.issue_option import MAX_BYTES, is_url, parse_issue_lines, parse_issue_text, parse_issue_url
from triage.flows.export_telemetry import export_telemetry
from triage.ports import ProgressLog, Services
from triage.publish.comment import preview_comment
from triage.publish.plan_effects import dump_report
from triage.settings import find_unknown_variables
from triage.wiring import RunSetup

app = typer.Typer(
    name="bug-triage",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain text: a frame breaks words in a narrow terminal
    help="Triages a bug report: which file, why, how sure, what is missing. Works without any key.",
    epilog="Settings come from TRIAGE_* variables with the action's input names, such as TRIAGE_MODEL_API_KEY.",
)

EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
"""Exit codes after a signal, as shells have them. Typer makes the first one of a KeyboardInterrupt."""

MAX_INVALID_SHARE = 0.1
"""A file with a larger share of invalid characters is not taken for text. Single ones are normal in pasted logs."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Repo = Annotated[Path, typer.Option(help="Checkout to search.")]


def main() -> None:
    """Run the command line. An error is one line, never a traceback."""
    try:
        try:
            app()
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
        raise SystemExit(1) from None
    except BrokenPipeError:  # the reader has closed the pipe, such as `| head`
        _discard_output()
        raise SystemExit(141) from None
    except OSError as error:
        _discard_output()
        reason = (error.strerror or "unknown reason").lower()
        sys.stderr.write(f"bug-triage: the result cannot be written ({reason})\n")
        raise SystemExit(1) from None


def _discard_output() -> None:
    # Otherwise Python tries once more to write its buffer as it exits.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@app.callback(invoke_without_command=True)
def version(
    *, show: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False
) -> None:
    """Print the version."""
    if show:
        sys.stdout.write(f"bug-triage {__version__}\n")
        raise typer.Exit


@app.command()
def run(
    issue: Annotated[
        str,
        typer.Option(
            help="A file (Markdown or GitHub's JSON), - for standard input, an issue's URL, or a number with --github."
        ),
    ],
    repo: Repo = Path(),
    github: Annotated[str, typer.Option(help="owner/name of the issue's repository.")] = "",
    engine: Annotated[str | None, typer.Option(help="model, rules, or auto.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write the JSON report to this file.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every step and decision.")] = False,
    as_json: Json = False,
) -> None:
    """Triage one issue and print the report."""
    runner, progress = wiring.open_terminal(report, verbose=verbose)
    setup = _open_setup(repo, progress, engine)
    issue_slug, number = _parse_issue_option(issue, github, setup.environment.server_url)
    setup = replace(setup, repository=issue_slug or github or setup.repository)
    event_issue = _fetch_issue(setup, number) if number else _read_issue_file(issue)
    for warning in _list_warnings(setup):
        runner.annotate("warning", warning)
    with progress:
        services = wiring.open_services(setup.with_project_config())
        server_url = setup.environment.server_url if issue_slug or github else ""
        repository = Repository(slug=setup.repository, server_url=server_url)
        event_issue = setup.redactor.redact_model("issue", event_issue)
        result, stopped_by = threads.run_event_loop(_triage(event_issue, repository, services))
    if result.index and result.index.dirty:
        runner.annotate("notice", "The work tree has uncommitted changes. The last commit was searched.")
    result = preview_comment(setup.redactor.redact_model("report", result), setup.settings.policy())
    if setup.redactor.warning:
        runner.annotate("warning", setup.redactor.warning)
    text = dump_report(result)
    _print(result, text, as_json=as_json)
    runner.write_report(text)
    if stopped_by:
        raise SystemExit(EXIT_CODES[stopped_by])
    asyncio.run(export_telemetry(result, services, asyncio.Event()))


def _open_setup(repo: Path, progress: ProgressLog, engine: str | None = None) -> RunSetup:
    if not repo.is_dir():
        raise BadInput(f"--repo: {repo} is not a folder.")
    root = repo.resolve()
    return RunSetup.from_terminal(os.environ, root, wiring.find_repository_name(root), progress, engine)


def _list_warnings(setup: RunSetup) -> list[str]:
    return [*find_unknown_variables(os.environ), *setup.settings.warnings, *setup.environment.warnings]


def _parse_issue_option(issue: str, github: str, server_url: str) -> tuple[str, int]:
    """The issue's repository if it is named, and its number; 0 for a file."""
    if is_url(issue):
        slug, number = parse_issue_url(issue, server_url)
        if github and github.lower() != slug.lower():
            raise BadInput(f"--github {github} contradicts --issue, which leads to {slug}.")
        return slug, number
    digits = issue.removeprefix("#")
    if not (digits.isascii() and digits.isdigit()) or Path(issue).exists():
        return "", 0
    if not github:
        raise BadInput(f"--issue {issue} is a number: name its repository with --github owner/name, or give its URL.")
    return github, int(digits)


def _fetch_issue(setup: RunSetup, number: int) -> Issue:
    issue = wiring.build_github(setup).fetch_issue(number)
    if issue.is_pull_request:
        raise BadInput(f"--issue: #{number} is a pull request; only issues can be triaged.")
    return issue


def _read_issue_file(name: str) -> Issue:
    return parse_issue_text(_read_text(name, MAX_BYTES))


def _read_text(name: str, max_bytes: int = -1) -> str:
    # One byte more than allowed: `parse_issue_text` refuses it, and an endless file does not fill the memory.
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb") as file:
            data = file.read(max_bytes + 1 if max_bytes >= 0 else -1)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise BadInput(f"{name} cannot be read ({reason}).") from None
    text = data.decode("utf-8-sig", "replace")
    if text.count("\ufffd") + text.count("\0") > len(text) * MAX_INVALID_SHARE:
        raise BadInput("The issue is not a text. Give Markdown, plain text or GitHub's JSON, in UTF-8.")
    return text


async def _triage(issue: Issue, repository: Repository, services: Services) -> tuple[RunReport, signal.Signals | None]:
    from triage.graph.run_graph import run_graph

    cancelled = asyncio.Event()
    loop = asyncio.get_running_loop()
    received: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        if received:  # the second signal ends the process without a report
            raise KeyboardInterrupt
        received.append(number)
        cancelled.set()

    with contextlib.suppress(NotImplementedError):  # event loops of Windows have no signal handlers
        for number in EXIT_CODES:
            loop.add_signal_handler(number, stop, number)
    report = await run_graph(issue, repository, services, cancelled)
    return report, received[0] if received else None


def _print(result: RunReport, text: str, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(text + "\n")
        return
    from triage.publish.terminal_page import render_terminal_page

    Console(highlight=False, markup=False, emoji=False).print(render_terminal_page(result), crop=False)


@app.command()
def locate(
    repo: Annotated[Path, typer.Argument(help="Checkout to search.")],
    limit: Annotated[int, typer.Option(help="How many files at most.", min=1, max=1000)] = 50,
    as_json: Json = False,
) -> None:
    """Rank the files of a checkout for an issue given on standard input."""
    from triage.reading.read_issue import read_issue

    issue = _read_issue_file("-")
    runner, progress = wiring.open_terminal(None)
    setup = _open_setup(repo, progress).with_project_config()
    for warning in find_unknown_variables(os.environ):
        runner.annotate("warning", warning)
    codebase = wiring.build_local_codebase(setup)
    started = time.perf_counter()
    cache_problem = codebase.index().cache
    indexed = time.perf_counter()
    if cache_problem:
        runner.annotate("warning", cache_problem)
    files = [hit.path for hit in codebase.search(SearchQuery(reading=read_issue(issue)), limit)]
    ended = time.perf_counter()
    if as_json:
        seconds = {"index_seconds": round(indexed - started, 3), "query_seconds": round(ended - indexed, 3)}
        sys.stdout.write(json.dumps({"files": files, **seconds}) + "\n")
        return
    sys.stdout.write("".join(f"{path}\n" for path in files))
    if not files:
        runner.annotate("notice", "No file of the checkout has a word in common with the issue.")


@app.command()
def read(
    file: Annotated[str, typer.Argument(help="Markdown or GitHub's JSON, or - for standard input.")] = "-",
    lines: Annotated[bool, typer.Option("--lines", help="Read a JSON object with title and body per line.")] = False,
    kind_only: Annotated[bool, typer.Option("--kind-only", help="Print bug, feature or question.")] = False,
    as_json: Json = False,
) -> None:
    """Print what a report says: its kind, version, error, traces, and what is missing. Needs no checkout."""
    from triage.publish.reading_page import dump_summary, format_summary, name_kind

    if lines:
        for issue, repo in parse_issue_lines(_read_text(file)):
            sys.stdout.write((name_kind(issue) if kind_only else dump_summary(issue, repo)) + "\n")
        return
    issue = _read_issue_file(file)
    if kind_only:
        sys.stdout.write(name_kind(issue) + "\n")
    else:
        sys.stdout.write(dump_summary(issue, indent=2) + "\n" if as_json else format_summary(issue))


_MARKS = {"ok": ("✓", "green"), "missing": ("–", "yellow"), "broken": ("✗", "bold red")}


@app.command()
def doctor(
    repo: Repo = Path(),
    github: Annotated[str, typer.Option(help="owner/name of a repository to try the token on.")] = "",
    as_json: Json = False,
) -> None:
    """Check what is configured, what can be reached, and what is missing."""
    runner, progress = wiring.open_terminal(None)
    setup = _open_setup(repo, progress)
    for warning in _list_warnings(setup):
        runner.annotate("warning", warning)
    checks = run_checks(replace(setup, repository=github or setup.repository), github)
    if as_json:
        found = {
            name: {"ok": check.state != "broken", "configured": check.state != "missing", "detail": check.detail}
            for name, check in checks.items()
        }
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
    else:
        _print_checks(checks)
    if any(check.state == "broken" for check in checks.values()):
        raise SystemExit(1)


def _print_checks(checks: dict[str, Check]) -> None:
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    for name, check in checks.items():
        mark, style = _MARKS[check.state]
        console.print(f"{mark} ", style=style, end="")
        console.print(f"{name.replace('_', ' ')}: {check.detail}")
