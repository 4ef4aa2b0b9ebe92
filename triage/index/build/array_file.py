"""Named lists and columns of numbers as bytes and back: JSON and numpy's own bytes, nothing that runs.

The checksum finds what was damaged. It is no seal: who can write the file can make it anew, so whoever reads columns
has to look at every number before using it to find a place.
"""

import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MAGIC = b"bug-triage columns 1\n"
_KINDS = {"<i4", "<f4", "<u2", "|u1"}
_ALIGNED = 8
_MAX_HEAD = 1 << 26
"""Bytes of the lists: parsed JSON takes ten times as much."""

Columns = Mapping[str, NDArray[Any]]


class Damaged(Exception):
    """The bytes are not what was written."""


def packed_columns(head: Mapping[str, object], columns: Columns) -> list[bytes | memoryview]:
    """Pieces of a file that `columns_of` reads. They look into the columns."""
    about = {name: (column.dtype.str, column.shape) for name, column in columns.items()}
    body = json.dumps({"head": head, "columns": about}).encode()
    pieces: list[bytes | memoryview] = [body + b" " * (-len(body) % _ALIGNED) + b"\n" + b" " * (_ALIGNED - 1)]
    for column in columns.values():
        if column.size:
            pieces.append(np.ascontiguousarray(column).data.cast("B"))
            pieces.append(bytes(-column.nbytes % _ALIGNED))
    checksum = 0
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
    return [_MAGIC, b"%010d\n" % checksum, *pieces]


def columns_of(data: bytes) -> tuple[dict[str, Any], Columns]:
    """Lists and columns, which look into `data`. Raises Damaged."""
    start = len(_MAGIC) + 11
    view = memoryview(data)[start:]
    if not data.startswith(_MAGIC) or data[start - 11 : start] != b"%010d\n" % zlib.crc32(view):
        raise Damaged
    end = data.find(b"\n", start, start + _MAX_HEAD)
    try:
        told = json.loads(data[start:end])
        columns, at = {}, end - start + _ALIGNED
        for name, (kind, shape) in told["columns"].items():
            columns[name] = _column(view, at, kind, shape)
            at += columns[name].nbytes + -columns[name].nbytes % _ALIGNED
        head = told["head"]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise Damaged from error
    if not isinstance(head, dict):
        raise Damaged
    return head, columns


def _column(view: memoryview, at: int, kind: str, shape: list[int]) -> NDArray[Any]:
    if kind not in _KINDS or not all(isinstance(length, int) and length >= 0 for length in shape):
        raise Damaged
    count = 1
    for length in shape:
        count *= length
    return np.frombuffer(view, dtype=kind, count=count, offset=at).reshape(shape)
