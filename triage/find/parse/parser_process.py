"""Processes that parse files of strangers: how they start, their limits, and one that counts syntax errors.

Some grammars take unlimited memory or crash on hostile text. These processes have none of our secrets: in a job keys
have left the environment before. At a terminal the system still shows what a process of the pool started with.
"""

import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import triage
from triage.base.threads import call_when_abandoned
from triage.find.files.languages import LANGUAGES, Language
from triage.find.parse.definitions import load_grammar, parse_source

if TYPE_CHECKING:
    from tree_sitter import Tree


_INHERITED = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")
"""Environment variables that libraries need."""
_START_CODE = (
    "import sys; sys.path.insert(0, sys.argv[1]); sys.path.extend(sys.argv[2:-1]); "
    "from triage.find.parse.parser_process import main; main()"
)
MAX_ERRORS = 10_000
"""More are not counted. A text that the parser gives up has as many."""
MAX_MEMORY_BYTES = 1 << 30
"""Address space. The largest real file needs a tenth of it."""
MAX_SECONDS = 10.0
"""The parser itself gives up after 2 seconds."""


def prepare_worker() -> None:
    """Take from a process of the pool what it needs not: the environment, the terminal, and memory without bound."""
    os.environ.clear()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # enough, and a hundredth of the memory
    for stream in (1, 2):  # where libraries write when they crash
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, to all processes: ours is the parent's to handle
    threading.Thread(target=_end_with_parent, daemon=True).start()
    limit_process(MAX_MEMORY_BYTES)


def _end_with_parent() -> None:
    # The processes of a pool hold its pipes open for one another, so none would notice.
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def limit_process(memory_bytes: int) -> None:
    """Limit the address space, and write no core file.

    Where the system refuses a limit, the process goes on with the one that it has: the user's own may be lower. macOS
    takes none below what is mapped already, which is more than this, so that memory is not limited there.
    """
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _build_command(argument: str) -> list[str]:
    # -I: Python imports nothing from the current folder, which may hold the repository that is indexed. It also hides
    # packages installed for one user, so the folders of our libraries are passed on.
    home = Path(triage.__file__).resolve().parents[1]
    origins = [spec.origin for name in ("tree_sitter", "numpy") if (spec := find_spec(name)) and spec.origin]
    libraries = dict.fromkeys(str(Path(origin).parents[1]) for origin in origins)
    return [sys.executable, "-I", "-B", "-c", _START_CODE, str(home), *libraries, argument]


def count_syntax_errors(text: str, language: Language) -> int | None:
    """Return the number of errors and missing tokens, at most `MAX_ERRORS`; None for a language without a grammar."""
    if not language.grammar:
        return None
    with (
        subprocess.Popen(  # noqa: S603
            _build_command(language.name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={name: os.environ[name] for name in _INHERITED if name in os.environ},
        ) as process,
        call_when_abandoned(process.kill),
    ):
        try:
            output, _ = process.communicate(text.encode("utf-8", "replace"), timeout=MAX_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return MAX_ERRORS
    return min(int(output), MAX_ERRORS) if process.returncode == 0 and output.isdigit() else MAX_ERRORS


def main() -> None:
    """Read the text from standard input, and print the number. The last argument is the language's name."""
    limit_process(MAX_MEMORY_BYTES)
    language = next(one for one in LANGUAGES if one.name == sys.argv[-1])
    tree = parse_source(load_grammar(language)[0], sys.stdin.buffer.read())
    sys.stdout.write(str(MAX_ERRORS if tree is None else _count_errors(tree)))


def _count_errors(tree: "Tree") -> int:
    pending, errors = [tree.root_node], 0
    while pending and errors < MAX_ERRORS:
        node = pending.pop()
        errors += node.is_error or node.is_missing
        pending += [child for child in node.children if child.has_error or child.is_missing]
    return errors
