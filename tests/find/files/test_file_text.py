"""Bytes of a file as text, and its lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from triage.base.text import decode_text
from triage.find.files.file_text import split_lines


@each_row(
    ("data", "text"),
    [
        (b"plain\n", "plain\n"),
        ("größe\n".encode(), "größe\n"),
        ("größe\n".encode("latin-1"), "größe\n"),
        (b"\xef\xbb\xbfmark\n", "mark\n"),
        ("wide ü\n".encode("utf-16"), "wide ü\n"),
        (b"\xfe\xff" + "wide\n".encode("utf-16-be"), "wide\n"),
        (b"\xff\xfe\x00\xd8", "�"),
        (b"", ""),
        (b"a\x00b", None),
        (b"\x7fELF\x02\x01\x01\x00", None),
        (b"x" * 9_000 + b"\x00", "x" * 9_000 + "\x00"),
    ],
)
def test_text_of_bytes(data: bytes, text: str | None):
    assert decode_text(data) == text


@given(st.binary(max_size=400))
def test_decoded_text_can_be_encoded(data: bytes):
    text = decode_text(data)
    if text is not None:
        text.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\n\n", ["a", ""]),
        # These end a line for Python's splitlines, but not for git, GitHub or an editor's line numbers.
        ("a\x0cb\x0bc\u2028d\x85e\n", ["a\x0cb\x0bc\u2028d\x85e"]),
        ("a\rb\n", ["a\rb"]),
    ],
)
def test_lines_are_numbered_as_on_github(text: str, lines: list[str]):
    assert split_lines(text) == lines
