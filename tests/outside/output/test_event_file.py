"""The file of the payload: one object, or one line that names the problem."""

import json
import os
from pathlib import Path

import pytest

from triage.base.errors import BadInput
from triage.outside.output.job_output import read_event


def test_an_object(tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps({"issue": {"body": "\ud800 😀" * 9}}).encode())
    assert read_event(file) == {"issue": {"body": "\ud800 😀" * 9}}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "it is not JSON."),
        (b'{"issue": ', "it is not JSON."),
        (b'{"a": "\xff"}', "it is not JSON."),
        (b"[1]", "it is not a JSON object."),
        (b"null", "it is not a JSON object."),
        (b"[" * 200_000, "it is not JSON."),
        (b'{"n": ' + b"9" * 9_999 + b"}", "it is not JSON."),
    ],
    ids=["empty", "cut", "no UTF-8", "a list", "null", "deep", "endless number"],
)
def test_anything_else(tmp_path: Path, content: bytes, problem: str) -> None:
    file = tmp_path / "event.json"
    file.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        read_event(file)
    assert str(caught.value) == f"The event payload cannot be read: {problem}"


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="does not open"):
        read_event(tmp_path / "none")
    with pytest.raises(BadInput, match="does not open"):
        read_event(tmp_path)
    with pytest.raises(BadInput, match="does not open"):
        read_event(tmp_path / "a\0b")
    with pytest.raises(BadInput, match="GITHUB_EVENT_PATH is not set"):
        read_event(None)


def test_a_pipe_without_a_writer_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="does not open"):
        read_event(tmp_path / "pipe")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_encodings_that_json_allows(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "event.json"
    file.write_bytes('{"title": "\u00e9 😀"}'.encode(encoding))
    assert read_event(file) == {"title": "é 😀"}
