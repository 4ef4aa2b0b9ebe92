"""Counts the syntax errors of a text with tree-sitter, in a process of its own.

Some grammars take unlimited memory or crash on hostile text. The process has none of our secrets.
"""

import subprocess
import sys
from typing import TYPE_CHECKING

from triage.base.threads import call_when_abandoned
from triage.code.files.languages import LANGUAGES, Language
from triage.code.parse.definitions import load_grammar, parse_source
from triage.code.parse.process_limits import limit_process
from triage.code.parse.worker_command import ADD_LIBRARIES, build_worker_command, build_worker_environment

if TYPE_CHECKING:
    from tree_sitter import Tree

_START_CODE = f"{ADD_LIBRARIES}from triage.code.parse.syntax_errors import main; main()"
MAX_ERRORS = 10_000
"""More are not counted. A text that the parser gives up has as many."""
MAX_MEMORY_BYTES = 1 << 30
"""Address space, as for the worker that indexes."""
MAX_SECONDS = 10.0
"""The parser itself gives up after 2 seconds."""


def count_syntax_errors(text: str, language: Language) -> int | None:
    """Return the number of errors and missing tokens, at most `MAX_ERRORS`; None for a language without a grammar."""
    if not language.grammar:
        return None
    with (
        subprocess.Popen(  # noqa: S603
            build_worker_command(_START_CODE, language.name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=build_worker_environment(),
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
