"""An answer that could not be used, as the next request shows it."""

from triage.agents.prompts import format_bullets, shorten
from triage.domain.value import Value
from triage.fix.fix_answers import CodeChanges, FileAnswer, TestChanges

MAX_CHARS = 16_000


class LastAnswer(Value):
    text: str
    problems: list[str]


def describe_answer(answer: CodeChanges | TestChanges, problems: list[str]) -> LastAnswer:
    files = answer.changes if isinstance(answer, CodeChanges) else answer.tests
    return LastAnswer(text="\n\n".join(map(_format_file, files)), problems=problems)


def format_last_answer(last: LastAnswer | None) -> dict[str, str]:
    """Return the answer and what is wrong with it; nothing without one."""
    if last is None:
        return {}
    problems = format_bullets(last.problems)
    return {"your last answer": shorten(last.text, MAX_CHARS), "why it cannot be used": shorten(problems, MAX_CHARS)}


def _format_file(file: FileAnswer) -> str:
    edits = [f"search:\n{edit.search}\nreplace:\n{edit.replace}" for edit in file.edits]
    content = [f"new_content:\n{file.new_content}"] if file.new_content else []
    return "\n".join([f"# {file.file_path}: {file.description}", *edits, *content])
