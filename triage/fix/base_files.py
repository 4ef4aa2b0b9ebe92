"""Files of the commit that a patch starts from, read from git objects only."""

import re
from collections.abc import Sequence
from pathlib import Path

from triage.base.errors import BadInput, GitError
from triage.domain.proposal import MAX_FILE_CHARS, EditablePath, TextFile
from triage.find.files.file_filter import get_skip_reason
from triage.find.files.file_roles import classify_file
from triage.find.files.file_text import load_text
from triage.find.files.languages import detect_language
from triage.find.parse.worker_pool import count_syntax_errors
from triage.git.commit import CommitTree, open_commit
from triage.git.tree import Entry
from triage.safety.secrets.likely_secrets import redact_likely_secrets
from triage.safety.secrets.secret_file_names import may_hold_secrets


def open_base_files(root: Path, commit: str) -> "BaseFiles":
    """Return the files of a commit of the checkout.

    Raises BadInput if the folder is not the top folder of a repository, or the commit is not in it.
    """
    try:
        top = open_commit(root.resolve(), commit)
    except GitError:
        message = f"Commit {commit[:12]} is not in the checkout: check it out, or fetch it (`fetch-depth: 0`)."
        raise BadInput(message) from None
    if top.prefix:
        raise BadInput("A patch needs the top folder of the repository: name that folder.")
    return BaseFiles(top)


_TEXT = r"(?:mdx?|rst|txt|adoc|asciidoc|markdown)"
_NO_LIST = r"(?!.*(?:requirements|constraints))"
"""Package managers read such text."""
CHANGELOG = re.compile(
    rf"(?:^|/)(?:change[-_]?log|changes|history|news|release[-_]?notes)(?:\.{_TEXT})?$", re.IGNORECASE
)
CHANGELOG_ENTRY = re.compile(
    rf"(?:^|/)(?:change[-_]?logs?(?:\.d)?|news[-_]?fragments?|fragments)/{_NO_LIST}"
    rf"(?:[\w+-]+(?:\.[\w-]+)*\.{_TEXT}|\+?\d+\.(?:feature|bug_?fix|fix|docs?|removal|deprecation|breaking|misc|other"
    r"|improvement|internal|trivial|false_positive|false_negative))$",
    re.IGNORECASE,
)
"""As towncrier and its kin collect them: `changelog.d/12.fix.md`, `newsfragments/12.bugfix`."""
_PROSE = re.compile(
    r"\.(?:mdx?|rst|adoc|asciidoc|markdown|html?|css|s[ac]ss|less|j2|jinja2?)$|(?:^|/)readme\.txt$"
    rf"|(?:^|/)(?:docs?|documentation)/{_NO_LIST}.*\.txt$",
    re.IGNORECASE,
)
"""Documentation, and pages with their styles."""
_TEST_DATA = re.compile(r"\.(?:snap|phpt|feature|golden|expected|out|stdout|stderr|[ct]sv)$", re.IGNORECASE)
"""Of files that are tests by folder or name."""
_ORDERS = re.compile(
    rf"(?:^|/)(?:agents?|claude|gemini|codex|copilot-instructions|warp|qwen|crush|skill)(?:\.[\w-]+)*\.{_TEXT}$"
    rf"|\.(?:prompt|instructions|chatmode|agent)\.{_TEXT}$"
    r"|(?:^|/)(?:(?:jenkinsfile|azure-pipelines|dangerfile|lefthook|renovate-config)[.-][^/]+|presubmit\.py|cirrus\.star)$",
    re.IGNORECASE,
)
"""What agents obey, and what services run with a token. It only looks like documentation and source."""


class BaseFiles:
    def __init__(self, tree: CommitTree) -> None:
        self._tree = tree
        self.commit = tree.commit
        """Full SHA."""
        self._read: dict[str, TextFile | str | None] = {}
        self._editable: list[EditablePath] | None = None
        self._errors: dict[tuple[str, str], int | None] = {}

    def read(self, path: str) -> TextFile | str | None:
        """Return the file; why it is neither changed nor shown, such as "a folder"; None if nothing is at the path."""
        if path not in self._read:
            self._read[path] = self._read_file(path)
        return self._read[path]

    def _read_file(self, path: str) -> TextFile | str | None:
        if may_hold_secrets(path):
            return "a file made for secrets"
        try:
            entry = self._tree.find_entry(path)
            return self._read_entry(entry) if isinstance(entry, Entry) else entry and f"a {entry}"
        except GitError:
            return "not readable by git"

    def _read_entry(self, entry: Entry) -> TextFile | str:
        """Return the file, or why it is neither changed nor shown."""
        if entry.size > MAX_FILE_CHARS:
            return "larger than 1 MB"
        (_, data), *_ = self._tree.read([entry])
        if data is None:
            return "not readable by git"
        if data.startswith(b"version https://git-lfs.github.com/spec/"):
            return "a pointer to a file of Git LFS"
        if b"\0" in data:
            return "a binary file"
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            return "not UTF-8"
        if redact_likely_secrets(text, entry.path) != text:
            return "a file with what looks like a secret"
        return TextFile(text=text, mode="100755" if entry.is_executable else "100644")

    def list_editable(self) -> Sequence[EditablePath]:
        """Return all files that a patch of their modules may change, sorted by path."""
        if self._editable is None:
            try:
                listed = sorted(entry.path for entry in self._tree.list_files().entries)
            except GitError:
                listed = []
            self._editable = []
            for path in listed:
                is_hidden = any(part.startswith(".") for part in path.split("/"))
                if get_skip_reason(path, 0) is None and has_allowed_kind(path) and not is_hidden:
                    role, language = classify_file(path), detect_language(path)
                    name = language.name if language and language.grammar else ""
                    self._editable.append(EditablePath(path, name, role.is_test, role.is_product_code))
        return self._editable

    def is_test(self, path: str) -> bool:
        return classify_file(path).is_test

    def check_text(self, path: str, text: str) -> str:
        """Return why nobody edits such a file by hand ("vendored", "generated", "lock file"); empty for any other."""
        data = text.encode("utf-8", "replace")
        reason = get_skip_reason(path, len(data))
        # A patch may change files that are too large to be indexed.
        return load_text(data)[1] if reason in (None, "too large") else str(reason)

    def count_syntax_errors(self, path: str, text: str) -> int | None:
        """Return the errors that a parser of the file's language finds; None without a parser. Takes seconds."""
        language = detect_language(path)
        if language is None:
            return None
        if (path, text) not in self._errors:
            self._errors[path, text] = count_syntax_errors(text, language)
        return self._errors[path, text]


def has_allowed_kind(path: str) -> bool:
    """Return whether it is source, documentation, a changelog, or what a test expects: a patch may change no others."""
    if _ORDERS.search(path):
        return False
    is_text = detect_language(path) is not None or any(
        kind.search(path) for kind in (_PROSE, CHANGELOG, CHANGELOG_ENTRY)
    )
    return is_text or (_TEST_DATA.search(path) is not None and classify_file(path).is_test)
