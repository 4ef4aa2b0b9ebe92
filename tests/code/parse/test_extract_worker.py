"""Messages between the pool and its workers arrive as they were sent."""

import io
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from tests.code.project import PROJECT
from triage.code.parse.extract import ExtractedFiles, Extractor, SourceFile
from triage.code.parse.extract_worker import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    read_message,
    write_message,
)
from triage.code.words.bm25 import TermCounts

SOURCES = st.lists(
    st.builds(SourceFile, st.text(max_size=20), st.none() | st.binary(max_size=40), st.booleans()), max_size=5
)


@given(SOURCES)
def test_requests(files: list[SourceFile]):
    assert decode_request(encode_request(files)) == files


@given(st.lists(st.binary(max_size=40)))
def test_messages(messages: list[bytes]):
    stream = io.BytesIO()
    for message in messages:
        write_message(stream, message)
    stream.seek(0)
    assert [read_message(stream) for _ in messages] == messages
    assert read_message(stream) == b""


@pytest.mark.parametrize("broken", [b"\x01", b"\x01\0\0\0", b"\x05\0\0\0four", b"\xff\xff\xff\xff" + b"x" * 99])
def test_a_broken_message_is_refused(broken: bytes):
    with pytest.raises(ValueError, match="incomplete"):
        read_message(io.BytesIO(broken))


def is_same(one: object, other: object) -> bool:
    if isinstance(one, TermCounts) and isinstance(other, TermCounts):
        return all(np.array_equal(getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
    return one == other


@pytest.mark.parametrize(
    "files",
    [
        [],
        [SourceFile("a\udcffé\n.py", b"x = 1\n\xff"), SourceFile("b.bin2", b"\0")],
        [SourceFile(path, text.encode()) for path, text in PROJECT.items()],
    ],
)
def test_responses(files: list[SourceFile]):
    extracted = Extractor().extract(files)
    decoded = decode_response(encode_response(extracted))
    for each in fields(ExtractedFiles):
        assert is_same(getattr(decoded, each.name), getattr(extracted, each.name)), each.name


RESPONSE = encode_response(Extractor().extract([SourceFile("a.py", b"x1 = 1\n")]))


@each_row(
    "broken",
    [
        b"",
        b"\n",
        b"{}\n",
        b"[]\n",
        b"7\n",
        b'{"array_sizes":["x"],"text_sizes":[]}\n',
        b"x" * 1_000,
        RESPONSE[:-1],
        RESPONSE[: len(RESPONSE) // 2],
        RESPONSE + b"x",
    ],
)
def test_a_broken_response_is_refused(broken: bytes):
    with pytest.raises((ValueError, KeyError, TypeError)):
        decode_response(broken)
