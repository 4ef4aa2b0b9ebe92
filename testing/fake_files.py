"""A fake of `BaseFiles`: files of one commit in memory."""

from dataclasses import dataclass, field

from testing.fakes import COMMIT
from triage.domain.proposal import EditablePath, TextFile
from triage.fix.base_files import BaseFiles
from triage.safety.secrets.likely_secrets import redact_likely_secrets

LANGUAGES = {"py": "Python", "ts": "TypeScript", "cpp": "C++"}
"""By ending."""


@dataclass
class FakeFiles(BaseFiles):
    files: dict[str, TextFile | str] = field(default_factory=dict)
    """A text is why the file cannot be changed."""
    commit: str = COMMIT

    @classmethod
    def of_texts(cls, **texts: str) -> "FakeFiles":
        return cls({path: TextFile(text=text) for path, text in texts.items()})

    def read(self, path: str) -> TextFile | str | None:
        is_folder = any(known.startswith(f"{path}/") for known in self.files)
        found = self.files.get(path, "a folder" if is_folder else None)
        has_secret = isinstance(found, TextFile) and redact_likely_secrets(found.text, path) != found.text
        return "a file with what looks like a secret" if has_secret else found

    def list_editable(self) -> list[EditablePath]:
        paths = [path for path, file in sorted(self.files.items()) if isinstance(file, TextFile)]
        return [
            EditablePath(path, language, self.is_test(path), not self.is_test(path))
            if (language := LANGUAGES.get(path.rpartition(".")[2]))
            else EditablePath(path, "", self.is_test(path), is_product_code=False)
            for path in paths
        ]

    def is_test(self, path: str) -> bool:
        return path.startswith("tests/") or "/tests/" in path or path.rpartition("/")[2].startswith("test_")

    def check_text(self, path: str, text: str) -> str:
        return "generated" if "@generated" in text else ""

    def count_syntax_errors(self, path: str, text: str) -> int | None:
        return abs(text.count("(") - text.count(")")) if path.endswith(".py") else None
