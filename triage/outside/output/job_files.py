"""The event's payload, and files of ours in the workspace.

The workspace may be a stranger's checkout: symbolic links are not followed.
"""

import json
import os
import secrets
import stat
from pathlib import Path
from typing import Any

from triage.base.errors import BadInput, describe_os_error

FOLDER = ".triage"
REPORT = "report.json"
PROPOSAL = "proposal.json"


def write_file(workspace: Path, name: str, json_text: str) -> str:
    """Writes `.triage/<name>` atomically. Returns its path relative to the workspace.

    A `.gitignore` beside it keeps it out of later commits.

    Raises:
        BadInput: The folder is a symbolic link or a file, the workspace is read-only, or the disk is full.
    """
    try:
        folder = _open_folder(workspace)
        try:
            if not _exists(".gitignore", folder):
                _replace(".gitignore", b"*\n", folder)
            # A lone surrogate becomes \udXXX, which is JSON's own escape for it.
            _replace(name, json_text.encode("utf-8", "backslashreplace"), folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise BadInput(f"{FOLDER}/{name} could not be written: {describe_os_error(error)}.") from None
    return f"{FOLDER}/{name}"


def _open_folder(workspace: Path) -> int:
    directory = os.O_RDONLY | os.O_DIRECTORY
    root = os.open(workspace, directory)
    try:
        if not _exists(FOLDER, root):
            os.mkdir(FOLDER, 0o755, dir_fd=root)
        return os.open(FOLDER, directory | os.O_NOFOLLOW, dir_fd=root)
    finally:
        os.close(root)


def read_own_file(workspace: Path, name: str, max_bytes: int) -> bytes | None:
    """Returns the first `max_bytes` + 1 bytes of `.triage/<name>`; None without a regular file.

    Raises:
        BadInput: It is a symbolic link, or cannot be read.
    """
    try:
        folder = os.open(workspace / FOLDER, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        finally:
            os.close(folder)
        with os.fdopen(file, "rb") as stream:
            return stream.read(max_bytes + 1) if stat.S_ISREG(os.fstat(stream.fileno()).st_mode) else None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"{FOLDER}/{name} could not be read: {describe_os_error(error)}.") from None


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _replace(name: str, content: bytes, folder: int) -> None:
    # `os.replace` replaces a symbolic link instead of following it.
    draft = f".{name}.{secrets.token_hex(8)}"
    try:
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=folder)
        with os.fdopen(file, "wb") as stream:
            stream.write(content)
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        if _exists(draft, folder):
            os.unlink(draft, dir_fd=folder)
        raise


def read_event(path: Path | None) -> dict[str, Any]:
    """Returns the payload, a JSON object.

    Raises:
        BadInput: The file is missing, or not a JSON object.
    """
    if path is None:
        raise BadInput(
            "GITHUB_EVENT_PATH is not set. This command runs in GitHub Actions; use the command line elsewhere."
        )
    try:
        if not path.is_file():  # opening a pipe would block
            raise FileNotFoundError
        content = path.read_bytes()
    except (OSError, ValueError):  # a null byte in a path is a ValueError
        raise BadInput("The event payload cannot be read: the file in GITHUB_EVENT_PATH does not open.") from None
    try:
        event = json.loads(content)
    except (ValueError, RecursionError):
        raise BadInput("The event payload cannot be read: it is not JSON.") from None
    if not isinstance(event, dict):
        raise BadInput("The event payload cannot be read: it is not a JSON object.")
    return event
