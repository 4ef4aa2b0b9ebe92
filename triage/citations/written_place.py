"""Places and symbols as models write them: `a/b.py:12-14`, `a/b.py (Store.save)`, a permalink, `def save(self)`."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from triage.domain.code import CodePlace

MAX_CHARS = 4096
"""PATH_MAX of Linux: a longer path cannot be checked out."""

_HEADING = re.compile(r"(?:#{1,6}|[-*\u2022])\s+")
_LINES = re.compile(
    r"""(?:[:#@]\s*(?:lines?\s*)?l?|[,;]?\s+\(?lines?\s*)   # `:12`, `#L12`, `, lines 12`, ` (line 12`
        (?P<start>\d{1,9})(?:c\d{1,9})?
        (?:\s*(?:-|\u2013|to)\s*(?:lines?\s*)?l?(?P<end>\d{1,9})(?:c\d{1,9})?|:\d{1,9})?   # a column is not needed
        \)?""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_SYMBOL = re.compile(
    r"(?:\s*\((?P<in_brackets>[^()\s]{1,200}(?:\(\))?)\)|::?(?P<behind>[A-Za-z_$][\w$.:]{0,200}(?:\(\))?))"
)
_URL = re.compile(
    r"https?://[^/\s]+/(?P<repository>[^/\s]+/[^/\s]+)/(?:-/)?(?:blob|blame|raw|tree|edit)/(?P<path>[^?\s<>\])]+)"
)
_LINE_NUMBER = re.compile(r"(?<!\d)(\d{1,9})(?!\d)(?:\.\d+)?", re.ASCII)
_TAIL_BEGIN = re.compile(r"[:#@,;(]|\s+")
_MAX_TAILS, _MAX_BEGINS = 3, 12

_KIND = re.compile(
    r"(?:(?:async|public|private|protected|static|export|default)\s+)*"
    r"(?:def|class|func(?:tion)?|fn|method|struct|interface|trait|enum|type|module|property|constant|variable)\s+(?=[\w$])",
    re.IGNORECASE,
)
_PARAMETERS = re.compile(r"(?<=[\w$])\s*\(.*", re.DOTALL)
_KIND_BEHIND = re.compile(
    r"(?<=\w)\s+(?:function|method|class|constructor|property|variable|constant)\Z", re.IGNORECASE
)


def list_readings(text: str, repository: str) -> Iterator[CodePlace]:
    """Yield what a text may mean, the most literal reading first. `repository` is `owner/name`, or a name alone.

    A permalink to another repository means nothing here.
    """
    if len(text) > MAX_CHARS:
        return
    text = text.strip().strip("`'\"").strip()
    if "://" in text:
        yield from _list_url_readings(text, repository)
        return
    readings = [CodePlace(text)]
    text = _HEADING.sub("", text, count=1)
    readings += [CodePlace(text), *_split_tails(text)]
    for place in dict.fromkeys(readings):
        yield place
        if path := _strip_repository(place.path, repository):
            yield replace(place, path=path)


def _split_tails(text: str) -> Iterator[CodePlace]:
    place = CodePlace(text)
    for _ in range(_MAX_TAILS):
        head, tail = _cut_tail(place.path)
        if tail is None:
            return
        groups = tail.groupdict()
        if start := groups.get("start"):
            place = replace(place, path=head, start=int(start), end=int(groups["end"] or start))
        else:
            place = replace(place, path=head, symbol=place.symbol or groups["in_brackets"] or groups["behind"])
        yield place


def _cut_tail(text: str) -> tuple[str, re.Match[str] | None]:
    """Return the path without the lines or the symbol behind it."""
    text = text.rstrip("`,;. ")
    for begin in [match.start() for match in _TAIL_BEGIN.finditer(text)][-_MAX_BEGINS:]:
        if tail := _LINES.fullmatch(text, begin) or _SYMBOL.fullmatch(text, begin):
            return text[:begin].strip().strip("`'\""), tail
    return text, None


def _list_url_readings(url: str, repository: str) -> Iterator[CodePlace]:
    found = _URL.search(url)
    if not found or not is_same_repository(found["repository"], repository):
        return
    path, _, fragment = found["path"].partition("#")
    fragment = fragment or url[found.end() :].partition("#")[2].rstrip(">)]")
    lines = _LINES.fullmatch(f"#{fragment}")
    start = int(lines["start"]) if lines else None
    end = int(lines["end"] or lines["start"]) if lines else None
    parts = unquote(path).split("/")
    for ref_length in range(1, min(len(parts), 6)):  # the name of a branch may have slashes
        yield CodePlace("/".join(parts[ref_length:]), start, end)


def is_same_repository(written: str, repository: str) -> bool:
    """Return whether `owner/name` is the repository, of which at a terminal only the name is known."""
    written, repository = written.casefold(), repository.casefold()
    return bool(repository) and (
        written == repository or ("/" not in repository and written.endswith(f"/{repository}"))
    )


def read_line_numbers(written: Any) -> list[int]:
    """Return the one or two numbers of a line or range, such as `L12-L14`, `[12, 14]` or `{"from": 12, "to": 14}`."""
    return [int(number) for number in _LINE_NUMBER.findall(str(written))[:2]]


def _strip_repository(path: str, repository: str) -> str:
    for prefix in (repository, repository.rpartition("/")[2]):
        if prefix and path.casefold().startswith(f"{prefix.casefold()}/"):
            return path[len(prefix) + 1 :]
    return ""


def clean_symbol(written: str) -> str:
    """Return the name without marks around it, its kind, and its parameters."""
    name = written.strip().strip("`'\"*").strip()
    name = _KIND.sub("", name, count=1) if _KIND.match(name) else name
    name = _PARAMETERS.sub("", name, count=1)
    return _KIND_BEHIND.sub("", name.strip("`: "))
