"""Where the container starts: by path, so that nothing of the repository being triaged is ever imported.

The runner starts us inside the checked-out repository, which may hold a `triage/`, a `json.py` or a `.env` of its
own. Importing from there would run a stranger's code, and a library that looks for settings in the working
directory (Chroma reads `.env` as it is imported) would take them from a stranger.
"""

import os
import signal
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def leave_the_workspace() -> None:
    """Take the working directory off the import path and go to our own folder.

    The workspace stays known as GITHUB_WORKSPACE.
    """
    workspace = Path.cwd()
    elsewhere = [entry for entry in sys.path if entry and Path(entry).resolve() not in (workspace, HERE)]
    sys.path[:] = [str(HERE), *elsewhere]
    os.chdir(HERE)


if __name__ == "__main__":
    # A signal waits until somebody listens; the image's `env --block-signal` has it wait while Python starts, too.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    leave_the_workspace()
    from triage.signals import Signals

    signals = Signals()
    signals.listen()
    from triage.action import main

    code = main(signals=signals)
    # Everything is written and flushed. An ordinary end would wait for threads that are stuck, half a minute at times.
    os._exit(code)
