"""`python -m triage`."""

import signal

# Until there is something to end in order, Ctrl-C ends us as it ends any program, without a traceback.
signal.signal(signal.SIGINT, signal.SIG_DFL)

from triage.cli import main  # noqa: E402 - half a second

signal.signal(signal.SIGINT, signal.default_int_handler)
main()
