"""How a process is started that parses files of strangers."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import triage

ADD_LIBRARIES = "import sys; sys.path.insert(0, sys.argv[1]); sys.path.extend(sys.argv[2:-1]); "
_INHERITED = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")
"""Environment variables that libraries need."""


def build_worker_command(start_code: str, argument: str) -> list[str]:
    """Return the command that runs `start_code`, which begins with `ADD_LIBRARIES`, in another process."""
    # -I: Python imports nothing from the current folder, which may hold the repository that is indexed. It also hides
    # packages installed for one user, so the folders of our libraries are passed on.
    home = Path(triage.__file__).resolve().parents[1]
    origins = [spec.origin for name in ("tree_sitter", "numpy") if (spec := find_spec(name)) and spec.origin]
    libraries = dict.fromkeys(str(Path(origin).parents[1]) for origin in origins)
    return [sys.executable, "-I", "-B", "-c", start_code, str(home), *libraries, argument]


def build_worker_environment() -> dict[str, str]:
    """Return the environment without any of our secrets. One thread is enough and takes a hundredth of the memory."""
    return {name: os.environ[name] for name in _INHERITED if name in os.environ} | {"OPENBLAS_NUM_THREADS": "1"}
