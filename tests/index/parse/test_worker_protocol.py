"""What goes through the pipe comes out the same."""

import io
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.index.project import PROJECT
from triage.index.corpus.bm25 import TermCounts
from triage.index.parse.extract import ExtractedFiles, Extractor, SourceFile
from triage.index.parse.worker_protocol import (
    InvalidResponse,
    decode_response,
    encode_request,
    encode_response,
    read_request,
)

SOURCES = st.lists(
    st.builds(SourceFile, st.text(max_size=20), st.none() | st.binary(max_size=40), st.booleans()), max_size=5
)


@given(SOURCES)
def test_sources(sources: list[SourceFile]):
    stream = io.BytesIO(encode_request(sources) + encode_request(sources[:1]))
    assert read_request(stream) == sources
    assert read_request(stream) == sources[:1]
    assert read_request(stream) is None


def body(extract: ExtractedFiles) -> bytes:
    size, _, rest = encode_response(extract).partition(b"\n")
    assert int(size) == len(rest)
    return rest


def same(one: object, other: object) -> bool:
    if isinstance(one, TermCounts) and isinstance(other, TermCounts):
        return all(np.array_equal(getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
    return one == other


@pytest.mark.parametrize(
    "sources", [[], [SourceFile("a\udcffé\n.py", b"x = 1\n\xff"), SourceFile("b.bin2", b"\0")], None]
)
def test_extracts(sources: list[SourceFile] | None):
    files = [SourceFile(path, text.encode()) for path, text in PROJECT.items()]
    extract = Extractor().extract(files if sources is None else sources)
    found = decode_response(body(extract))
    for each in fields(ExtractedFiles):
        assert same(getattr(found, each.name), getattr(extract, each.name)), each.name


BODY = body(Extractor().extract([SourceFile("a.py", b"x1 = 1\n")]))


@pytest.mark.parametrize(
    "broken",
    [b"", b"\n", b"{}\n", b"[]\n", b"x" * 1_000, BODY[:-1], BODY[: len(BODY) // 2], b"7\n", b'{"tables":["x"]}\n'],
)
def test_nonsense_is_no_extract(broken: bytes):
    with pytest.raises(InvalidResponse):
        decode_response(broken)
