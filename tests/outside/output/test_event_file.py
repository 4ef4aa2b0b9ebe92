"""The file of the payload: one object, or one line that names the problem."""

import json
from pathlib import Path

import pytest

from triage.base.errors import BadInput
from triage.outside.output.job_output import read_event


def test_an_object(tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps({"issue": {"body": "\ud800 😀" * 9}}).encode())
    assert read_event(file) == {"issue": {"body": "\ud800 😀" * 9}}


@pytest.mark.parametrize(
    "content",
    [b"", b'{"issue": ', b'{"a": "\xff"}', b"[1]", b"null", b"[" * 200_000, b'{"n": ' + b"9" * 9_999 + b"}"],
    ids=["empty", "cut", "no UTF-8", "a list", "null", "deep", "endless number"],
)
def test_anything_else(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "event.json"
    file.write_bytes(content)
    with pytest.raises(BadInput, match="GITHUB_EVENT_PATH names no file with a JSON object"):
        read_event(file)


def test_no_file(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path, tmp_path / "a\0b", None):
        with pytest.raises(BadInput, match="GITHUB_EVENT_PATH names no file"):
            read_event(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_encodings_that_json_allows(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "event.json"
    file.write_bytes('{"title": "\u00e9 😀"}'.encode(encoding))
    assert read_event(file) == {"title": "é 😀"}
