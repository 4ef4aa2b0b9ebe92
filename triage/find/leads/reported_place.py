"""Reported place: a file, or lines of one, that the reporter links to or names by its path."""

import re
from collections.abc import Iterator

from triage.domain.code import LeadRule
from triage.domain.issue import ParsedIssue
from triage.find.leads.lead import Lead
from triage.find.rank.mentions import resolve_path
from triage.find.rank.search import Search

_PATH = r"(?<![\w./\\-])((?:[\w.@+-]{1,80}[/\\]){0,12}[\w@+-][\w.@+-]{0,80}\.[A-Za-z]\w{0,6})"
_WITH_LINE = re.compile(_PATH + r"(?:[:#]L?|\(|,? ?(?:on |at )?(?:\blines?|\bL)\.? ?#?)(\d{1,6})\b")
_CLEARED = re.compile(
    r"(?i)(?:\bnot|n['’]t|\bmy|\bown) (?:(?:is|are|be|in|at|from|code|file|script|test) ?){0,3}[`\"']?$"
)
"""Before a file that is not to blame, or is the reporter's own."""
_CLEARED_CHARS = 40
_LINK = re.compile(
    r"/([\w.-]{1,100})/(?:-/)?(?:blob|blame|tree|raw|src)/[^/\s]{1,200}/([^\s?#<>\"')\]]{1,500})(?:#L(\d{1,7}))?"
)
_URL = re.compile(r"\bhttps?://[^\s<>\"'`]{1,2000}")
_COMMAND = re.compile(r"`[^`\n]{0,80} [^`\n]{0,200}`|^\s*[$>] .*$", re.M)


def leave_out_commands(text: str) -> str:
    """Return the text without what the reporter ran: code of several words, but for a call or an assignment."""
    return _COMMAND.sub(lambda match: match[0] if re.search(r"[(=]", match[0]) else " ", text)


def find_reported_places(search: Search, parsed: ParsedIssue, repository: str) -> Iterator[Lead]:
    """Yield the files that the report names. A link counts if it goes into a repository of this name.

    `repository` is `owner/name`, or the folder's name. With a line the rule is `place`, else `link` or `path`.
    """
    text = _URL.sub(" ", leave_out_commands(f"{parsed.title}\n{parsed.prose}"))
    name = repository.rpartition("/")[2].casefold()
    links = [match for link in parsed.links if (match := _LINK.search(link)) and match[1].casefold() == name]
    written: list[tuple[LeadRule, str, str | None]] = [
        ("place" if match[3] and int(match[3]) else "link", match[2], match[3]) for match in links
    ]
    words = [*_find_with_lines(text), *(("path", path, None) for path in parsed.paths if path in text)]
    of_traces = {frame.path for trace in parsed.traces for frame in trace.frames}
    written += [one for one in words if one[1] not in of_traces]
    seen = set[int]()
    for rule, path, line in written:
        files = resolve_path(search.corpus, path)
        if len(files) != 1 or files[0] in seen:
            continue
        file = files[0]
        role, size = search.corpus.files[file].role, len(search.file_lines(file))
        # A bare `package.json` or `README.md` is the reporter's own.
        if not size or (rule == "path" and "/" not in path and not role.is_product_code):
            continue
        seen.add(file)
        number = int(line) if line and 1 <= int(line) <= size else None
        yield Lead("path" if rule == "place" and number is None else rule, file, number, path)


def _find_with_lines(text: str) -> Iterator[tuple[LeadRule, str, str | None]]:
    for match in _WITH_LINE.finditer(text):
        if not _CLEARED.search(text[max(0, match.start() - _CLEARED_CHARS) : match.start()]):
            # A bare name may be a file of the reporter's own: no reason to put it first.
            yield "place" if "/" in match[1] else "path", match[1], match[2]
