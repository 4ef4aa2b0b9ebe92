"""`python -m triage` and the `bug-triage` command."""

import os
import signal

NO_TRACES = {"LANGCHAIN_TRACING_V2": "false", "LANGSMITH_TRACING": "false"}
"""Words of issues and code reach no tracing service that the shell is set up for."""


def main() -> None:
    # Importing takes half a second. Until it is done, Ctrl-C ends the process without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ |= NO_TRACES
    from triage import cli

    signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


if __name__ == "__main__":
    main()
