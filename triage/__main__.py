"""`python -m triage` and the `bug-triage` command."""

import os
import signal

VARIABLES = {"LANGCHAIN_TRACING_V2": "false", "LANGSMITH_TRACING": "false", "PYTHONSAFEPATH": "1"}
"""Words of issues and code reach no tracing service that the shell is set up for, and the processes that parse import
nothing from the current folder."""


def main() -> None:
    # Importing takes half a second. Until it is done, Ctrl-C ends the process without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ |= VARIABLES
    from triage import cli

    signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


if __name__ == "__main__":
    main()
