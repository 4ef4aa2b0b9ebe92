"""Copies installed dependencies for a temporary work tree, and lets the paths in them lead to the copies.

No link of any kind: a command may empty a folder (`npm ci`), or write into a file in place (`>>`, compilers), which a
hard link would hand on to the original.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from triage.base.errors import BadInput
from triage.base.threads import raise_if_abandoned

_MAX_SCRIPT_BYTES = 1 << 20
"""Scripts and settings that hold paths are smaller. Programs are not changed."""
_WITH_PATHS = (
    "pyvenv.cfg",
    ".bin/*",
    "bin/*",
    "lib*/python*/site-packages/*.pth",
    "lib*/python*/site-packages/*.egg-link",
    "lib*/python*/site-packages/__editable__*.py",
    "lib*/python*/site-packages/*.dist-info/direct_url.json",
)
"""What installers write absolute paths into: starts of scripts, and packages that are installed in editable mode."""
_ACTIVATED = re.compile(r"^\s*(?:export )?VIRTUAL_ENV=['\"]?([^'\"\n]+)", re.MULTILINE)


class PathMap:
    """Old folders and the folders that take their place."""

    def __init__(self, moves: Mapping[str, str]) -> None:
        self._moves = {os.fsencode(old): os.fsencode(new) for old, new in moves.items()}
        longest_first = sorted(self._moves, key=len, reverse=True)
        # Not `/home/ada/shop` in `/home/ada/shop-data` or in `/mnt/home/ada/shop`.
        self._pattern = re.compile(rb"(?<![\w.-])(?:%s)(?![\w.-])" % b"|".join(map(re.escape, longest_first)))

    def replace(self, data: bytes) -> bytes:
        return self._pattern.sub(lambda found: self._moves[found[0]], data) if self._moves else data

    def replace_text(self, text: str) -> str:
        return os.fsdecode(self.replace(os.fsencode(text)))


def copy_folder(source: Path, target: Path, paths: PathMap, left_out: str) -> None:
    """Copy a folder of dependencies without folders of the name `left_out`. Raises BadInput if that is not possible."""
    try:
        for parent, folders, files in os.walk(source, onerror=_raise):
            raise_if_abandoned()
            folders[:] = [name for name in folders if name != left_out]
            copy = target / os.path.relpath(parent, source)
            copy.mkdir(parents=True, exist_ok=True)
            for name in (*folders, *files):
                _copy_entry(os.path.join(parent, name), os.path.join(copy, name), source, paths)  # noqa: PTH118
        for pattern in _WITH_PATHS:
            for file in target.glob(pattern):
                if file.parent.resolve().is_relative_to(target.resolve()):  # not behind a link to another folder
                    _replace_paths(file, paths)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise BadInput(
            f"{source.name} cannot be copied for the check ({reason}). TMPDIR names the folder that it is copied to."
        ) from None


def list_spellings(folder: Path, environment: Mapping[str, str]) -> list[str]:
    """Return the paths that lead to a folder: its own, that of the active environment, and what is written in it."""
    spellings = [str(folder), str(folder.resolve()), environment.get("VIRTUAL_ENV", "")]
    with suppress(OSError, UnicodeDecodeError):
        spellings += _ACTIVATED.findall((folder / "bin/activate").read_text(encoding="utf-8"))
    return [one for one in dict.fromkeys(spellings) if one and is_same(one, folder)]


def move_environment(environment: Mapping[str, str], paths: PathMap) -> dict[str, str]:
    """Return the environment with new paths. Programs are also found where they were, if they were not copied."""
    moved = {name: paths.replace_text(value) for name, value in environment.items()}
    if "PATH" in environment:
        moved["PATH"] = os.pathsep.join(_move_program_folders(environment["PATH"], paths))
    if "TMPDIR" in environment and moved["TMPDIR"] != environment["TMPDIR"]:
        with suppress(OSError):
            Path(moved["TMPDIR"]).mkdir(parents=True, exist_ok=True)
    return moved


def _move_program_folders(value: str, paths: PathMap) -> Iterator[str]:
    for folder in value.split(os.pathsep):
        moved = paths.replace_text(folder)
        yield moved
        if moved != folder and not Path(moved).is_dir():
            yield folder


def is_same(path: str, folder: Path) -> bool:
    """Whether a path leads to a folder, through links or not."""
    with suppress(OSError, ValueError, RuntimeError):
        return Path(path).is_absolute() and Path(path).resolve() == folder.resolve()
    return False


def _raise(error: OSError) -> None:
    raise error


def _copy_entry(entry: str, copy: str, source: Path, paths: PathMap) -> None:
    """Copy a file or a link. Folders are walked through, and pipes and sockets are left out."""
    if os.path.islink(entry):  # noqa: PTH114 - there are tens of thousands
        os.symlink(_redirect_link(entry, source, paths), copy)  # noqa: PTH211
    elif os.path.isfile(entry):  # noqa: PTH113
        shutil.copy2(entry, copy)


def _redirect_link(entry: str, source: Path, paths: PathMap) -> str:
    link = os.readlink(entry)  # noqa: PTH115
    place = os.path.normpath(os.path.join(os.path.dirname(entry), link))  # noqa: PTH118, PTH120
    is_within = not os.path.isabs(link) and Path(place).is_relative_to(source)  # noqa: PTH117
    return link if is_within else paths.replace_text(place)


def _replace_paths(file: Path, paths: PathMap) -> None:
    if file.is_symlink() or not file.is_file() or file.stat().st_size > _MAX_SCRIPT_BYTES:
        return
    data, mode = file.read_bytes(), file.stat().st_mode
    replaced = data if b"\0" in data else paths.replace(data)
    if replaced != data:
        file.unlink()  # it may be read-only
        file.write_bytes(replaced)
        file.chmod(mode)
