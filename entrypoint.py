"""Where the container starts: by path, so that nothing of the repository being triaged is ever imported.

The runner starts us inside the checked-out repository, which may hold a `triage/`, a `json.py` or a `.env` of its
own. Importing from there would run a stranger's code, and a library that looks for settings in the working
directory (Chroma reads `.env` as it is imported) would take them from a stranger.

And it hands us our keys as variables, which stay readable in `/proc/self/environ` whatever we do. So we start twice:
the first time only to hand the keys to ourselves through a descriptor, and to leave every variable behind but a few.
"""

import os
import signal
import sys

HERE = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120 - the first start loads nothing that it can do without
SECRETS_FD_FLAG = "--held-by="
"""The second start's argument: the descriptor that holds what the first one read."""
LANGUAGE = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ")
MACHINE = ("HOME", "PATH", "TMPDIR", "HOSTNAME")
TRUST = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy")
RUNNER = (
    *("CI", "GITHUB_ACTIONS", "GITHUB_API_URL", "GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_OUTPUT"),
    *("GITHUB_REPOSITORY", "GITHUB_RUN_ATTEMPT", "GITHUB_RUN_ID", "GITHUB_SERVER_URL", "GITHUB_STEP_SUMMARY"),
    *("GITHUB_WORKSPACE", "RUNNER_ARCH", "RUNNER_ENVIRONMENT", "RUNNER_NAME", "RUNNER_OS", "RUNNER_TEMP"),
)
"""Not those with a common beginning: a workflow may name a key of its own `GITHUB_PAT`."""
PASSED_VARIABLES = frozenset({*LANGUAGE, *MACHINE, *TRUST, *PROXIES, *RUNNER, "TRACEPARENT", "TAVILY_BASE_URL"})
FIXED_VARIABLES = {
    "ANONYMIZED_TELEMETRY": "False",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGGRAPH_STRICT_MSGPACK": "true",
    "LANGSMITH_TRACING": "false",
    "NETRC": os.devnull,
}
"""No library reports home, traces, revives types that nobody registered, or takes a login from somebody's file."""
ID_TOKEN = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"  # noqa: S105 - a variable's name
GRANTED = b"granted"
PIPE_BYTES = 65_536
Variables = dict[bytes, bytes]


def split_environment(environ: "os._Environ[bytes] | Variables") -> tuple[Variables, Variables]:
    """The variables to go on with, and those that are handed over; all others are left behind."""
    kept: Variables = {}
    held: Variables = {}
    for name, value in environ.items():
        text = os.fsdecode(name)
        if text == ID_TOKEN:
            held[name] = GRANTED if value else b""
        elif text.startswith("INPUT_") or (text.startswith("OTEL_") and "HEADERS" in text):
            held[name] = value
        elif text in PASSED_VARIABLES or text.startswith("OTEL_"):
            # An address may hold a login or a key.
            secret = text.upper().endswith(("URL", "ENDPOINT", "PROXY")) and (b"@" in value or b"?" in value)
            (held if secret else kept)[name] = value
    return kept | {os.fsencode(name): os.fsencode(value) for name, value in FIXED_VARIABLES.items()}, held


def restart_without_secrets(kept: Variables, held: Variables) -> str:
    """Start again in a clean environment, in the same process, its signals still held; never returns if that works.

    Otherwise the environment is cleaned as far as it can be, and the reason comes back.
    """
    try:
        descriptor = _write_to_descriptor(b"".join(b"%b=%b\0" % pair for pair in held.items()))
        program = [sys.executable, *_flags(), f"{HERE}/entrypoint.py", f"{SECRETS_FD_FLAG}{descriptor}"]
        os.execve(sys.executable, program, kept)  # noqa: S606 - ourselves
    except (OSError, ValueError) as error:
        os.environb.clear()
        os.environb.update(kept)
        return (getattr(error, "strerror", None) or type(error).__name__).lower()


def _flags() -> list[str]:
    """Those that Python was started with, `-I` and `-u`; none when another program has us run."""
    own = len(sys.orig_argv) - len(sys.argv)
    return sys.orig_argv[1:own] if sys.orig_argv[own:] == sys.argv else []


def _write_to_descriptor(content: bytes) -> int:
    """A descriptor that the next program finds the content in. Raises OSError."""
    try:
        descriptor = os.memfd_create("held", 0)
    except (OSError, AttributeError):  # not every kernel has it, nor every system
        return _write_to_pipe(content)
    with os.fdopen(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.set_inheritable(descriptor, True)
    return descriptor


def _write_to_pipe(content: bytes) -> int:
    """The same by a pipe, which holds less. Raises OSError."""
    if len(content) > PIPE_BYTES:
        raise OSError(0, "the inputs are longer than a pipe")
    descriptor, end = os.pipe()
    os.set_blocking(end, False)
    try:
        if os.write(end, content) < len(content):
            raise OSError(0, "the inputs are longer than a pipe")
    finally:
        os.close(end)
    os.set_inheritable(descriptor, True)
    return descriptor


def read_secrets(descriptor: int) -> Variables:
    """What was handed over; from now on it is in our memory only."""
    with os.fdopen(descriptor, "rb") as file:
        entries = file.read().split(b"\0")
    return {name: value for name, _, value in (entry.partition(b"=") for entry in entries if entry)}


def leave_the_workspace() -> None:
    """Take the working directory off the import path and go to our own folder.

    The workspace stays known as GITHUB_WORKSPACE.
    """
    try:
        workspace = os.getcwd()  # noqa: PTH109
    except OSError:  # it was deleted under us
        workspace = os.devnull
    os.environ.setdefault("GITHUB_WORKSPACE", workspace)  # else our own folder would be searched
    left = (os.path.realpath(workspace), HERE)
    sys.path[:] = [HERE, *(entry for entry in sys.path if entry and os.path.realpath(entry) not in left)]
    os.chdir(HERE)


def fill_streams() -> None:
    """Put something in the place of a usual descriptor that was closed: the next file would get its number."""
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, which is this one


def own_log() -> int:
    """A descriptor for our own lines: what native code writes to the usual ones, past every guard, goes nowhere."""
    log = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    return log


def run() -> None:
    """Twice, if we can."""
    fill_streams()
    # A signal waits until somebody listens; the image's `env --block-signal` has it wait while Python starts, too.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    handed = next((word for word in sys.argv[1:] if word.startswith(SECRETS_FD_FLAG)), None)
    if handed is None:
        kept, held = split_environment(os.environb)
        fault = restart_without_secrets(kept, held)
    else:
        held, fault = read_secrets(int(handed.removeprefix(SECRETS_FD_FLAG))), ""
    leave_the_workspace()
    environ = {**os.environ, **{os.fsdecode(name): os.fsdecode(value) for name, value in held.items()}}
    from triage.os_signals import SignalHandler

    signals = SignalHandler()
    signals.listen()
    from triage.action import main

    warnings = [f"The environment could not be cleaned ({fault}): it shows this job's keys to whoever can read it."]
    log = os.fdopen(own_log(), "w", encoding="utf-8", errors="backslashreplace")
    try:
        code = main(environ, signals, log, warnings if fault else [])
    except Exception as error:  # noqa: BLE001 - a bug of ours before anybody is there to tell it
        said = f"::error::Internal error: {type(error).__name__}. This is a bug in the action; please report it.\n"
        os.write(log.fileno(), said.encode())
        code = 1
    # Everything is written and flushed, and a log that could not be written is not to fail once more. An ordinary end
    # would wait for threads that are stuck, half a minute at times.
    os._exit(code)


if __name__ == "__main__":
    run()
