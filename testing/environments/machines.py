"""Unusual machines: disks, files, processes, locales, clocks."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

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


def _replace_file(
    name: str, make: Callable[[Path], None]
) -> Callable[[EnvironmentSetup], AbstractContextManager[Check]]:
    """Replaces the runner's file of this name."""

    @contextmanager
    def around(setup: EnvironmentSetup) -> Iterator[Check]:
        file = setup.job.folder / "temp" / name
        file.rename(file.with_name(f"{name}.away"))
        make(file)
        yield no_checks

    return around


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


def _shift_clock(days: float) -> str:
    """Returns code that shifts Python's clocks by this many days. A new process would undo it."""
    return (
        "import datetime, os, time\n"
        f"there, away = time.time, {days} * 86_400\n"
        "time.time = lambda: there() + away\n"
        "class Moved(datetime.datetime):\n"
        "    @classmethod\n"
        "    def now(cls, tz=None):\n"
        "        return cls.fromtimestamp(time.time(), tz)\n"
        "datetime.datetime = Moved\n"
        "def execve(*words):\n"
        "    raise OSError(38, 'not now')\n"
        "os.execve = execve\n"
    )


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
    "an output that cannot be written": Environment(
        arrange=_replace_file("output", lambda file: file.mkdir()),
        variables={"GITHUB_OUTPUT": "{temp}/output"},
        status="",
        expected_text="outputs could not be written",
    ),
    "a summary that is a pipe": Environment(
        arrange=_replace_file("summary", os.mkfifo), summary=False, expected_text="summary could not be written"
    ),
    "an event that is a pipe": Environment(
        arrange=_replace_file("event.json", os.mkfifo),
        exit_code=1,
        status="failed",
        comments=0,
        expected_text="payload cannot be read",
    ),
    "no GITHUB_WORKSPACE": Environment({"GITHUB_WORKSPACE": None}),
    "no RUNNER_TEMP": Environment({"RUNNER_TEMP": None}),
    "a working directory that was deleted": Environment(
        shell='mkdir -p "$HOME/gone" && cd "$HOME/gone" && rmdir "$HOME/gone" && exec "$@"'
    ),
}

PROCESS: dict[str, Environment] = {
    "ASCII only": Environment({"LANG": "C", "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "an invalid time zone": Environment({"TZ": ":/nonexistent/☃"}),
    "a clock one day ahead": Environment(preamble=_shift_clock(1)),
    "closed standard streams": Environment(shell='exec "$@" <&- >&- 2>&-'),
    "a log that nobody reads": Environment(shell='exec "$@" 2>&1 | true; wait', exit_code=0),
    "few open files": Environment(command_prefix=("prlimit", "--nofile=64")),
    "one gigabyte of address space": Environment(command_prefix=("prlimit", f"--as={1 << 30}")),
    "an unknown user": Environment(arrange=_owned_by_unknown_user, command_prefix=AS_UNKNOWN_USER, root=True),
}

MACHINES: dict[str, Environment] = DISK | PROCESS
