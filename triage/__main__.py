"""`python -m triage` and the `bug-triage` command."""

import signal


def main() -> None:
    # Importing takes half a second. Until it is done, Ctrl-C ends the process without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from triage.base import langsmith_stub

    langsmith_stub.install()
    from triage import cli

    signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


if __name__ == "__main__":
    main()
