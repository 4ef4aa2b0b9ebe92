"""Runs a command in this process: a new one takes seconds to import what the tests have imported."""

import io
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from triage import cli


def run_command(
    words: list[str], environ: Mapping[str, str], folder: Path, stdin: str = ""
) -> "subprocess.CompletedProcess[str]":
    """Return what the command wrote, and its exit code, with these variables only."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    variables = {"PATH": os.environ["PATH"], "COLUMNS": "120", **environ}
    with (
        patch.dict(os.environ, variables, clear=True),
        patch.object(sys, "argv", ["bug-triage", *words]),
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")),
        chdir(folder),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            cli.main()
        except SystemExit as exit_request:
            code = exit_request.code if isinstance(exit_request.code, int) else int(exit_request.code is not None)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())
