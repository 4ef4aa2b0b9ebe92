"""Unusual machines: disks, folders, processes, locales."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from testing.environments.environment import (
    AS_UNKNOWN_USER,
    UNKNOWN_UID,
    Check,
    Environment,
    EnvironmentSetup,
    no_checks,
)

FULL = """
cp -a "$GITHUB_WORKSPACE" "$HOME/kept" && mount -t tmpfs -o size=320k none "$GITHUB_WORKSPACE" &&
cp -a "$HOME/kept/." "$GITHUB_WORKSPACE" && cd "$GITHUB_WORKSPACE" || exit
head -c 1000000 /dev/zero >filler 2>/dev/null
export TMPDIR="$GITHUB_WORKSPACE" && exec "$@"
"""
MOUNTED = ("unshare", "--mount", "bash", "-c")


@contextmanager
def _owned_by_unknown_user(setup: EnvironmentSetup) -> Iterator[Check]:
    """Makes an unknown user own the folders of the job, and lets that user reach them."""
    job = setup.job
    for path in [job.folder, *job.folder.rglob("*")]:
        os.chown(path, UNKNOWN_UID, UNKNOWN_UID, follow_symlinks=False)
    closed = [folder for folder in job.folder.parents if not folder.stat().st_mode & 0o001]
    modes = {folder: folder.stat().st_mode for folder in closed}
    for folder, mode in modes.items():
        folder.chmod(mode | 0o011)
    try:
        yield no_checks
    finally:
        for folder, mode in modes.items():
            folder.chmod(mode)


DISK: dict[str, Environment] = {
    "a workspace that is mounted read-only": Environment(
        command_prefix=(
            *MOUNTED,
            'mount --bind . . && mount -o remount,ro,bind "$PWD" && cd "$PWD" && exec "$@"',
            "sh",
        ),
        root=True,
        expected_text="read-only file system",
    ),
    "a full disk under the workspace and the temporary files": Environment(
        command_prefix=(*MOUNTED, FULL, "bash"), root=True, expected_text="no space left on device"
    ),
    "no folder for temporary files": Environment({"TMPDIR": "/nonexistent"}),
    "no home": Environment({"HOME": None}),
    "no GITHUB_WORKSPACE": Environment({"GITHUB_WORKSPACE": None}),
    "no RUNNER_TEMP": Environment({"RUNNER_TEMP": None}),
    "a working directory that was deleted": Environment(
        shell='mkdir -p "$HOME/gone" && cd "$HOME/gone" && rmdir "$HOME/gone" && exec "$@"'
    ),
}

PROCESS: dict[str, Environment] = {
    "ASCII only": Environment({"LANG": "C", "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "an invalid time zone": Environment({"TZ": ":/nonexistent/☃"}),
    "closed standard streams": Environment(shell='exec "$@" <&- >&- 2>&-'),
    "a log that nobody reads": Environment(shell='exec "$@" 2>&1 | true; wait'),
    "few open files": Environment(command_prefix=("prlimit", "--nofile=64")),
    "one gigabyte of address space": Environment(command_prefix=("prlimit", f"--as={1 << 30}")),
    "an unknown user": Environment(arrange=_owned_by_unknown_user, command_prefix=AS_UNKNOWN_USER, root=True),
}

MACHINES: dict[str, Environment] = DISK | PROCESS
