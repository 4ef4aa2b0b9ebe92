"""A worker process that extracts from files. A grammar that crashes or takes too much memory ends only this process.

`worker_process` starts it. Requests come on standard input, responses go to standard output, see `worker_protocol`.
The last argument is the descriptor of an open file. The worker writes the number of the current file into it, so that
its parent knows which file ended it.
"""

import os
import signal
import sys

from triage.index.parse.extract import Extractor
from triage.index.parse.worker_protocol import decode_request, encode_response, read_message, write_message

MAX_MEMORY_BYTES = 1 << 30
"""Address space. The largest real file needs a tenth of it."""
MAX_FILE_SECONDS = 10
"""The parser itself gives a file up after 2 seconds."""


def main() -> None:
    """Answer requests until standard input ends."""
    _limit_memory()
    progress = int(sys.argv[-1])
    extractor = Extractor()

    def report_file(number: int) -> None:
        signal.alarm(MAX_FILE_SECONDS)  # SIGALRM ends the process, whatever a grammar does.
        os.pwrite(progress, number.to_bytes(4, "little"), 0)

    while (request := read_message(sys.stdin.buffer)) is not None:
        extracted = extractor.extract(decode_request(request), report_file)
        signal.alarm(0)
        write_message(sys.stdout.buffer, encode_response(extracted))


def _limit_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
