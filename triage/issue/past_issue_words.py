"""Chooses the words by which GitHub is asked for past issues like this one."""

import re

from triage.domain.issue import ParsedIssue

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
