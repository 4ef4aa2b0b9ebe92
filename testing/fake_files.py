"""A fake of the port `BaseFiles`: files of one commit in memory."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from testing.fakes import COMMIT
from triage.domain.patch import BaseFile, EditablePath


@dataclass
class FakeFiles:
    files: dict[str, BaseFile | str] = field(default_factory=dict)
    """A text is why the file cannot be changed."""
    commit: str = COMMIT
    syntax_errors: dict[str, int] = field(default_factory=dict)
    """By text."""

    @classmethod
    def of_texts(cls, **texts: str) -> "FakeFiles":
        return cls({path: BaseFile(text=text) for path, text in texts.items()})

    def read(self, path: str) -> BaseFile | str | None:
        return self.files.get(path)

    def list_names(self, folder: str) -> Collection[str]:
        return {path.removeprefix(folder).partition("/")[0] for path in self.files if path.startswith(folder)}

    def list_editable(self) -> Sequence[EditablePath]:
        return [EditablePath(path, "Python", self.is_test(path), not self.is_test(path)) for path in self.files]

    def is_test(self, path: str) -> bool:
        return path.startswith("tests/") or "/tests/" in path

    def find_skip_reason(self, path: str, text: str) -> str:
        return ""

    def count_syntax_errors(self, path: str, text: str) -> int | None:
        return self.syntax_errors.get(text, 0)
