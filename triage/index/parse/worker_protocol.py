"""Sources and extracts as bytes between this process and its workers: numbers, text and JSON, nothing that runs."""

import json
from collections.abc import Sequence
from typing import IO

import numpy as np

from triage.index.corpus.bm25 import TermCounts
from triage.index.parse.extract import ExtractedFiles, SourceFile


class InvalidResponse(Exception):
    """What came is no extract."""


def encode_request(sources: Sequence[SourceFile]) -> bytes:
    """Sources, to be read by `asked`."""
    head = [(one.path, None if one.data is None else len(one.data), one.use_grammar) for one in sources]
    return b"".join([json.dumps(head).encode(), b"\n", *(one.data for one in sources if one.data)])


def read_request(stream: IO[bytes]) -> list[SourceFile] | None:
    """The next sources; none at the end of the stream."""
    head = stream.readline()
    if not head:
        return None
    return [
        SourceFile(path, None if size is None else stream.read(size), by_syntax)
        for path, size, by_syntax in json.loads(head)
    ]


def encode_response(extract: ExtractedFiles) -> bytes:
    """An extract, after its length in decimal digits and a line's end; to be read by `answered`."""
    tables = [column for one in _tables(extract) for column in (one.sizes, one.terms, one.counts)]
    head = {
        "terms": extract.terms,
        "reasons": extract.skip_reasons,
        "packed": [None if text is None else len(text) for text in extract.compressed_texts],
        "places": extract.definitions,
        "chunks": extract.chunks,
        "tables": [len(column) for column in tables],
        "late": extract.timed_out,
    }
    body = b"".join(
        [
            json.dumps(head).encode(),
            b"\n",
            *(column.astype("<i4").tobytes() for column in tables),
            *(text for text in extract.compressed_texts if text),
        ]
    )
    return b"%d\n" % len(body) + body


def decode_response(body: bytes) -> ExtractedFiles:
    """The extract in an answer, without its length. Raises NoExtract."""
    line, _, rest = body.partition(b"\n")
    try:
        head = json.loads(line)
        columns, at = [], 0
        for count in head["tables"]:
            columns.append(np.frombuffer(rest, dtype="<i4", count=count, offset=at).astype(np.int32))
            at += 4 * count
        packed: list[bytes | None] = []
        for size in head["packed"]:
            packed.append(None if size is None else rest[at : at + size])
            at += size or 0
        if at != len(rest):
            raise InvalidResponse
        by_chunk, by_file, by_path = (TermCounts(*columns[first : first + 3]) for first in (0, 3, 6))
        places, chunks = [tuple(row) for row in head["places"]], [tuple(row) for row in head["chunks"]]
        return ExtractedFiles(
            head["terms"], head["reasons"], packed, places, chunks, by_chunk, by_file, by_path, head["late"]
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidResponse from error


def _tables(extract: ExtractedFiles) -> tuple[TermCounts, TermCounts, TermCounts]:
    return extract.by_chunk, extract.by_file, extract.by_path
