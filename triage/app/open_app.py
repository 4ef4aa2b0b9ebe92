"""Opens an `App`: in a job of GitHub Actions, or for a command at a terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from triage.app.app import App
from triage.app.settings.inputs import Settings
from triage.app.settings.runner_environment import RunnerEnvironment, find_unknown_variables
from triage.app.settings.secret_inputs import collect_own_secrets
from triage.base.errors import BadInput, WrongUsage
from triage.outside.output.job_output import JobOutput
from triage.outside.output.line_logs import LineWriter
from triage.safety.secrets.redactor import SecretRedactor

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from triage.domain.task import JobName
    from triage.outside.output.terminal import TerminalOutput

__all__ = ["JobOutput", "open_job_app", "open_job_output", "open_terminal_app"]


def open_job_output(environ: Mapping[str, str], stream: TextIO) -> JobOutput:
    """Return what writes to the runner's files and to the stream. Never raises: it also says why nothing else works."""
    redactor = SecretRedactor(collect_own_secrets(environ))
    names = ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "GITHUB_WORKSPACE")
    paths = (Path(environ[name]) if environ.get(name) else None for name in names)
    return JobOutput(LineWriter(stream, redactor.redactor_for("log")), redactor, *paths)


def open_job_app(environ: Mapping[str, str], output: JobOutput) -> App:
    """Open what a job of GitHub Actions has, from its inputs. Raises BadInput."""
    environment = RunnerEnvironment.read(environ)
    settings = Settings.from_runner(environ)
    if not environment.repository:
        raise BadInput("GITHUB_REPOSITORY is not set. Outside GitHub Actions, use the command line.")
    root = environment.workspace or Path.cwd()
    return App(settings, environment, root, environment.repository, output.log, output.redactor)


def open_terminal_app(
    repo: Path,
    *,
    task: JobName = "triage",
    engine: str | None = None,
    report_path: Path | None = None,
    verbose: bool = False,
) -> tuple[App, TerminalOutput]:
    """Open what a command has, from `TRIAGE_*` variables, and print a warning for each that has no effect.

    Raises WrongUsage if the checkout, or where the report goes, is no folder, BadInput if a variable has a bad value.
    """
    from triage.app.settings.network_settings import prepare_network
    from triage.git.git import read_origin
    from triage.outside.output.terminal import TerminalOutput

    if not repo.is_dir():
        raise WrongUsage(f"--repo: {repo} is not a folder.")
    if report_path and not report_path.parent.is_dir():
        raise WrongUsage(f"--report: {report_path.parent} is not a folder.")
    root, redactor = repo.resolve(), SecretRedactor(collect_own_secrets(os.environ))
    output = TerminalOutput(redactor, report_path, verbose=verbose)
    app = App(
        settings=Settings.from_terminal(os.environ, task=task, engine=engine),
        environment=RunnerEnvironment.read(os.environ),
        root=root,
        repository=read_origin(root) or root.name,
        progress=output.progress,
        redactor=redactor,
    )
    for warning in [*find_unknown_variables(os.environ), *prepare_network(os.environ), *app.environment.warnings]:
        output.annotate("warning", warning)
    return app, output
