"""Arrays come back as they were, and nothing else is taken for arrays."""

import zlib
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from triage.code.indexing.array_file import Array, DamagedFile, read_arrays, write_arrays

ARRAYS = st.lists(
    st.sampled_from(["<i4", "<f4", "<u2", "|u1"]).flatmap(
        lambda dtype: arrays(dtype, array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=9))
    ),
    max_size=4,
)


def to_bytes(written: list[Array]) -> bytes:
    file = BytesIO()
    write_arrays(file, written)
    return file.getvalue()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arrays") / "file.npy"


def read(path: Path, data: bytes) -> list[Array]:
    path.write_bytes(data)
    with path.open("rb") as file:
        return read_arrays(file)


@given(ARRAYS)
def test_arrays_are_read_as_they_were_written(path: Path, written: list[Array]):
    found = read(path, to_bytes(written))
    assert [(array.dtype, array.shape) for array in found] == [(array.dtype, array.shape) for array in written]
    assert [array.tobytes() for array in found] == [array.tobytes() for array in written]


def test_a_transposed_array_is_written_row_by_row(path: Path):
    (found,) = read(path, to_bytes([np.arange(6, dtype="<i4").reshape(2, 3).T]))
    assert found.tolist() == [[0, 3], [1, 4], [2, 5]]


WHOLE = to_bytes([np.frombuffer("é".encode(), "|u1"), np.arange(7, dtype="<i4"), np.ones((3, 2), dtype="<f4")])


@pytest.mark.parametrize("at", range(len(WHOLE)))
def test_every_changed_byte_is_found(path: Path, at: int):
    for changed in (WHOLE[at] ^ 1, WHOLE[at] ^ 0xFF, 0):
        if changed != WHOLE[at]:
            with pytest.raises(DamagedFile):
                read(path, WHOLE[:at] + bytes([changed]) + WHOLE[at + 1 :])


@pytest.mark.parametrize("length", range(len(WHOLE)))
def test_every_lost_end_is_found(path: Path, length: int):
    with pytest.raises(DamagedFile):
        read(path, WHOLE[:length])


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(path: Path, data: bytes):
    with pytest.raises(DamagedFile):
        read(path, data + b"x")


def header(descr: str = "<i4", shape: str = "(2,)", order: str = "False") -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"
    return b"\x93NUMPY\x01\x00\x76\x00" + text.encode().ljust(117) + b"\n"


def test_a_header_made_by_hand_is_accepted(path: Path):
    (found,) = read(path, sign(header() + bytes(8)))
    assert found.tolist() == [0, 0]


def sign(body: bytes) -> bytes:
    """Bytes with the checksum that belongs to them."""
    return body + zlib.crc32(body).to_bytes(4, "little")


@pytest.mark.parametrize(
    "body",
    [
        b"\n",
        b"\x80\x04\x95cos\nsystem\n",
        header()[:100],
        header(),
        header() + bytes(7),
        header() + bytes(9),
        header(shape="(3,)") + bytes(8),
        header(shape="(2, 2)") + bytes(8),
        header(shape="(9999999999,)") + bytes(8),
        header(shape="(9999999999, 9999999999)") + bytes(8),
        header(shape="(4611686018427387904, 4)") + bytes(8),
        header(shape="(-1,)") + bytes(8),
        header(shape="(2.0,)") + bytes(8),
        header(shape="(02,)") + bytes(8),
        header(shape="(True,)") + bytes(8),
        header(shape="()") + bytes(4),
        header(shape="(1, 1, 1)") + bytes(4),
        header(descr="|O") + bytes(16),
        header(descr="<f8") + bytes(16),
        header(descr=">i4") + bytes(8),
        header(descr="|V4") + bytes(8),
        header(order="True") + bytes(8),
        header().replace(b"\x01\x00", b"\x02\x00") + bytes(8),
        header().replace(b"\x76", b"\x36") + bytes(8),
        header().replace(b", }", b"['']}") + bytes(8),
    ],
)
def test_what_is_no_array_is_refused_although_its_checksum_is_right(path: Path, body: bytes):
    with pytest.raises(DamagedFile):
        read(path, sign(body))
