"""What a model may answer in the fix flow."""

from typing import Annotated, Literal

from triage.domain.findings import (
    AlsoNamed,
    Answer,
    ErrorText,
    Exact,
    IfMissing,
    NullableText,
    OptionalText,
    Path,
    Reason,
    Texts,
)


class TicketClass(Answer):
    """What kind of change an issue asks for."""

    essential = ("confirmed_type", "technical_summary")
    confirmed_type: Annotated[Literal["Bug", "Story"], IfMissing("Bug")]
    technical_summary: OptionalText
    """One sentence."""
    acceptance_criteria: Texts
    error: ErrorText


class ChosenModule(Answer):
    name: Annotated[str, AlsoNamed(("module", "path"))]
    reason: Annotated[OptionalText, Reason]


class ModuleChoice(Answer):
    """Which modules may change."""

    essential = ("affected_modules",)
    affected_modules: list[ChosenModule]
    files_likely_to_change: Texts
    error: ErrorText


class EditAnswer(Answer):
    """Replaces a text that occurs exactly once in its file."""

    search: Annotated[str, Exact(), AlsoNamed(("find", "old", "old_text", "old_string"))]
    replace: Annotated[str, Exact(), AlsoNamed(("new", "new_text", "new_string", "replacement"))]


class FileAnswer(Answer):
    """What changes in one file: edits of a file that exists, or the whole text of a new one."""

    file_path: Annotated[str, AlsoNamed((*Path.names, "path"))]
    description: Annotated[OptionalText, Reason]
    is_new_file: Annotated[bool, IfMissing(False)]
    edits: Annotated[list[EditAnswer], Exact()]
    new_content: NullableText
    """Of a new file."""


class CodeChanges(Answer):
    """The smallest change that fixes a bug, or that meets all criteria of a story."""

    essential = ("changes", "look_at")
    root_cause: NullableText
    summary: OptionalText
    """One line, such as the subject of a commit."""
    changes: Annotated[list[FileAnswer], Exact()]
    look_at: Texts
    """Paths or names of definitions that the model must see before it can answer."""
    unverified: Texts
    """What nobody has checked about the change."""
    error: ErrorText


class TestChanges(Answer):
    """Tests that fail without the change and pass with it."""

    __test__ = False
    essential = ("tests", "no_test_reason", "look_at")
    tests: Annotated[list[FileAnswer], Exact()]
    no_test_reason: NullableText
    """Why there is none."""
    look_at: Texts
    """As of `CodeChanges`."""
    error: ErrorText
