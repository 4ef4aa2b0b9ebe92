"""A process that takes files apart: a grammar that crashes or eats memory takes nothing else with it.

Started by `pool`. Sources on standard input, extracts on standard output, both as in `wire`. The number of the file at
hand stands in the open file whose descriptor is the last argument: should we die, they know what we died of.
"""

import os
import signal
import sys

from triage.index.parse.extract import Extractor
from triage.index.parse.worker_protocol import encode_response, read_request

MAX_MEMORY_BYTES = 1 << 30
"""Address space; the largest real file needs a tenth of it."""
MAX_FILE_SECONDS = 10
"""The grammar gives a file up after 2 seconds itself."""


def main() -> None:
    """Answer until standard input ends."""
    _limit_memory()
    progress = int(sys.argv[-1])
    extractor = Extractor()

    def note(number: int) -> None:
        signal.alarm(MAX_FILE_SECONDS)  # Its default is to end the process, whatever a grammar is at.
        os.pwrite(progress, number.to_bytes(4, "little"), 0)

    while (sources := read_request(sys.stdin.buffer)) is not None:
        extract = extractor.extract(sources, note)
        signal.alarm(0)
        sys.stdout.buffer.write(encode_response(extract))
        sys.stdout.buffer.flush()


def _limit_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
