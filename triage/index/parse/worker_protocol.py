"""Messages between this process and its workers: numbers, text and JSON, nothing that can run code."""

import json
from collections.abc import Sequence
from io import BytesIO
from typing import IO

import numpy as np

from triage.index.corpus.bm25 import TermCounts
from triage.index.parse.extract import ExtractedFiles, SourceFile

_MAX_MESSAGE_BYTES = 1 << 28
"""A response to a batch of 512 KB has a hundredth of it."""


class InvalidMessage(Exception):
    """The bytes are not a message."""


def write_message(stream: IO[bytes], message: bytes) -> None:
    """Write a message with its length. Raises OSError."""
    stream.write(len(message).to_bytes(4, "little") + message)
    stream.flush()


def read_message(stream: IO[bytes]) -> bytes | None:
    """Return the next message, or None at the end of the stream. Raises InvalidMessage and OSError."""
    head = stream.read(4)
    if not head:
        return None
    size = int.from_bytes(head, "little")
    message = stream.read(size) if size <= _MAX_MESSAGE_BYTES else b""
    if len(message) < size:
        raise InvalidMessage
    return message


def encode_request(files: Sequence[SourceFile]) -> bytes:
    """Return a request for `decode_request`."""
    head = [(file.path, None if file.data is None else len(file.data), file.use_grammar) for file in files]
    return b"".join([json.dumps(head).encode(), b"\n", *(file.data for file in files if file.data)])


def decode_request(request: bytes) -> list[SourceFile]:
    """Return the files of a request."""
    stream = BytesIO(request)
    head = json.loads(stream.readline())
    return [
        SourceFile(path, None if size is None else stream.read(size), use_grammar) for path, size, use_grammar in head
    ]


def encode_response(extracted: ExtractedFiles) -> bytes:
    """Return a response for `decode_response`."""
    tables = (extracted.by_chunk, extracted.by_file, extracted.by_path)
    arrays = [array for table in tables for array in (table.sizes, table.terms, table.counts)]
    head = {
        "terms": extracted.terms,
        "skip_reasons": extracted.skip_reasons,
        "text_sizes": [None if text is None else len(text) for text in extracted.compressed_texts],
        "definitions": extracted.definitions,
        "chunks": extracted.chunks,
        "array_sizes": [len(array) for array in arrays],
        "timed_out": extracted.timed_out,
    }
    body = [array.astype("<i4").tobytes() for array in arrays] + [text for text in extracted.compressed_texts if text]
    return b"".join([json.dumps(head).encode(), b"\n", *body])


def decode_response(response: bytes) -> ExtractedFiles:
    """Return what a worker extracted. Raises InvalidMessage."""
    stream = BytesIO(response)
    try:
        head = json.loads(stream.readline())
        array_sizes, text_sizes = head["array_sizes"], head["text_sizes"]
        if len(response) - stream.tell() != 4 * sum(array_sizes) + sum(size or 0 for size in text_sizes):
            raise InvalidMessage
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
            head["timed_out"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidMessage from error
