"""Processes that parse files of strangers: how they start, their limits, and what one of them counts.

Some grammars take unlimited memory or crash on hostile text. These processes have none of our secrets: in a job keys
have left the environment before. At a terminal the system still shows what a process started with.
"""

import multiprocessing
import os
import resource
import signal
import threading
from contextlib import suppress

from triage.find.files.languages import Language
from triage.find.parse.definitions import load_grammar, parse_source

MAX_ERRORS = 10_000
"""More are not counted. A text that the parser gives up has as many."""
MAX_MEMORY_BYTES = 1 << 30
"""Address space. The largest real file needs a tenth of it."""


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


def count_errors(text: str, language: Language) -> int:
    """Return the number of errors and missing tokens, at most `MAX_ERRORS`, of a text in a language with a grammar."""
    tree = parse_source(load_grammar(language)[0], text.encode("utf-8", "replace"))
    pending, errors = [tree.root_node] if tree else [], 0 if tree else MAX_ERRORS
    while pending and errors < MAX_ERRORS:
        node = pending.pop()
        errors += node.is_error or node.is_missing
        pending += [child for child in node.children if child.has_error or child.is_missing]
    return errors
