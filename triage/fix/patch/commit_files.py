"""The files of a draft's commits."""

from collections.abc import Sequence

from triage.domain.proposal import BaseFile, FileVersion, PatchDraft
from triage.fix.patch.masked_files import restore_text
from triage.proposal_ports import BaseFiles


def list_commit_files(draft: PatchDraft, files: BaseFiles) -> tuple[dict[str, BaseFile], dict[str, BaseFile]]:
    """Return the files of the first and of the second commit, by path, each with the mode of the base commit's file.

    The first one has the tests as they are shown, and nothing else. Without tests, or with nothing else, it is empty.
    """
    if not draft.has_test_commit:
        return {}, _build_files(draft.files, files)
    return _build_files(draft.tests, files), _build_files(draft.changes, files)


def _build_files(versions: Sequence[FileVersion], files: BaseFiles) -> dict[str, BaseFile]:
    return {file.path: build_commit_file(file, files) for file in versions}


def build_commit_file(file: FileVersion, files: BaseFiles) -> BaseFile:
    """Return a file of a draft as it is committed: with the values that its masks stand for."""
    base = files.read_original(file.path)
    mode = base.mode if isinstance(base, BaseFile) else "100644"
    return BaseFile(text=restore_text(file.path, file.text, files), mode=mode)
