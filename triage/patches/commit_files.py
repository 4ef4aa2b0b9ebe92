"""The files of a draft's commits."""

from collections.abc import Sequence

from triage.domain.patch import BaseFile, FileMode, FileVersion, PatchDraft
from triage.proposal_ports import BaseFiles


def list_commit_files(draft: PatchDraft, files: BaseFiles) -> tuple[dict[str, BaseFile], dict[str, BaseFile]]:
    """Return the files of the first and of the second commit, by path, each with the mode of the base commit's file.

    The first one has the tests as they are shown, and nothing else. Without tests, or with nothing else, it is empty.
    """
    if not draft.has_test_commit:
        return {}, _add_modes(draft.files, files)
    return _add_modes(draft.tests, files), _add_modes(draft.changes, files)


def _add_modes(versions: Sequence[FileVersion], files: BaseFiles) -> dict[str, BaseFile]:
    return {file.path: BaseFile(text=file.text, mode=_find_mode(file.path, files)) for file in versions}


def _find_mode(path: str, files: BaseFiles) -> FileMode:
    base = files.read(path)
    return base.mode if isinstance(base, BaseFile) else "100644"
