"""Root: the same work at a terminal. Results go to standard output, progress to standard error.

Exit code 0: done, also when degraded; 1: the person at the terminal must mend something; 2: wrong usage; 130 and 143:
stopped.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from triage import __version__, threads, wiring
from triage.domain.code import SearchQuery
from triage.domain.issue import Issue, Repository
from triage.domain.report import RunReport
from triage.errors import BadInput, TriageError
from triage.events.issue_text import parse_issue_text
from triage.flows.doctor import Check, run_checks
from triage.flows.export_telemetry import export_telemetry
from triage.ports import Services
from triage.publish.json_schema import dump_report
from triage.secrets.redactor import SecretRedactor
from triage.settings import RunnerEnvironment, Settings, collect_own_secrets

app = typer.Typer(
    name="triage",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Triages a bug report: which file, why, how sure, what is missing. Works without any key.",
    epilog="Settings come from TRIAGE_* variables with the action's input names, such as TRIAGE_MODEL_API_KEY.",
)

EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
"""Exit codes after a signal, as shells have them; Typer makes the first of a KeyboardInterrupt."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def main() -> None:
    """Run the command line; a person's mistake is one line, never a traceback."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        os._exit(EXIT_CODES[signal.SIGINT])
    except SystemExit as ending:
        for code in EXIT_CODES.values():
            if ending.code == code:  # an ordinary end would wait for threads that are stuck
                os._exit(code)
        raise
    except TriageError as error:
        sys.stderr.write(f"triage: {error}\n")
        raise SystemExit(1) from None
    except BrokenPipeError:  # `| head`: the reader has enough
        _discard_output()
        raise SystemExit(141) from None
    except OSError as error:
        _discard_output()
        sys.stderr.write(f"triage: the result cannot be written ({(error.strerror or 'unknown reason').lower()})\n")
        raise SystemExit(1) from None


def _discard_output() -> None:
    """What is still held cannot be written, and Python must not try again when it leaves."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@app.callback(invoke_without_command=True)
def version(
    *, show: Annotated[bool, typer.Option("--version", help="Print the version and leave.", is_eager=True)] = False
) -> None:
    """Print the version."""
    if show:
        sys.stdout.write(f"bug-triage {__version__}\n")
        raise typer.Exit


@app.command()
def run(
    issue: Annotated[str, typer.Option(help="File (Markdown or GitHub's JSON), `-` for standard input, or a number.")],
    repo: Annotated[Path, typer.Option(help="Checkout to search.")] = Path(),
    github: Annotated[str, typer.Option(help="`owner/name`, to read an issue by its number.")] = "",
    engine: Annotated[str | None, typer.Option(help="`model`, `rules`, or `auto`.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write the JSON report to this file.")] = None,
    as_json: Json = False,
) -> None:
    """Triage one issue and print the report."""
    settings = Settings.from_terminal(os.environ, engine=engine)
    place = RunnerEnvironment.read(os.environ)
    way_out = SecretRedactor(collect_own_secrets(os.environ))
    found = way_out.redact_model("issue", _read_issue(issue, github, settings, place))
    slug = github or repo.resolve().name
    runner, journal = wiring.open_terminal(report)
    for warning in [*settings.warnings, *place.warnings]:
        runner.annotate("warning", warning)
    with journal:
        services = wiring.build_services(
            settings,
            journal,
            _resolve_folder(repo),
            slug,
            config=wiring.read_project_config(settings, _resolve_folder(repo)),
            tavily_base_url=place.tavily_base_url,
            network=place.network,
            collector=place.collector,
            way_out=way_out,
        )
        where = Repository(slug=slug, server_url=place.server_url if github else "")
        result, stopped = threads.run_event_loop(_triage(found, where, services))
    if result.index and result.index.dirty:
        runner.annotate("notice", "The work tree has changes that are not committed; the last commit was searched.")
    result = way_out.redact_model("report", result)
    if way_out.warning:
        runner.annotate("warning", way_out.warning)
    text = dump_report(result)
    _print(result, text, as_json=as_json)
    runner.write_report(text)
    if stopped:
        raise SystemExit(EXIT_CODES[stopped])
    asyncio.run(export_telemetry(result, services, asyncio.Event()))


async def _triage(issue: Issue, where: Repository, services: Services) -> tuple[RunReport, signal.Signals | None]:
    from triage.graph.run_graph import run_graph

    cancelled = asyncio.Event()
    loop = asyncio.get_running_loop()

    received: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        """The first time a report of what is known by then, the second time nothing more."""
        if received:
            raise KeyboardInterrupt
        received.append(number)
        cancelled.set()

    with contextlib.suppress(NotImplementedError):  # Windows' loops have no signal handlers: Ctrl-C ends without report
        for number in EXIT_CODES:
            loop.add_signal_handler(number, stop, number)
    report = await run_graph(issue, where, services, cancelled)
    return report, received[0] if received else None


def _print(result: RunReport, text: str, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(text + "\n")
        return
    from triage.publish.terminal_page import render_terminal_page

    Console(highlight=False, markup=False, emoji=False).print(render_terminal_page(result))


def _resolve_folder(repo: Path) -> Path:
    if not repo.is_dir():
        raise BadInput(f"--repo: {repo} is not a folder.")
    return repo.resolve()


def _read_issue(named: str, github: str, settings: Settings, place: RunnerEnvironment) -> Issue:
    if named == "-":
        return parse_issue_text(_decode(sys.stdin.buffer.read()))
    if named.lstrip("#").isascii() and named.lstrip("#").isdigit() and not Path(named).exists():
        if not github:
            raise BadInput(f"--issue {named} is a number: say where with --github owner/name.")
        return wiring.build_github(settings, github, place.api_url, place.network).fetch_issue(int(named.lstrip("#")))
    try:
        return parse_issue_text(_decode(Path(named).read_bytes()))
    except OSError as error:
        raise BadInput(f"--issue: {named} cannot be read ({error.strerror}).") from None


_MAX_ODD_SHARE = 0.1
"""Share of characters that are none, from which on a file is taken for something else."""


def _decode(data: bytes) -> str:
    """Text of an issue. Raises BadInput for what is no text; single odd bytes are normal in pasted logs."""
    text = data.decode("utf-8-sig", "replace")
    if text.count("\ufffd") + text.count("\0") > len(text) * _MAX_ODD_SHARE:
        raise BadInput("The issue is not a text. Give Markdown, plain text or GitHub's JSON, in UTF-8.")
    return text


@app.command()
def locate(
    repo: Annotated[Path, typer.Argument(help="Checkout to search.")],
    limit: Annotated[int, typer.Option(help="How many files at most.", min=1, max=1000)] = 50,
    as_json: Json = False,
) -> None:
    """Rank the files of a checkout for an issue given on standard input."""
    from triage.reading.read_issue import read_issue

    issue = parse_issue_text(_decode(sys.stdin.buffer.read()))
    root = _resolve_folder(repo)
    settings = Settings.from_terminal(os.environ)
    ignore = wiring.read_project_config(settings, root).ignore
    codebase = wiring.build_codebase(root, root.name, ignore=ignore, cache=wiring.find_index_cache(settings, root))
    began = time.perf_counter()
    trouble = codebase.index().cache
    indexed = time.perf_counter()
    if trouble:
        sys.stderr.write(f"triage: {trouble}\n")
    files = [hit.path for hit in codebase.search(SearchQuery(reading=read_issue(issue)), limit)]
    ended = time.perf_counter()
    if as_json:
        timed = {"index_seconds": round(indexed - began, 3), "query_seconds": round(ended - indexed, 3)}
        sys.stdout.write(json.dumps({"files": files, **timed}) + "\n")
        return
    sys.stdout.write("".join(f"{path}\n" for path in files))
    if not files:
        sys.stderr.write("No file of the checkout shares anything with the issue.\n")


_MARKS = {"ok": ("✓", "green"), "missing": ("–", "yellow"), "broken": ("✗", "bold red")}


@app.command()
def doctor(
    repo: Annotated[Path, typer.Option(help="Checkout to look at.")] = Path(),
    github: Annotated[str, typer.Option(help="`owner/name` to try the token on.")] = "",
    as_json: Json = False,
) -> None:
    """Say what is configured, what can be reached, and what is missing."""
    settings = Settings.from_terminal(os.environ)
    found = run_checks(wiring.doctor_probes(settings, RunnerEnvironment.read(os.environ), repo, github))
    if as_json:
        sys.stdout.write(json.dumps([check.model_dump() for check in found], indent=2) + "\n")
    else:
        _print_checks(found)
    if any(check.state == "broken" for check in found):
        raise SystemExit(1)


def _print_checks(found: list[Check]) -> None:
    console = Console(highlight=False, markup=False, emoji=False)
    for check in found:
        mark, style = _MARKS[check.state]
        console.print(f"{mark} ", style=style, end="")
        console.print(f"{check.name}: {check.detail}")
