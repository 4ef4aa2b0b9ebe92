"""Several arrays in one file: one `.npy` after the other, as `np.save` writes them, and a CRC-32 of them all.

The checksum finds damage, not forgery: callers check every number that they use as an index or a size.
"""

import os
import re
import zlib
from collections.abc import Iterable
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_HEADER_BYTES = 128
"""`np.save` pads its header to this size for the arrays that `write_arrays` takes."""
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00\x76\x00"
    rb"\{'descr': '(<i4|<f4|<u2|\|u1)', 'fortran_order': False, "
    rb"'shape': \((0|[1-9]\d{0,9}),(?: (0|[1-9]\d{0,9}))?\), \} *\n"
)
_CHECKSUM_BYTES = 4
_BLOCK_BYTES = 1 << 20


class DamagedFile(Exception):
    """The bytes are not what was written."""


class _Checksummed:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.checksum = 0

    def write(self, data: bytes) -> int:
        self.checksum = zlib.crc32(data, self.checksum)
        return self._file.write(data)


def write_arrays(file: BinaryIO, arrays: Iterable[Array]) -> None:
    """Append arrays of one or two dimensions, of the types that `_HEADER` lists. Raises OSError."""
    target = _Checksummed(file)
    for array in arrays:
        np.save(target, np.ascontiguousarray(array), allow_pickle=False)
    file.write(target.checksum.to_bytes(_CHECKSUM_BYTES, "little"))


def read_arrays(file: BinaryIO) -> list[Array]:
    """Read all arrays of a file.

    Raises:
        DamagedFile: The file is not as `write_arrays` left it.
        OSError: The file cannot be read.
    """
    end = os.fstat(file.fileno()).st_size - _CHECKSUM_BYTES
    _verify_checksum(file, end)
    arrays = []
    while file.tell() < end:
        arrays.append(_read_array(file, end))
    return arrays


def _verify_checksum(file: BinaryIO, end: int) -> None:
    checksum, left = 0, end
    while block := file.read(min(_BLOCK_BYTES, max(0, left))):
        checksum = zlib.crc32(block, checksum)
        left -= len(block)
    if left or file.read() != checksum.to_bytes(_CHECKSUM_BYTES, "little"):
        raise DamagedFile
    file.seek(0)


def _read_array(file: BinaryIO, end: int) -> Array:
    start = file.tell()
    header = _HEADER.fullmatch(file.read(_HEADER_BYTES))
    if header is None:
        raise DamagedFile
    # np.load allocates what the header claims before it reads: a forged one could claim terabytes.
    size = np.dtype(header[1].decode()).itemsize * int(header[2]) * int(header[3] or 1)
    if size > end - file.tell():
        raise DamagedFile
    file.seek(start)
    array: Array = np.load(file, allow_pickle=False)
    return array
