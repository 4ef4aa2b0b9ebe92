"""Columns come back as they were, and nothing else is taken for columns."""

import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray

from triage.index.build.array_file import Damaged, columns_of, packed_columns

COLUMNS = st.dictionaries(
    st.text(max_size=9),
    st.sampled_from(["<i4", "<f4", "|u1"]).flatmap(
        lambda kind: arrays(kind, array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=9))
    ),
    max_size=4,
)
HEADS = st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers() | st.lists(st.text(max_size=3)))


@given(HEADS, COLUMNS)
def test_there_and_back(head: dict[str, Any], columns: dict[str, NDArray[Any]]):
    found_head, found = columns_of(b"".join(packed_columns(head, columns)))
    assert found_head == head
    assert list(found) == list(columns)
    for name, column in columns.items():
        assert (found[name].dtype, found[name].shape) == (column.dtype, column.shape)
        assert found[name].tobytes() == column.tobytes()


WHOLE = b"".join(packed_columns({"names": ["é", "x"]}, {"a": np.arange(7, dtype="<i4"), "b": np.ones(3, dtype="|u1")}))


@pytest.mark.parametrize("at", range(len(WHOLE)))
def test_every_changed_byte_is_found(at: int):
    for changed in (WHOLE[at] ^ 1, WHOLE[at] ^ 0xFF, 0):
        if changed != WHOLE[at]:
            with pytest.raises(Damaged):
                columns_of(WHOLE[:at] + bytes([changed]) + WHOLE[at + 1 :])


@pytest.mark.parametrize("length", range(len(WHOLE)))
def test_every_lost_end_is_found(length: int):
    with pytest.raises(Damaged):
        columns_of(WHOLE[:length])


@given(st.binary(max_size=200))
def test_nonsense_is_no_columns(data: bytes):
    with pytest.raises(Damaged):
        columns_of(data)


def signed(body: bytes) -> bytes:
    """A body with the checksum that it should have."""
    return b"bug-triage columns 1\n%010d\n" % zlib.crc32(body) + body


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n",
        b"7\n",
        b"{}\n",
        b'{"head": {}}\n',
        b'{"head": [], "columns": {}}\n',
        b'{"head": {}, "columns": []}\n',
        b'{"head": {}, "columns": {"a": 1}}\n',
        b'{"head": {}, "columns": {"a": ["<i4", [9]]}}\n' + b" " * 7 + bytes(8),
        b'{"head": {}, "columns": {"a": ["<i4", [-1]]}}\n' + b" " * 7 + bytes(8),
        b'{"head": {}, "columns": {"a": ["<i4", [1.0]]}}\n' + b" " * 7 + bytes(8),
        b'{"head": {}, "columns": {"a": ["<i4", ["1"]]}}\n' + b" " * 7 + bytes(8),
        b'{"head": {}, "columns": {"a": ["<i4", [4611686018427387904, 4]]}}\n' + b" " * 7 + bytes(8),
        b'{"head": {}, "columns": {"a": ["|O", [1]]}}\n' + b" " * 7 + bytes(8),
        b'{"head": {}, "columns": {"a": [["<i4"], [1]]}}\n' + b" " * 7 + bytes(8),
        b'{"head": {}, "columns": {"a": ["<i4"]}}\n',
        b"[" * 100_000 + b"\n",
        b'{"head": {"a": NaN}, "columns": {}',
    ],
)
def test_nonsense_with_a_checksum_is_no_columns(body: bytes):
    with pytest.raises(Damaged):
        columns_of(signed(body))
