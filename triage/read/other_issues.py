"""Other issues of the repository: the words to search for them, the numbers that a text names, their visible text."""

import re

from triage.domain.issue import ParsedIssue
from triage.domain.past_issues import PastIssue
from triage.read.visible_text.visible_text import extract_visible_line, extract_visible_page

_MAX_CHARS = 65_536
_SLUG = r"[\w.-]{1,39}/[\w.-]{1,100}"
_NUMBER = r"(\d{1,9})(?!\w)"
_REFERENCE = re.compile(rf"(?:(?<![\w/.-])({_SLUG})|(?<![\w/&]))#{_NUMBER}|(?<![\w/])GH-{_NUMBER}", re.I)
_ADDRESS = re.compile(rf"https?://(?:redirect\.|www\.)?([^\s/]{{1,100}})/({_SLUG})/(?:issues|pull)/{_NUMBER}", re.I)


def find_referenced_issues(text: str, repository: str, server_url: str = "https://github.com") -> set[int]:
    """Return numbers in `#12`, `GH-12`, `owner/repo#12` and addresses on `server_url`, for issues of `repository` only.

    Takes time linear in the text, of which it reads 65,536 characters.
    """
    text = text[:_MAX_CHARS]
    slug, host = repository.casefold(), server_url.rpartition("//")[2].rstrip("/").casefold()
    found = {
        int(number or other)
        for named, number, other in _REFERENCE.findall(text)
        if not named or named.casefold() == slug
    }
    addresses = _ADDRESS.findall(text)
    return found | {int(number) for at, named, number in addresses if (at.casefold(), named.casefold()) == (host, slug)}


MAX_PHRASE_CHARS = 120
"""GitHub takes a query of 256 characters, with the repository's name in it."""
MIN_PHRASE_WORDS = 2
MAX_TITLE_WORDS = 4
_VARIABLE = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`|\S*[/\\]\S*|\S*\d\S*|[<>{}\[\]()|=*]+")
"""What differs from report to report: quoted values, paths, numbers and addresses."""
_WORD = re.compile(r"[^\W\d_][\w.]*")
_TITLE_WORD = re.compile(r"[^\W\d_]\w{3,40}")


def choose_search_words(parsed: ParsedIssue) -> str:
    """Return the longest constant part of the error message as a phrase in quotes, else the longest title words.

    Nothing in them is an operator or a qualifier of GitHub's search. Empty if the issue has no such words.
    """
    messages = [f"{trace.exception or ''}: {trace.message or ''}" for trace in parsed.stack_traces]
    for message in [*messages, *parsed.error_messages]:
        parts = [" ".join(_WORD.findall(part)) for part in _VARIABLE.split(message.partition("\n")[0][:2_000])]
        longest = max(parts, key=len)
        if len(longest.split()) >= MIN_PHRASE_WORDS:
            return f'"{longest[:MAX_PHRASE_CHARS].rpartition(" ")[0] if len(longest) > MAX_PHRASE_CHARS else longest}"'
    words = sorted(dict.fromkeys(_TITLE_WORD.findall(parsed.title[:500].lower())), key=len, reverse=True)
    return " ".join(words[:MAX_TITLE_WORDS])


def make_visible(issue: PastIssue) -> PastIssue:
    """Return the issue with the visible text of its title and body, and with likely secrets masked.

    Takes about a millisecond.
    """
    return issue.model_copy(
        update={
            "title": extract_visible_line(issue.title)[0],
            "body": extract_visible_page(issue.body).text,
            "fixes": [fix.model_copy(update={"title": extract_visible_line(fix.title)[0]}) for fix in issue.fixes],
        }
    )
