"""What the fix flow shows of files: with likely secrets masked. Only commits and checks of a patch have the values.

Prompts, drafts, diffs, comments and the file between two jobs all have the masks of `BaseFiles.read`.
"""

from collections.abc import Iterable, Iterator, Sequence

from triage.domain.proposal import BaseFile, FileVersion
from triage.fix.fix_ports import BaseFiles
from triage.safety.secrets.likely_secrets import (
    are_kept_in_order,
    find_masks,
    hide_values,
    mask_again,
    mask_values,
    redact_likely_secrets,
    restore_values,
)


def mask_file(path: str, file: BaseFile | str | None) -> BaseFile | str | None:
    """Return a file of the base commit as it is shown."""
    return file.model_copy(update={"text": mask_values(file.text, path).text}) if isinstance(file, BaseFile) else file


def read_base_text(path: str, files: BaseFiles) -> str:
    """Return the text of a file of the base commit as it is shown; empty if there is none to be changed."""
    base = files.read(path)
    return base.text if isinstance(base, BaseFile) else ""


def mask_version(path: str, text: str, files: BaseFiles) -> str:
    """Return another version of a file, such as that of a commit, as it is shown."""
    return mask_again(text, path, _list_values(path, files))


def restore_text(path: str, text: str, files: BaseFiles) -> str:
    """Return the text of a draft's file with the values of the base commit, as it is committed."""
    return restore_values(text, _list_values(path, files))


def mask_output(output: str, paths: Iterable[str], files: BaseFiles) -> str:
    """Return what a command printed without likely secrets, and without those of these files."""
    for path in paths:
        output = hide_values(output, _list_values(path, files))
    return redact_likely_secrets(output)


def _list_values(path: str, files: BaseFiles) -> Sequence[str]:
    base = files.read_original(path)
    return mask_values(base.text, path).values if isinstance(base, BaseFile) else ()


def has_masks(text: str) -> bool:
    return next(find_masks(text), None) is not None


def find_mask_problems(path: str, text: str, old: str) -> Iterator[str]:
    """Yield why the masks of a draft's file are not those of the base commit's file, `old` with its values.

    Masks that are new, moved, or no longer recognised are problems, and so are new secrets.
    """
    base = mask_values(old, path)
    if not are_kept_in_order(_list_masks(text), _list_masks(base.text)):
        yield (
            f"{path} has a mask where the file has none, or another one: a mask stands for a value of the file that is "
            "not shown. Keep it in its place, or leave it out."
        )
        return
    shown = mask_again(restore_values(text, base.values), path, base.values).split("\n")
    lines = list(zip(text.split("\n"), shown, strict=True))
    numbers = [number for number, (line, masked) in enumerate(lines, 1) if line != masked]
    secret = [number for number in numbers if not _has_all_masks(*lines[number - 1])]
    if secret:
        yield f"{path} has what looks like a secret in line {_join_numbers(secret)}: leave it out."
    elif numbers:
        yield (
            f"{path} has a mask in line {_join_numbers(numbers)} whose value would no longer be taken for a secret: "
            "keep the words around it."
        )


def _list_masks(text: str) -> list[str]:
    return [found[0] for found in find_masks(text)]


def _has_all_masks(line: str, masked: str) -> bool:
    return are_kept_in_order(_list_masks(masked), _list_masks(line))


def _join_numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:5])) + (", …" if len(numbers) > 5 else "")


def build_commit_file(file: FileVersion, files: BaseFiles) -> BaseFile:
    """Return a file of a draft as it is committed: with the values that its masks stand for."""
    base = files.read_original(file.path)
    mode = base.mode if isinstance(base, BaseFile) else "100644"
    return BaseFile(text=restore_text(file.path, file.text, files), mode=mode)
