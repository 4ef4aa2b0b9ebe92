"""A process that finds definitions, so that a grammar which crashes or eats memory takes nothing else with it.

Started by `syntax.py`. On stdin, for each file: a line `language<TAB>bytes`, then the text; on stdout one JSON line.
"""

import json
import sys

from triage.index.definitions import definitions_of
from triage.index.languages import LANGUAGES

MEMORY_BYTES = 1 << 30
"""Address space; the largest real file needs a tenth of it."""


def main() -> None:
    """Answer until stdin ends."""
    _limit_memory()
    languages = {language.name: language for language in LANGUAGES}
    while header := sys.stdin.buffer.readline():
        name, _, size = header.decode().rstrip("\n").partition("\t")
        text = sys.stdin.buffer.read(int(size)).decode("utf-8", "replace")
        found = [(one.start, one.end, one.name, one.depth) for one in definitions_of(text, languages[name])]
        sys.stdout.buffer.write(json.dumps(found).encode() + b"\n")
        sys.stdout.buffer.flush()


def _limit_memory() -> None:
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
