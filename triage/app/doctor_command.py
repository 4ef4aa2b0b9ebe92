"""The command `doctor`, and the job that tries on GitHub what no terminal can: the token of a workflow."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from triage.app.app import App
from triage.app.command_line import Json, Repo
from triage.app.doctor_checks import Check, run_checks, run_write_checks
from triage.app.open_app import open_terminal_app
from triage.base.threads import in_thread
from triage.domain.effect import Annotate, SetOutputs, WriteSummary
from triage.domain.run import Status
from triage.run.run_context import JobContext
from triage.run.write.apply_local_effects import apply_local_effects
from triage.safety.safe_markdown import escape_markdown

_MARKS = {"ok": ("✓", "green"), "missing": ("–", "yellow"), "broken": ("✗", "bold red")}


def doctor(
    repo: Repo = Path(),
    github: Annotated[str, typer.Option(help="owner/name of a repository to try the token on.")] = "",
    as_json: Json = False,
) -> None:
    """Check what is configured, what can be reached, and what is missing."""
    app, _ = open_terminal_app(repo)
    app = replace(app, repository=github or app.repository)
    checks = run_checks(app, github)
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


async def run_doctor(app: App, run: JobContext) -> Status:
    """Run all checks with the token of the job, and write them to its page. Failed if one is broken."""
    checks = await in_thread(run_checks, app, app.repository)
    checks |= await in_thread(run_write_checks, app)
    broken = [name for name, check in checks.items() if check.state == "broken"]
    status = Status.FAILED if broken else Status.COMPLETE
    outputs = SetOutputs(values={"status": status.value})
    apply_local_effects([WriteSummary(markdown=render_checks(checks)), outputs], run.output)
    if broken:
        message = f"Not as it should be: {', '.join(broken)}. The summary of the job says what to do."
        apply_local_effects([Annotate(level="error", message=message)], run.output)
    return status


def render_checks(checks: dict[str, Check]) -> str:
    """Return a table for the page of the job."""
    words = {"ok": "✅ works", "missing": "➖ not there", "broken": "❌ **does not work**"}
    rows = [
        f"| {name.replace('_', ' ')} | {words[check.state]} | {escape_markdown(check.detail)} |"
        for name, check in checks.items()
    ]
    return "\n".join(["## Doctor", "", "| what | | |", "|---|---|---|", *rows, ""])
