"""Texts, logs, archives of them and pictures that an issue and its author's comments show: which, and what is read.

Nothing is written to a disk, and no name in an archive is used for anything but its ending.
"""

import re
import zlib
from base64 import b64encode
from collections.abc import Iterator
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from triage.base.text import decode_text
from triage.domain.issue import Attachment, Issue
from triage.read.read_issue import read_author_comments
from triage.read.traces.traces import find_traces
from triage.read.visible_text.visible_text import extract_visible_page
from triage.safety.clean_text import clean_text
from triage.safety.secrets.likely_secrets import redact_likely_secrets

MAX_ATTACHMENTS = 3
MAX_PICTURES = 2
MAX_BYTES = 2_000_000
"""Of one, and of all files of an archive together."""
MAX_FILES = 10
"""Of an archive."""
_MAX_RATIO = 100
"""A text shrinks to a tenth, a log at most to a fortieth."""
_MAX_CHARS = 16_000
_FIRST_LINES, _LAST_LINES, _LINES_AROUND = 30, 60, 5
"""A log begins with versions and ends with what failed."""
_MAX_LINE_CHARS = 1_000
_TEXT = re.compile(
    r".*\.(?:txt|log|out|err|trace|md|csv|jsonc?|xml|ya?ml|toml|ini|cfg|conf|diff|patch|sh|py|js|ts|java|go|rs|rb|php"
    r"|c|h|cc|cpp|cs)",
    re.I | re.S,
)
NOT_TEXT = "it is neither a text nor an archive of texts"
_PICTURE_PLACE = r"/(?:user-attachments/assets/[0-9a-f-]{36}|[\w.-]{1,100}/[\w.-]{1,100}/assets/\d{1,20}/[0-9a-f-]{36})"
_PICTURE_HOST = r"https://user-images\.githubusercontent\.com/\d{1,20}/[\w-]{1,100}\.\w{3,4}"
"""Where github.com, and no other server, stored them until 2023."""
_GITHUB = "https://github.com"
_PICTURE_TYPES = {b"\x89PNG\r\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}
"""By their first bytes. Models take these."""


def find_attachments(issue: Issue, server_url: str) -> list[str]:
    """Return the addresses of the files on the server that the issue and its author's comments show."""
    pages = [extract_visible_page(issue.body), *read_author_comments(issue)]
    at = r"/(?:user-attachments|[\w.-]{1,100}/[\w.-]{1,100})/files/\d{1,20}/[\w.%+()-]{1,200}"
    pattern = re.compile(re.escape(server_url) + at, re.ASCII)
    return list(dict.fromkeys(link for page in pages for link in page.links if pattern.fullmatch(link)))


def find_pictures(issue: Issue, server_url: str) -> list[str]:
    """Return the addresses of the pictures on the server that the issue and its author's comments show."""
    pages = [extract_visible_page(issue.body), *read_author_comments(issue)]
    older = f"|{_PICTURE_HOST}" if server_url == _GITHUB else ""
    pattern = re.compile(f"{re.escape(server_url)}{_PICTURE_PLACE}{older}", re.ASCII)
    return list(dict.fromkeys(one for page in pages for one in page.pictures if pattern.fullmatch(one)))


def read_picture(data: bytes) -> Attachment:
    kind = next((kind for start, kind in _PICTURE_TYPES.items() if data.startswith(start)), "")
    return Attachment(picture=f"image/{kind};base64,{b64encode(data).decode()}" if kind else "")


def may_be_read(name: str) -> bool:
    return _is_archive(name) or _TEXT.fullmatch(name) is not None


def read_attachment(name: str, data: bytes) -> Iterator[Attachment]:
    """Yield the text of a file, or those of an archive. Takes seconds at most; raises nothing for any data."""
    if not _is_archive(name):
        yield _read_text(data)
        return
    try:
        with ZipFile(BytesIO(data)) as archive:
            yield from _unpack(archive)
    except (BadZipFile, NotImplementedError, RuntimeError, ValueError, OSError, EOFError, zlib.error):
        yield Attachment(problem="the archive is damaged")


def _is_archive(name: str) -> bool:
    return name.lower().endswith(".zip")


def _unpack(archive: ZipFile) -> Iterator[Attachment]:
    """Yield the texts of an archive, and why other files in it are not read."""
    files = [one for one in archive.infolist() if not one.is_dir()]
    texts = [one for one in files if _TEXT.fullmatch(one.filename)][:MAX_FILES]
    room = MAX_BYTES
    if len(texts) < len(files):
        yield Attachment(problem=f"{len(files) - len(texts):,} of {len(files):,} files in it are no texts, or too many")
    for one in texts:
        if problem := _find_problem(one, room):
            yield Attachment(problem=f"a file in it {problem}")
            continue
        with archive.open(one) as stream:
            data = stream.read(room)  # never more than the archive says, which was looked at
        room -= len(data)
        yield _read_text(data)


def _find_problem(member: ZipInfo, room: int) -> str:
    """Return why a file of an archive is not read; empty if it is."""
    if member.flag_bits & 1 or member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        return "is encrypted, or compressed in an odd way"
    if member.file_size > room or member.file_size > _MAX_RATIO * max(1, member.compress_size):
        return "is too large"
    return ""


def _read_text(data: bytes) -> Attachment:
    text = decode_text(data)
    if text is None:
        return Attachment(problem=NOT_TEXT)
    return Attachment(text=shorten_log(redact_likely_secrets(clean_text(text))))


def shorten_log(text: str) -> str:
    """Return a text of at most 16,000 characters; of a longer one its stack traces, the first and the last lines."""
    text = text.strip("\n")
    if len(text) <= _MAX_CHARS:
        return text
    lines = [line.rstrip()[:_MAX_LINE_CHARS] for line in text.split("\n")]
    traces = [(found.start - _LINES_AROUND, found.end + _LINES_AROUND) for found in find_traces("\n".join(lines))]
    chosen, room = set[int](), _MAX_CHARS
    for start, end in [*traces, (0, _FIRST_LINES), (len(lines) - _LAST_LINES, len(lines))]:
        for number in range(max(0, start), min(end, len(lines))):
            if number not in chosen and (room := room - len(lines[number]) - 1) >= 0:
                chosen.add(number)
    return "\n".join(
        f"{'' if number - 1 in chosen or not number else '[...]' + chr(10)}{lines[number]}" for number in sorted(chosen)
    )
