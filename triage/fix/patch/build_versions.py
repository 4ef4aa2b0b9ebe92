"""Files as a model's answer leaves them."""

from collections.abc import Mapping, Sequence

from triage.domain.proposal import MAX_FILE_CHARS, BaseFile, Edit, FileVersion
from triage.fix.fix_answers import FileAnswer
from triage.fix.patch.apply_edits import RejectedEdits, apply_edits, finish_new_text
from triage.proposal_ports import BaseFiles


def build_versions(
    answers: Sequence[FileAnswer], files: BaseFiles, earlier: Mapping[str, str] | None = None
) -> tuple[list[FileVersion], list[str]]:
    """Return the files and what is wrong with the answer, one sentence per problem.

    Several entries of one file count as one. `earlier` has the text of files that another answer has changed already.
    """
    versions: list[FileVersion] = []
    problems: list[str] = []
    for path, group in _group_by_path(answers).items():
        try:
            version = _build_version(path, group, files, (earlier or {}).get(path))
        except RejectedEdits as error:
            problems += error.problems
            continue
        versions.append(version)
    return versions, problems


def _group_by_path(answers: Sequence[FileAnswer]) -> dict[str, list[FileAnswer]]:
    groups: dict[str, list[FileAnswer]] = {}
    for answer in answers:
        path = answer.file_path.strip().removeprefix("./").removeprefix("/")
        groups.setdefault(path, []).append(answer)
    return groups


def _build_version(path: str, group: Sequence[FileAnswer], files: BaseFiles, earlier: str | None) -> FileVersion:
    description = " ".join(answer.description for answer in group if answer.description)
    found = files.read(path)
    if isinstance(found, str):
        raise RejectedEdits([f"{path} cannot be changed: it is {found}. Leave it out."])
    edits = [Edit(search=edit.search, replace=edit.replace) for answer in group for edit in answer.edits]
    if found is None:
        contents = [answer.new_content for answer in group if answer.new_content]
        if len(contents) != 1:
            raise RejectedEdits([f"{path} does not exist. For a new file, give its whole text in new_content, once."])
        text = _check_size(path, finish_new_text(contents[0]))
        return FileVersion(path=path, description=description, is_new_file=True, text=text)
    if not edits:
        raise RejectedEdits([f"{path} exists: give edits, not the whole text."])
    base = BaseFile(text=earlier if earlier is not None else found.text, mode=found.mode)
    return FileVersion(path=path, description=description, text=_check_size(path, apply_edits(path, base, edits)))


def _check_size(path: str, text: str) -> str:
    if len(text) > MAX_FILE_CHARS:
        raise RejectedEdits(
            [f"{path} would have more than {MAX_FILE_CHARS:,} characters: make it no longer than it is."]
        )
    return text
