"""Reported place: a file, or lines of one, that the reporter names, by its path or by what it defines."""

import re
from collections import Counter
from collections.abc import Iterator

from triage.code.leads.lead import Lead, Rule
from triage.code.rank.mentions import resolve_path
from triage.code.rank.query_scores import QueryScores
from triage.code.words.corpus import DefinitionLocation
from triage.domain.issue import ParsedIssue

_PATH = r"(?<![\w./\\-])((?:[\w.@+-]{1,80}[/\\]){0,12}[\w@+-][\w.@+-]{0,80}\.[A-Za-z]\w{0,6})"
_WITH_LINE = re.compile(_PATH + r"(?:[:#]L?|\(|,? ?(?:on |at )?(?:\blines?|\bL)\.? ?#?)(\d{1,6})\b")
_LINE_OF = re.compile(r"\blines? (\d{1,6})(?:\s*-\s*\d{1,6})? (?:of|in) (?:file )?[`\"']?" + _PATH, re.I)
_CLEARED = re.compile(
    r"(?i)(?:\bnot|n['’]t|\bmy|\bown) (?:(?:is|are|be|in|at|from|code|file|script|test) ?){0,3}[`\"']?$"
)
"""Before a file that is not to blame, or is the reporter's own."""
_CLEARED_CHARS = 40
_LINK = re.compile(
    r"/([\w.-]{1,100})/(?:-/)?(?:blob|blame|tree|raw|src)/[^/\s]{1,200}/([^\s?#<>\"')\]]{1,500})(?:#L(\d{1,7}))?"
)
MIN_MENTION = 0.5
"""Score of a name or path: no more than two files have it."""


def find_reported_places(query_scores: QueryScores, parsed: ParsedIssue, repository: str) -> Iterator[Lead]:
    """Yield the files of product code that the report names. A link counts if it goes into a repository of this name.

    `repository` is `owner/name`, or the folder's name.
    """
    text, name = f"{parsed.title}\n{parsed.prose}", repository.rpartition("/")[2].casefold()
    links = [match for link in parsed.links if (match := _LINK.search(link)) and match[1].casefold() == name]
    written: list[tuple[Rule, str, str | None]] = [("link", match[2], match[3]) for match in links]
    written += _find_with_lines(text, _WITH_LINE, 1, 2)
    written += _find_with_lines(text, _LINE_OF, 2, 1)
    written += [("path", path, None) for path in parsed.paths if path in text]
    seen = set[int]()
    for rule, path, line in written:
        files = resolve_path(query_scores.corpus, path)
        if len(files) != 1 or files[0] in seen:
            continue
        file = files[0]
        size = len(query_scores.file_lines(file))
        if not query_scores.corpus.files[file].role.is_product_code or not size:
            continue
        seen.add(file)
        number = int(line) if line and 1 <= int(line) <= size else None
        yield Lead(rule, file, number, path)


def _find_with_lines(
    text: str, pattern: re.Pattern[str], path: int, line: int
) -> Iterator[tuple[Rule, str, str | None]]:
    for match in pattern.finditer(text):
        if not _CLEARED.search(text[max(0, match.start() - _CLEARED_CHARS) : match.start()]):
            # A bare name may be a file of the reporter's own: then only the ranking's first file counts.
            yield "place" if "/" in match[path] else "path", match[path], match[line]


def find_name_lead(query_scores: QueryScores, file: int) -> Lead | None:
    """Return the file if it is of the product, and the report names it, or what it defines."""
    if not query_scores.corpus.files[file].role.is_product_code:
        return None
    mentions = query_scores.mentions
    scores = (mentions.path_scores, mentions.module_scores, mentions.definition_scores)
    if max(score.get(file, 0.0) for score in scores) < MIN_MENTION:
        return None
    named = _choose_definition(query_scores, file)
    return Lead(
        "name",
        file,
        text=_name_as_mentioned(query_scores, named) if named else "",
        span=(named.start, named.end) if named else None,
        symbol=named.name if named else None,
    )


def _choose_definition(query_scores: QueryScores, file: int) -> DefinitionLocation | None:
    """Return the mentioned definition of a file, rather one whose name no other definition there has."""
    mentioned = [one for one in query_scores.mentions.definitions.get(file, ()) if one[0] >= MIN_MENTION]
    names = Counter(location.name.rpartition(".")[2] for _, location in mentioned)

    def rate(one: tuple[float, DefinitionLocation]) -> tuple[bool, float, int]:
        score, location = one
        owner, _, name = location.name.rpartition(".")
        is_clear = names[name] == 1 or _is_mentioned(query_scores, owner)
        return is_clear, score, location.start

    return max(mentioned, key=rate, default=(0.0, None))[1]


def _name_as_mentioned(query_scores: QueryScores, location: DefinitionLocation) -> str:
    owner, _, name = location.name.rpartition(".")
    return location.name if _is_mentioned(query_scores, owner) else name


def _is_mentioned(query_scores: QueryScores, owner: str) -> bool:
    return owner.rpartition(".")[2] in query_scores.query.all_words
