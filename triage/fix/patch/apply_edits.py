"""Files as a model's answer leaves them: its search-and-replace edits are applied all, or none."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator, Field

from triage.domain.findings import Answer, Exact, IfMissing, OptionalText, drop_blank
from triage.domain.proposal import MAX_FILE_CHARS, PatchedFile

if TYPE_CHECKING:
    from triage.fix.base_files import BaseFiles


Code = Annotated[str, Field(json_schema_extra={"maxLength": 40_000})]
"""As long as the tokens of an answer allows: other texts are asked for with a smaller bound."""
AT_MOST_50 = Field(json_schema_extra={"maxItems": 50})
MIXED_ENDS = "line ends of several kinds"


class EditAnswer(Answer):
    """Replaces a text that occurs exactly once in its file."""

    search: Annotated[Code, Exact()]
    replace: Annotated[Code, Exact()]


class FileAnswer(Answer):
    """What changes in one file: edits of a file that exists, or the whole text of a new one."""

    file_path: str
    description: OptionalText
    is_new_file: Annotated[bool, IfMissing(False)]
    edits: Annotated[list[EditAnswer], Exact(), AT_MOST_50]
    new_content: Annotated[Code | None, BeforeValidator(drop_blank)]
    """Of a new file."""


def find_line_ends(text: str) -> str:
    """Return "LF", "CRLF" or `MIXED_ENDS`; empty without any. A carriage return alone is another kind."""
    pairs, feeds, returns = text.count("\r\n"), text.count("\n"), text.count("\r")
    if pairs != returns or (pairs and pairs != feeds):
        return MIXED_ENDS
    if pairs:
        return "CRLF"
    return "LF" if feeds else ""


MAX_PROBLEMS = 10
"""Of one file that are named at once."""
MAX_SHOWN_LINES = 8
"""Lines of the file in one message."""
_MAX_LINE_CHARS = 160
_MAX_COMPARED_LINES = 12
"""Lines of a text that is searched for."""
_MAX_PLACES = 1_000
"""Of one of these lines in the file."""


class RejectedEdits(Exception):
    """Edits that do not apply. Each problem says what to do. It may quote the file."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(self.problems))


def apply_edits(path: str, base_text: str, edits: Sequence[EditAnswer]) -> str:
    """Return the text of the file with all edits, one after the other.

    Every `search` must occur exactly once in what the edits before it leave. A file with CRLF keeps CRLF, and the final
    newline stays as it was.

    Raises RejectedEdits if at least one edit does not apply.
    """
    ends = find_line_ends(base_text)
    if ends == MIXED_ENDS:
        raise RejectedEdits([f"{path} has line ends of several kinds and cannot be edited: leave it as it is."])
    text = edited = base_text.replace("\r\n", "\n")
    problems: list[str] = []
    for number, edit in enumerate(edits, 1):
        search, replace = edit.search.replace("\r\n", "\n"), edit.replace.replace("\r\n", "\n")
        if problem := _find_problem(f"Edit {number} of {path}", edited, search, replace):
            problems.append(problem)
        else:
            edited = edited.replace(search, replace)
        if len(problems) == MAX_PROBLEMS:
            break
    if problems:
        raise RejectedEdits(problems)
    edited = _match_final_newline(edited, text)
    if edited == text:
        raise RejectedEdits([f"The edits of {path} change nothing together: leave the file out."])
    return edited.replace("\n", "\r\n") if ends == "CRLF" else edited


def finish_new_text(text: str) -> str:
    """Return the text of a new or empty file with LF line ends and a newline at its end."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"{lines.rstrip(chr(10))}\n" if lines.strip() else ""


def _find_problem(name: str, text: str, search: str, replace: str) -> str:
    """Return why an edit cannot be applied; empty if its search text occurs once."""
    if not search:
        return f"{name} has an empty search text: copy the lines to be replaced from the file."
    if search == replace:
        return f"{name} changes nothing: its replacement is the text itself."
    if "\r" in replace:
        return f"{name} has a carriage return in its replacement: use LF line ends."
    starts = _find_starts(text, search)
    if not starts:
        return _describe_missing(text.split("\n"), name, search)
    if len(starts) > 1:
        lines = ", ".join(str(text.count("\n", 0, start) + 1) for start in starts[:MAX_SHOWN_LINES])
        return (
            f"{name}: the text occurs {len(starts)} times in the file (lines {lines}"
            f"{', …' if len(starts) > MAX_SHOWN_LINES else ''}): add lines around it until it occurs once."
        )
    return ""


def _find_starts(text: str, search: str) -> list[int]:
    # Occurrences may overlap: each is a place that the edit could mean.
    starts: list[int] = []
    start = text.find(search)
    while start >= 0 and len(starts) < 1_000:
        starts.append(start)
        start = text.find(search, start + 1)
    return starts


def _match_final_newline(edited: str, text: str) -> str:
    if text.endswith("\n"):
        return edited if edited.endswith("\n") or not edited else f"{edited}\n"
    return edited.rstrip("\n")


def _describe_missing(lines: Sequence[str], name: str, search: str) -> str:
    """Say where most lines of the text stand, apart from white space."""
    places: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        places.setdefault(line.strip(), []).append(number)
    missing = f"{name}: the text does not occur in the file"
    wanted = search.strip("\n").split("\n")
    starts = Counter(
        number - offset
        for offset, line in enumerate(wanted[:_MAX_COMPARED_LINES])
        if line.strip()
        for number in places.get(line.strip(), [])[:_MAX_PLACES]
    )
    if not starts:
        return f"{missing}, nor does one of its lines: copy the text from the file as it is."
    start = max(0, max(starts, key=lambda one: (starts[one], -one)))
    shown = lines[start : start + min(len(wanted) + 2, MAX_SHOWN_LINES)]
    numbered = "\n".join(f"{number}: {line[:_MAX_LINE_CHARS]}" for number, line in enumerate(shown, start + 1))
    return f"{missing}: copy it as it is. The nearest lines are:\n{numbered}"


def build_files(
    answers: Sequence[FileAnswer], files: "BaseFiles", earlier: Mapping[str, str] | None = None
) -> tuple[list[PatchedFile], list[str]]:
    """Return the files and what is wrong with the answer, one sentence per problem.

    Several entries of one file count as one. `earlier` has the text of files that another answer has changed already.
    """
    built: list[PatchedFile] = []
    problems: list[str] = []
    for path in dict.fromkeys(map(normalize_path, answers)):
        group = [answer for answer in answers if normalize_path(answer) == path]
        try:
            file = _build_file(path, group, files, (earlier or {}).get(path))
        except RejectedEdits as error:
            problems += error.problems
            continue
        built.append(file)
    return built, problems


def normalize_path(answer: FileAnswer) -> str:
    """Return the path of an answer relative to the top folder."""
    return answer.file_path.strip().removeprefix("./").removeprefix("/")


def _build_file(path: str, group: Sequence[FileAnswer], files: "BaseFiles", earlier: str | None) -> PatchedFile:
    """Return one file with what all answers change in it. `earlier` is its text if it has been changed already."""
    description = " ".join(answer.description for answer in group if answer.description)
    found = files.read(path)
    if isinstance(found, str):
        raise RejectedEdits([f"{path} cannot be changed: it is {found}. Leave it out."])
    edits = [edit for answer in group for edit in answer.edits]
    if found is None:
        contents = [answer.new_content for answer in group if answer.new_content]
        if len(contents) != 1:
            raise RejectedEdits([f"{path} does not exist. For a new file, give its whole text in new_content, once."])
        text = finish_new_text(contents[0])
    elif not edits:
        raise RejectedEdits([f"{path} exists: give edits, not the whole text."])
    else:
        text = apply_edits(path, found.text if earlier is None else earlier, edits)
    if len(text) > MAX_FILE_CHARS:
        raise RejectedEdits(
            [f"{path} would have more than {MAX_FILE_CHARS:,} characters: make it no longer than it is."]
        )
    return PatchedFile(path=path, description=description, is_new_file=found is None, text=text)
