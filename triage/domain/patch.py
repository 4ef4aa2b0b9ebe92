"""A patch before it is a commit: whole files as they shall be."""

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from triage.domain.proposal import MAX_REVISIONS, CommitId, TextHash
from triage.domain.value import Value

FileMode = Literal["100644", "100755"]
"""As git writes it: a plain file, or one that may be executed."""
RequestKind = Literal["Bug", "Story"]

MAX_FILES = 20
MAX_FILE_CHARS = 1_000_000


class BaseFile(Value):
    """A regular text file of the base commit."""

    text: str
    """With its own line ends."""
    mode: FileMode = "100644"


class Edit(Value):
    """Replaces one text of a file; `search` must occur exactly once in it."""

    search: str
    replace: str


class FileVersion(Value):
    """A file as the patch has it."""

    path: str
    description: str = ""
    """What changes in it and why, in a line. A model's words."""
    is_new_file: bool = False
    text: Annotated[str, Field(max_length=MAX_FILE_CHARS)]
    """The whole file, with the line ends of the commit's file. Masks stand for its likely secrets."""


class AffectedModule(Value):
    name: str
    """A path prefix with a slash at its end, `./` for files at the top, or a name of `modules:` in the settings."""
    reason: str


class EditablePath(NamedTuple):
    """A file of the commit that people edit by hand."""

    path: str
    language: str
    """Name of its programming language, if it has a parser; empty for other files."""
    is_test: bool
    is_product_code: bool
    """Code that is neither a test nor documentation, an example or a benchmark."""


class ModuleFacts(Value):
    """A part of the repository to which a patch can be limited."""

    name: str
    """Its path prefix, or its name in the settings."""
    paths: list[str] = Field(min_length=1)
    """Folders with a slash at the end, files, and folders without their folders, such as `src/./`."""
    description: str = ""
    """Of the settings."""
    source_files: int = Field(0, ge=0)
    """Without tests."""
    languages: list[str] = Field(default_factory=list)
    """The most frequent first."""
    tests: list[str] = Field(default_factory=list)
    """Folders with a slash at the end, and files, outside `paths` as well."""


class PatchDraft(Value):
    """What a model proposed and code has checked. Jobs pass it on as a file."""

    version: Literal[1] = 1
    repository: str
    """`owner/name`, or the folder's name at a terminal."""
    issue: int | None
    issue_title: str
    issue_text: TextHash
    base: CommitId
    kind: RequestKind = "Bug"
    summary: str
    """One line. A model's words, as are cause, reasons and descriptions."""
    root_cause: str | None = None
    """Of a bug."""
    acceptance_criteria: list[str] = Field(default_factory=list, max_length=20)
    modules: list[AffectedModule] = Field(default_factory=list, max_length=50)
    changes: list[FileVersion] = Field(default_factory=list, max_length=MAX_FILES)
    """All files that are no tests. They are the second commit."""
    tests: list[FileVersion] = Field(default_factory=list, max_length=MAX_FILES)
    """All files that are tests by folder and name. They are the first commit, which must fail without the second."""
    no_test_reason: str = ""
    checked: str = Field("", max_length=500)
    """What the project's own check said, in words of ours; empty if none was run."""
    unverified: list[str] = Field(default_factory=list, max_length=20)
    """What nobody checked, in the model's words."""
    revision: int = Field(0, ge=0, le=MAX_REVISIONS)

    @property
    def files(self) -> list[FileVersion]:
        """The files as the whole patch leaves them, what is fixed before its tests."""
        return [*self.changes, *self.tests]

    @property
    def has_test_commit(self) -> bool:
        """Whether the tests are a commit of their own: without another change there is nothing that they can prove."""
        return bool(self.tests and self.changes)
