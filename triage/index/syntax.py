"""Definitions of many files, found by a few worker processes side by side.

A file that kills its worker, or keeps it too long, has no definitions: it is cut into windows like a language without
a grammar.
"""

import json
import os
import queue
import select
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

import triage
from triage.index.definitions import Definition
from triage.index.languages import Language

_ANSWER_SECONDS = 10.0
"""The worker gives a file up after 2 seconds itself."""
_MAX_LOST = 12
"""Workers lost before we stop starting new ones."""
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); sys.path.append(sys.argv[2]); "
    "from triage.index.syntax_worker import main; main()"
)


class Syntax:
    """Finds definitions; a context manager that ends its processes."""

    def __init__(self, workers: int | None = None) -> None:
        """Start nothing yet: processes come with the first files."""
        count = workers or min(4, os.cpu_count() or 1)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="syntax")
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for _ in range(count):
            self._idle.put(_Worker())
        self._lost = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
        while not self._idle.empty():
            self._idle.get().stop()

    @property
    def has_given_up(self) -> bool:
        """So many workers were lost that no more are started."""
        return self._lost >= _MAX_LOST

    def submit(self, text: str, language: Language) -> "Future[list[Definition]]":
        """Definitions of a file, to come. Never fails: what cannot be parsed has none."""
        return self._threads.submit(self._find, text, language)

    def _find(self, text: str, language: Language) -> list[Definition]:
        worker = self._idle.get()
        try:
            return [] if self.has_given_up else worker.ask(text, language)
        except _Lost:
            worker.stop()
            with self._lock:
                self._lost += 1
            return []
        finally:
            self._idle.put(worker)


class _Lost(Exception):
    """The worker ended or does not answer."""


class _Worker:
    """One process, started when it is first asked, and again after it was stopped."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, text: str, language: Language) -> list[Definition]:
        """Definitions of a text. Raises _Lost."""
        data = text.encode("utf-8", "replace")
        try:
            process = self._process = self._process or _started()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{language.name}\t{len(data)}\n".encode() + data)
            process.stdin.flush()
            ready, _, _ = select.select([process.stdout], [], [], _ANSWER_SECONDS)
            answer = process.stdout.readline() if ready else b""
        except OSError as error:
            raise _Lost from error
        if not answer.endswith(b"\n"):
            raise _Lost
        return [Definition(*fields) for fields in json.loads(answer)]

    def stop(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _started() -> "subprocess.Popen[bytes]":
    home = Path(triage.__file__).resolve().parents[1]
    # -I: nothing from the folder we are in, which may hold the very repository that is read. It also hides packages
    # that were installed for one user only, so the place of the grammars is named.
    grammars = find_spec("tree_sitter")
    packages = Path(grammars.origin).parents[1] if grammars and grammars.origin else home
    command = [sys.executable, "-I", "-B", "-c", _START, str(home), str(packages)]
    return subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/"
    )
