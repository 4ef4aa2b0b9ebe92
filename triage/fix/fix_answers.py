"""What a model may answer in the fix flow."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from triage.domain.findings import (
    Answer,
    ErrorText,
    Exact,
    IfMissing,
    NullableText,
    OptionalText,
    Texts,
    drop_blank,
)

Code = Annotated[str, Field(json_schema_extra={"maxLength": 40_000})]
"""As long as `CHANGE_TOKENS` allows: other texts are asked for with a smaller bound."""
MANY = Field(json_schema_extra={"maxItems": 50})


class TicketClass(Answer):
    """What kind of change an issue asks for."""

    essential = ("confirmed_type", "technical_summary")
    confirmed_type: Annotated[Literal["Bug", "Story"], IfMissing("Bug")]
    technical_summary: OptionalText
    """One sentence."""
    acceptance_criteria: Texts
    error: ErrorText


class ChosenModule(Answer):
    name: str
    reason: OptionalText


class ModuleChoice(Answer):
    """Which modules may change."""

    essential = ("affected_modules",)
    affected_modules: list[ChosenModule]
    files_likely_to_change: Texts
    error: ErrorText


class EditAnswer(Answer):
    """Replaces a text that occurs exactly once in its file."""

    search: Annotated[Code, Exact()]
    replace: Annotated[Code, Exact()]


class FileAnswer(Answer):
    """What changes in one file: edits of a file that exists, or the whole text of a new one."""

    file_path: str
    description: OptionalText
    is_new_file: Annotated[bool, IfMissing(False)]
    edits: Annotated[list[EditAnswer], Exact(), MANY]
    new_content: Annotated[Code | None, BeforeValidator(drop_blank)]
    """Of a new file."""


class CodeChanges(Answer):
    """The smallest change that fixes a bug, or that meets all criteria of a story."""

    essential = ("changes", "look_at")
    root_cause: NullableText
    summary: OptionalText
    """One line, such as the subject of a commit."""
    changes: Annotated[list[FileAnswer], Exact(), MANY]
    look_at: Texts
    """Paths or names of definitions that the model must see before it can answer."""
    unverified: Texts
    """What nobody has checked about the change."""
    error: ErrorText


class TestChanges(Answer):
    """Tests that fail without the change and pass with it."""

    __test__ = False
    essential = ("tests", "no_test_reason", "look_at")
    tests: Annotated[list[FileAnswer], Exact(), MANY]
    no_test_reason: NullableText
    """Why there is none."""
    look_at: Texts
    """As of `CodeChanges`."""
    error: ErrorText
