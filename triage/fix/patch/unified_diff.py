"""A patch as git shows it: git's own diff of each file, in a time that hostile texts cannot make long."""

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from triage.base.errors import BadInput, GitError
from triage.domain.proposal import MAX_FILE_CHARS, Patch, PatchedFile, TextFile
from triage.git.git import Git

if TYPE_CHECKING:
    from triage.fix.base_files import BaseFiles

_OPTIONS = ("--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--text")
_MAX_DIFF_BYTES = 10 * MAX_FILE_CHARS
"""Two texts of the largest size have less."""
_HUNK_HEADING = re.compile(rb"^(@@ [^@]* @@).*$", re.MULTILINE)


class FileDiff(NamedTuple):
    """What a patch changes in one file."""

    file: PatchedFile
    text: str
    """As `git diff` prints it, without the line `index`; empty if nothing changes."""
    added: int
    """Lines, as `git diff --numstat` counts them."""
    removed: int

    @property
    def changed(self) -> int:
        return self.added + self.removed


def diff_files(patch: Patch, files: "BaseFiles") -> list[FileDiff]:
    """Return what each file of the whole patch changes on its base commit. Takes milliseconds for each.

    Raises BadInput if git does not compare them.
    """
    return [diff_file(file, read_base_text(file.path, files)) for file in patch.files]


def format_diff(patch: Patch, files: "BaseFiles") -> str:
    """Return the whole patch against its base commit, as `git apply` takes it. Raises as `diff_files`."""
    return "".join(one.text for one in diff_files(patch, files))


def read_base_text(path: str, files: "BaseFiles") -> str:
    """Return the text of a file of the base commit; empty if there is none to be changed."""
    base = files.read(path)
    return base.text if isinstance(base, TextFile) else ""


def diff_file(file: PatchedFile, base_text: str) -> FileDiff:
    hunks = _diff_texts(base_text, file.text)
    lines = hunks.split("\n")
    added, removed = (sum(line.startswith(mark) for line in lines) for mark in "+-")
    return FileDiff(file, _format_heading(file, hunks) + hunks, added, removed)


def _diff_texts(old: str, new: str) -> str:
    """Return the hunks of git's diff, without the names of functions in their headings; empty for equal texts."""
    with tempfile.TemporaryDirectory(prefix="triage-diff-") as name:
        folder = Path(name)
        for text, file in ((old, "old"), (new, "new")):
            (folder / file).write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            # The folder is said to be the repository: no settings of one around it are read.
            output = Git(folder, bare=True).run(
                "diff", *_OPTIONS, "old", "new", accept=(0, 1), max_bytes=_MAX_DIFF_BYTES
            )
        except GitError as error:
            raise BadInput(f"The patch cannot be compared with its base commit: {error}.") from None
    _, heading, hunks = output.partition(b"\n@@")
    return _HUNK_HEADING.sub(rb"\1", heading.lstrip() + hunks).decode("utf-8", "surrogatepass")


def _format_heading(file: PatchedFile, hunks: str) -> str:
    """Return the lines above the hunks, as git prints them; empty if nothing changes."""
    if not hunks and not file.is_new_file:
        return ""
    # Git would print the names of our temporary files. Names that it quotes are of no file that a patch may write.
    name, new_name = f"a/{file.path}", f"b/{file.path}"
    end = "\t" if " " in file.path else ""  # says where a name with a space ends
    mode = "new file mode 100644\n" if file.is_new_file else ""
    names = f"--- {'/dev/null' if file.is_new_file else name + end}\n+++ {new_name}{end}\n" if hunks else ""
    return f"diff --git {name} {new_name}\n{mode}{names}"


def cut_diff(text: str, max_lines: int) -> str:
    """Return the first lines, and how many are left out."""
    lines = text.removesuffix("\n").split("\n")
    if len(lines) <= max_lines:
        return text
    left_out = len(lines) - max_lines
    return "\n".join([*lines[:max_lines], f"[{left_out} more line{'s' if left_out > 1 else ''}]", ""])
