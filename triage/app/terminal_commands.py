"""The commands without a feature of their own: `run`, `locate` and `read`."""

import asyncio
import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from triage.app.command_line import (
    GitHubOption,
    IssueOption,
    Json,
    Repo,
    Verbose,
    open_issue,
    parse_issue_lines,
    print_page,
    read_issue_file,
    read_text,
    run_until_signal,
)
from triage.app.open_app import open_terminal_app
from triage.base.errors import BadInput
from triage.base.os_signals import EXIT_CODES
from triage.domain.code import ExecutedCode, SearchQuery
from triage.run.job_context import export_telemetry
from triage.run.write.plan_effects import dump_report
from triage.say.comment import preview_comment

_MAX_EVIDENCE_BYTES = 8_000_000


def run(
    issue: IssueOption,
    repo: Repo = Path(),
    github: GitHubOption = "",
    engine: Annotated[str | None, typer.Option(help="model, rules, or auto.")] = None,
    evidence: Annotated[
        str, typer.Option(help="What `reproduce --json` printed: files that the example executes come first.")
    ] = "",
    report: Annotated[Path | None, typer.Option(help="Write the JSON report to this file.")] = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Triage one issue and print the report."""
    from triage.graph.run_graph import run_graph
    from triage.say.terminal_page import render_terminal_page

    app, output = open_terminal_app(repo, engine=engine, report_path=report, verbose=verbose)
    app, found, repository = open_issue(app, issue, github)
    executed = _read_evidence(evidence) if evidence else None
    if app.settings.engine == "auto" and app.settings.effective_engine == "rules" and os.environ.get("OPENAI_API_KEY"):
        output.annotate("notice", "OPENAI_API_KEY is not read: set TRIAGE_MODEL_API_KEY to have a model answer.")
    with output.progress:
        services = replace(app.with_project_config().open_services(), executed=executed)
        result, stopped_by = run_until_signal(lambda cancelled: run_graph(found, repository, services, cancelled))
    if result.index and not result.index.commit:
        output.annotate("notice", result.index.notes[0])
    result = preview_comment(app.redactor.redact_value("report", result), app.settings.policy())
    if app.redactor.warning:
        output.annotate("warning", app.redactor.warning)
    text = dump_report(result)
    lines = services.codebase.read_lines(result.best_place.span.path) if result.best_place else None
    shown = app.redactor.redactor_for("code")(lines or [])
    if as_json:
        sys.stdout.write(text + "\n")
    else:
        print_page(render_terminal_page(result, shown))
    output.write_report(text)
    if stopped_by:
        raise SystemExit(EXIT_CODES[stopped_by])
    asyncio.run(export_telemetry(result, services, asyncio.Event()))


def _read_evidence(name: str) -> ExecutedCode | None:
    try:
        document = json.loads(read_text(name, _MAX_EVIDENCE_BYTES))
        return ExecutedCode.model_validate(document["executed_code"]) if document["executed_code"] else None
    except (ValueError, KeyError, TypeError):
        raise BadInput(f"{name} is no evidence. Write it with `bug-triage reproduce --json`.") from None


def locate(
    repo: Annotated[Path, typer.Argument(help="Checkout to search.")],
    limit: Annotated[int, typer.Option(help="How many files at most.", min=1, max=1000)] = 50,
    as_json: Json = False,
) -> None:
    """Rank the files of a checkout for an issue given on standard input."""
    from triage.read.read_issue import read_issue

    issue = read_issue_file("-")
    app, output = open_terminal_app(repo)
    codebase = app.with_project_config().open_codebase(None)
    started = time.perf_counter()
    facts = codebase.index()
    indexed = time.perf_counter()
    files = [hit.path for hit in codebase.search(SearchQuery(parsed=read_issue(issue)), limit)]
    ended = time.perf_counter()
    if not facts.commit:
        output.annotate("notice", facts.notes[0])
    if as_json:
        seconds = {"index_seconds": round(indexed - started, 3), "query_seconds": round(ended - indexed, 3)}
        sys.stdout.write(json.dumps({"files": files, **seconds}) + "\n")
        return
    sys.stdout.write("".join(f"{path}\n" for path in files))
    if not files and facts.commit:
        output.annotate("notice", "No file of the checkout has a word in common with the issue.")


def read(
    file: Annotated[str, typer.Argument(help="Markdown or GitHub's JSON, or - for standard input.")] = "-",
    lines: Annotated[bool, typer.Option("--lines", help="Read a JSON object with title and body per line.")] = False,
    kind_only: Annotated[bool, typer.Option("--kind-only", help="Print bug, feature or question.")] = False,
    as_json: Json = False,
) -> None:
    """Print what a report says: its kind, version, error, traces, and what is missing. Needs no checkout."""
    from triage.read.issue_summary import dump_summary, format_summary, name_kind

    if lines:
        for issue, repo in parse_issue_lines(read_text(file)):
            sys.stdout.write((name_kind(issue) if kind_only else dump_summary(issue, repo)) + "\n")
        return
    issue = read_issue_file(file)
    if kind_only:
        sys.stdout.write(name_kind(issue) + "\n")
    else:
        sys.stdout.write(dump_summary(issue, indent=2) + "\n" if as_json else format_summary(issue))
