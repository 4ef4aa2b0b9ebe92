"""Which links of an issue are read, and what of the texts and archives behind them."""

import zipfile
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_LZMA

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from triage.domain.issue import Attachment, Issue, IssueComment
from triage.read.attachments import (
    MAX_FILES,
    NOT_TEXT,
    find_attachments,
    find_pictures,
    may_be_read,
    read_attachment,
    read_picture,
    shorten_log,
)
from triage.read.read_issue import read_issue

GITHUB = "https://github.com"
TRACE = 'Traceback (most recent call last):\n  File "till/open.py", line 7, in pay\n    check()\nValueError: no coins\n'
SECRET = "ghp_" + "a1B2" * 9


def pack(files: dict[str, bytes], method: int = ZIP_DEFLATED) -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def read(name: str, data: bytes) -> tuple[list[str], list[str]]:
    """The texts, and what was not read."""
    found = list(read_attachment(name, data))
    return [one.text for one in found if one.text], [one.problem for one in found if one.problem]


@each_row(
    ("link", "is_read"),
    [
        (f"{GITHUB}/user-attachments/files/123/server.log", True),
        (f"{GITHUB}/octo/shop/files/123/server.log", True),
        (f"{GITHUB}/user-attachments/files/123/a%20b.zip", True),
        (f"{GITHUB}/user-attachments/assets/123", False),
        (f"{GITHUB}/user-attachments/files/123/../../../login", False),
        (f"{GITHUB}/octo/shop/files/123/server.log?next=x", False),
        (f"{GITHUB}.evil.example/octo/shop/files/123/server.log", False),
        ("https://evil.example/user-attachments/files/123/server.log", False),
        ("http://github.com/user-attachments/files/123/server.log", False),
        (f"{GITHUB}@evil.example/octo/shop/files/123/server.log", False),
    ],
)
def test_a_link_to_an_uploaded_file_of_this_server_is_read(link: str, is_read: bool) -> None:
    assert find_attachments(Issue(title="t", body=f"See [it]({link})."), GITHUB) == [link] * is_read


def test_links_of_the_reporters_comments_count_and_others_and_hidden_ones_do_not() -> None:
    links = [f"{GITHUB}/user-attachments/files/{number}/a.log" for number in range(4)]
    thread = [IssueComment(author="ann", body=links[1]), IssueComment(author="bob", body=links[2])]
    issue = Issue(title="t", body=f"{links[0]}\n\n{links[0]}\n\n<!-- {links[3]} -->", author="ann", thread=thread)
    assert find_attachments(issue, GITHUB) == links[:2]


@each_row(("name", "may_be"), [("a.log", True), ("A.ZIP", True), ("a.pdf", False), ("a.log.gz", False), ("a", False)])
def test_texts_and_archives_are_read(name: str, may_be: bool) -> None:
    assert may_be_read(name) == may_be


def test_a_log_is_read_like_a_block_of_the_issue() -> None:
    quiet = "ok\n" * 20_000
    data = f"{quiet}{TRACE}{quiet}bye\n".encode()
    parsed = read_issue(Issue(title="It stops", attachments=list(read_attachment("a.log", data))))
    assert [trace.frames[-1].path for trace in parsed.traces] == ["till/open.py"]
    assert parsed.error_messages[0] == "ValueError: no coins"
    assert len(parsed.body) < 20_000
    assert parsed.body.endswith("bye\n```")
    assert parsed.prose == "# Attachment"


def test_short_texts_stay_whole_and_of_long_ones_gaps_are_shown() -> None:
    assert shorten_log("\na\n b\n") == "a\n b"
    lines = shorten_log("\n".join(f"{number:04} {'x' * 95}" for number in range(1_000))).split("\n")
    assert lines[lines.index("[...]") + 1].startswith("0940")
    assert len("\n".join(lines)) < 16_100


@each_row(
    ("name", "data", "texts", "problems"),
    [
        ("a.log", b"\xff\xfen\x00o\x00", ["no"], []),
        ("a.log", b"PK\x00\x01\x02", [], [NOT_TEXT]),
        ("a.txt", f"token {SECRET}\u202e".encode(), ["token [masked secret]"], []),
        ("a.zip", pack({"../../etc/a.log": b"no coins", "b/": b""}), ["no coins"], []),
        (
            "a.zip",
            pack({"a.log": b"no coins", "core": b"\0" * 99, "b.zip": pack({"c.log": b"x"})}),
            ["no coins"],
            ["2 of 3 files in it are no texts, or too many"],
        ),
        (
            "a.zip",
            pack({"a.log": b"no coins"}, ZIP_LZMA),
            [],
            ["a file in it is encrypted, or compressed in an odd way"],
        ),
        ("a.zip", pack({"a.log": b"\n" * 1_900_000}), [], ["a file in it is too large"]),
        ("a.zip", b"PK\x05\x06", [], ["the archive is damaged"]),
        ("a.zip", pack({"a.log": b"no coins"})[:-30], [], ["the archive is damaged"]),
    ],
)
def test_what_of_a_file_is_read(name: str, data: bytes, texts: list[str], problems: list[str]) -> None:
    assert read(name, data) == (texts, problems)


def test_an_archive_is_read_up_to_its_bounds() -> None:
    texts, problems = read("a.zip", pack({f"{number}.log": b"no coins" for number in range(MAX_FILES + 5)}))
    assert (len(texts), problems) == (MAX_FILES, ["5 of 15 files in it are no texts, or too many"])
    large = "\n".join(str(number**9) for number in range(100_000)).encode()[:900_000]
    texts, problems = read("a.zip", pack({f"{number}.log": large for number in range(3)}))
    assert (len(texts), problems) == (2, ["a file in it is too large"])


def test_an_archive_that_understates_a_file_is_damaged() -> None:
    data = pack({"a.log": b"x" * 5_000})
    entry = data.index(b"PK\x01\x02")
    smaller = data[: entry + 24] + (9).to_bytes(4, "little") + data[entry + 28 :]
    assert read("a.zip", smaller) == ([], ["the archive is damaged"])


@given(st.binary(max_size=400), st.sampled_from(["a.zip", "a.log"]))
def test_any_data_is_read(data: bytes, name: str) -> None:
    assert all(isinstance(one, Attachment) for one in read_attachment(name, data + pack({"a.log": data})[40:]))


@pytest.mark.parametrize("part", ["x", "x\n", "    at com.acme.Foo.bar(Foo.java:12)\n", TRACE])
def test_much_text_is_cut(part: str) -> None:
    assert len(shorten_log(part * (400_000 // len(part)))) < 17_000


UUID = "0b9c2c5e-4f0e-4d6b-9a7e-3c1d2e4f5a6b"


@each_row(
    ("address", "is_read"),
    [
        (f"{GITHUB}/user-attachments/assets/{UUID}", True),
        (f"{GITHUB}/octo/shop/assets/123/{UUID}", True),
        ("https://user-images.githubusercontent.com/123/456-a.png", True),
        (f"{GITHUB}/user-attachments/assets/../../login", False),
        (f"{GITHUB}.evil.example/user-attachments/assets/{UUID}", False),
        ("https://user-images.githubusercontent.com/123/a.png?x=y", False),
        ("https://img.example/a.png", False),
        ("data:image/png;base64,aWNv", False),
    ],
)
def test_pictures_that_are_read(address: str, is_read: bool) -> None:
    found = find_pictures(Issue(title="It stops", body=f"See ![a]({address}) and [b]({address})"), GITHUB)
    assert found == [address] * is_read


@each_row(
    ("data", "picture"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png;base64,iVBORw0KGgo="),
        (b"\xff\xd8\xff\xe0", "image/jpeg;base64,/9j/4A=="),
        (b"<svg onload='x'/>", ""),
        (b"", ""),
    ],
)
def test_a_picture_is_one_by_its_first_bytes(data: bytes, picture: str) -> None:
    assert read_picture(data) == Attachment(picture=picture)


def test_another_server_has_no_pictures_at_github() -> None:
    body = "![a](https://user-images.githubusercontent.com/123/456-a.png)"
    assert find_pictures(Issue(title="It stops", body=body), "https://git.example") == []
