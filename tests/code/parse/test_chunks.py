import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.code.parse.chunks import (
    MAX_CHUNK_LINES,
    MIN_SPLIT_LINES,
    WINDOW_LINES,
    WINDOW_STEP,
    Chunk,
    build_scopes,
    split_into_chunks,
)
from triage.code.parse.definitions import Definition


def chunks(lines: int, *definitions: Definition) -> list[Chunk]:
    return split_into_chunks(build_scopes(definitions, lines))


def test_a_short_file_is_one_chunk():
    assert chunks(MAX_CHUNK_LINES) == [Chunk(1, MAX_CHUNK_LINES)]


def test_a_long_file_is_split_into_overlapping_windows():
    assert chunks(170) == [Chunk(1, 60), Chunk(51, 110), Chunk(101, 160), Chunk(151, 170)]


def test_lines_between_definitions_are_chunks():
    assert chunks(30, Definition(5, 10, "f"), Definition(15, 20, "g")) == [
        Chunk(1, 4),
        Chunk(5, 10, "f"),
        Chunk(11, 14),
        Chunk(15, 20, "g"),
        Chunk(21, 30),
    ]


def test_a_class_is_split_into_its_methods():
    split = chunks(40, Definition(1, 40, "Store"), Definition(5, 20, "save", 1), Definition(21, 40, "load", 1))
    assert split == [Chunk(1, 4, "Store"), Chunk(5, 20, "Store.save"), Chunk(21, 40, "Store.load")]


def test_a_small_class_stays_whole():
    assert chunks(MIN_SPLIT_LINES, Definition(1, MIN_SPLIT_LINES, "Pair"), Definition(2, 3, "a", 1)) == [
        Chunk(1, MIN_SPLIT_LINES, "Pair")
    ]


def test_a_long_function_is_split_into_windows_with_its_name():
    assert chunks(120, Definition(1, 120, "f")) == [Chunk(1, 60, "f"), Chunk(51, 110, "f"), Chunk(101, 120, "f")]


def test_a_name_with_its_owner_is_not_qualified_twice():
    assert chunks(30, Definition(1, 30, "app"), Definition(2, 9, "app.Store", 1))[1] == Chunk(2, 9, "app.Store")


def test_an_empty_file_has_no_chunks():
    assert chunks(0) == []


@st.composite
def nested(draw: st.DrawFn) -> tuple[int, list[Definition]]:
    """Definitions as a parser may find them: nested by depth, lines clipped, touching, sharing lines."""
    lines = draw(st.integers(1, 400))
    seed = random.Random(draw(st.integers(0, 2**32)))
    definitions: list[Definition] = []

    def add(first: int, last: int, depth: int) -> None:
        at = first
        while at <= last and len(definitions) < 60 and seed.random() < 0.8:
            start = seed.randint(at, last)
            end = seed.randint(start, last)
            definitions.append(Definition(start, end + seed.choice([0, 0, 0, 5]), f"n{len(definitions)}", depth))
            if depth < 4:
                add(start, end, depth + 1)
            at = end + seed.choice([0, 1])
            if at == start:
                at += 1

    add(1, lines, 0)
    return lines, definitions


@given(nested())
def test_chunks_cover_every_line(file: tuple[int, list[Definition]]):
    lines, definitions = file
    split = split_into_chunks(build_scopes(definitions, lines))
    assert {line for chunk in split for line in range(chunk.start, chunk.end + 1)} == set(range(1, lines + 1))
    assert all(chunk.end - chunk.start < MAX_CHUNK_LINES for chunk in split)


@pytest.mark.parametrize(
    "lines",
    [MAX_CHUNK_LINES - 1, MAX_CHUNK_LINES, MAX_CHUNK_LINES + 1, WINDOW_LINES + WINDOW_STEP, 2 * WINDOW_LINES, 1_000],
)
def test_windows_end_with_the_file(lines: int):
    assert chunks(lines)[-1].end == lines


def test_very_deep_nesting_is_flattened():
    deep = [Definition(n, 400 - n, f"d{n}", n - 1) for n in range(1, 150)]
    assert chunks(400, *deep)
