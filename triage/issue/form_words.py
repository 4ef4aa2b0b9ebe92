"""Words of the project's issue form are no words of the report: what the form says is in no code for a reason."""

import re
from collections.abc import Iterable, Sequence

from triage.domain.issue import ParsedIssue

_MIN_CHARS = 4
_FORM_KEY = re.compile(
    r"^[\s\-]*(?:(?:name|about|label|description|placeholder|value|title|options|labels)\s*:)?\s*[|>]?\s*"
)
_MARKS = "#*->•_:\"'`[]() \t"
_TITLE = re.compile(r"^title[ \t]*:[ \t]*(\S.*)$", re.M)
_EMPTY_ANSWER = "no response"


def leave_out_form(parsed: ParsedIssue, forms: Sequence[str]) -> ParsedIssue:
    """Return the issue without the lines of the issue forms, and without the start of the title that a form gives."""
    if not forms:
        return parsed
    known = {_EMPTY_ANSWER, *(line for form in forms for line in _list_lines(form))}
    return parsed.model_copy(
        update={
            "title": _cut_title(parsed.title, forms),
            "body": _keep_own_lines(parsed.body, known),
            "prose": _keep_own_lines(parsed.prose, known),
        }
    )


def _list_lines(form: str) -> Iterable[str]:
    lines = (_normalize(_FORM_KEY.sub("", line)) for line in form.splitlines())
    return (line for line in lines if len(line) >= _MIN_CHARS)


def _normalize(line: str) -> str:
    return " ".join(line.strip(_MARKS).casefold().split())


def _keep_own_lines(text: str, known: set[str]) -> str:
    return "\n".join(line for line in text.split("\n") if _normalize(line) not in known)


def _cut_title(title: str, forms: Sequence[str]) -> str:
    starts = (match[1].strip(" \t\"'") for form in forms for match in _TITLE.finditer(form))
    # Only what ends by itself, such as `[Bug]: `: a form that begins with a word would cut words of reports.
    marks = (start.rstrip(" :") for start in starts if start.rstrip().endswith(("]", ":", ")", "-")))
    cut = max((mark for mark in marks if title.startswith(mark)), key=len, default="")
    return title[len(cut) :].lstrip(" :-") or title
