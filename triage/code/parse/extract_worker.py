"""A worker process that extracts from files. A grammar that crashes or takes too much memory ends only this process.

`worker_process` starts it. Requests come on standard input, responses go to standard output: numbers, text and JSON,
nothing that can run code. The last argument is the descriptor of an open file. The worker writes the position of the
current file into it, counted from 1, so that its parent knows which file ended it.
"""

import json
import os
import signal
import sys
from collections.abc import Sequence
from io import BytesIO
from typing import IO

import numpy as np

from triage.code.parse.extract import ExtractedFiles, Extractor, SourceFile
from triage.code.parse.parser_process import limit_process
from triage.code.words.bm25 import TermCounts

MAX_MEMORY_BYTES = 1 << 30
"""Address space. The largest real file needs a tenth of it."""
MAX_FILE_SECONDS = 10
"""The parser itself gives a file up after 2 seconds."""
_MAX_MESSAGE_BYTES = 1 << 28
"""A response to a batch of 512 KB has a hundredth of it."""


def main() -> None:
    limit_process(MAX_MEMORY_BYTES)
    progress = int(sys.argv[-1])
    extractor = Extractor()

    def report_file(number: int) -> None:
        signal.alarm(MAX_FILE_SECONDS)  # SIGALRM ends the process, whatever a grammar does.
        os.pwrite(progress, (number + 1).to_bytes(4, "little"), 0)

    while request := read_message(sys.stdin.buffer):
        extracted = extractor.extract(decode_request(request), report_file)
        signal.alarm(0)
        write_message(sys.stdout.buffer, encode_response(extracted))


def write_message(stream: IO[bytes], message: bytes) -> None:
    stream.write(len(message).to_bytes(4, "little") + message)
    stream.flush()


def read_message(stream: IO[bytes]) -> bytes:
    """Return the next message, empty at the end of the stream. Raises ValueError and OSError."""
    size = int.from_bytes(stream.read(4), "little")
    message = stream.read(size) if size <= _MAX_MESSAGE_BYTES else b""
    if len(message) < size:
        raise ValueError("incomplete message")
    return message


def encode_request(files: Sequence[SourceFile]) -> bytes:
    head = [(file.path, None if file.data is None else len(file.data), file.use_grammar) for file in files]
    return b"".join([json.dumps(head).encode(), b"\n", *(file.data for file in files if file.data)])


def decode_request(request: bytes) -> list[SourceFile]:
    stream = BytesIO(request)
    head = json.loads(stream.readline())
    return [
        SourceFile(path, None if size is None else stream.read(size), use_grammar) for path, size, use_grammar in head
    ]


def encode_response(extracted: ExtractedFiles) -> bytes:
    tables = (extracted.by_chunk, extracted.by_file, extracted.by_path)
    arrays = [array for table in tables for array in (table.sizes, table.terms, table.counts)]
    head = {
        "terms": extracted.terms,
        "skip_reasons": extracted.skip_reasons,
        "text_sizes": [None if text is None else len(text) for text in extracted.compressed_texts],
        "definitions": extracted.definitions,
        "chunks": extracted.chunks,
        "array_sizes": [len(array) for array in arrays],
    }
    body = [array.astype("<i4").tobytes() for array in arrays] + [text for text in extracted.compressed_texts if text]
    return b"".join([json.dumps(head).encode(), b"\n", *body])


def decode_response(response: bytes) -> ExtractedFiles:
    """Return what a worker extracted. Raises ValueError, KeyError and TypeError."""
    stream = BytesIO(response)
    head = json.loads(stream.readline())
    array_sizes, text_sizes = head["array_sizes"], head["text_sizes"]
    if len(response) - stream.tell() != 4 * sum(array_sizes) + sum(size or 0 for size in text_sizes):
        raise ValueError("incomplete message")
    arrays = [np.frombuffer(stream.read(4 * size), dtype="<i4").astype(np.int32) for size in array_sizes]
    by_chunk, by_file, by_path = (TermCounts(*arrays[first : first + 3]) for first in (0, 3, 6))
    return ExtractedFiles(
        head["terms"],
        head["skip_reasons"],
        [None if size is None else stream.read(size) for size in text_sizes],
        [tuple(row) for row in head["definitions"]],
        [tuple(row) for row in head["chunks"]],
        by_chunk,
        by_file,
        by_path,
    )
