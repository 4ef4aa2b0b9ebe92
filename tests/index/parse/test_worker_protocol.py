"""What goes through the pipe comes out the same."""

import io
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.index.project import PROJECT
from triage.index.corpus.bm25 import Counted
from triage.index.parse.extract import Extract, Extractor, Source
from triage.index.parse.worker_protocol import NoExtract, answer, answered, asked, request

SOURCES = st.lists(
    st.builds(Source, st.text(max_size=20), st.none() | st.binary(max_size=40), st.booleans()), max_size=5
)


@given(SOURCES)
def test_sources(sources: list[Source]):
    stream = io.BytesIO(request(sources) + request(sources[:1]))
    assert asked(stream) == sources
    assert asked(stream) == sources[:1]
    assert asked(stream) is None


def body(extract: Extract) -> bytes:
    size, _, rest = answer(extract).partition(b"\n")
    assert int(size) == len(rest)
    return rest


def same(one: object, other: object) -> bool:
    if isinstance(one, Counted) and isinstance(other, Counted):
        return all(np.array_equal(getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
    return one == other


@pytest.mark.parametrize("sources", [[], [Source("a\udcffé\n.py", b"x = 1\n\xff"), Source("b.bin2", b"\0")], None])
def test_extracts(sources: list[Source] | None):
    files = [Source(path, text.encode()) for path, text in PROJECT.items()]
    extract = Extractor().extract(files if sources is None else sources)
    found = answered(body(extract))
    for each in fields(Extract):
        assert same(getattr(found, each.name), getattr(extract, each.name)), each.name


BODY = body(Extractor().extract([Source("a.py", b"x1 = 1\n")]))


@pytest.mark.parametrize(
    "broken",
    [b"", b"\n", b"{}\n", b"[]\n", b"x" * 1_000, BODY[:-1], BODY[: len(BODY) // 2], b"7\n", b'{"tables":["x"]}\n'],
)
def test_nonsense_is_no_extract(broken: bytes):
    with pytest.raises(NoExtract):
        answered(broken)
