"""Starts the action in the container, without importing anything from the repository that is triaged.

The runner starts us inside the checkout, which may contain a `triage/`, a `json.py` or a `.env`. Importing from there
would run somebody else's code, and Chroma reads `.env` from the working directory when it is imported.

The runner passes our keys as variables, and a process cannot remove them from its `/proc/self/environ`. So we start
twice: the first start writes the secrets into a file descriptor, and executes the second one with few variables.
"""

import os
import signal
import sys

HERE = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120 - importing pathlib would make both starts slower
SECRETS_FD_FLAG = "--secrets-fd="
"""Argument of the second start: the file descriptor with the secrets."""
LANGUAGE = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ")
MACHINE = ("HOME", "PATH", "TMPDIR", "HOSTNAME")
TRUST = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy")
RUNNER = (
    *("CI", "GITHUB_ACTIONS", "GITHUB_API_URL", "GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_OUTPUT"),
    *("GITHUB_REPOSITORY", "GITHUB_RUN_ATTEMPT", "GITHUB_RUN_ID", "GITHUB_SERVER_URL", "GITHUB_STEP_SUMMARY"),
    *("GITHUB_WORKSPACE", "RUNNER_ARCH", "RUNNER_ENVIRONMENT", "RUNNER_NAME", "RUNNER_OS", "RUNNER_TEMP"),
)
"""A prefix such as `GITHUB_` would not do: a workflow may have a secret in `GITHUB_PAT`."""
DOCKER = ("DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH")
"""Where its daemon is: runners without a root have their own. Docker passes them to no build and to no container."""
PASSED_VARIABLES = frozenset({*LANGUAGE, *MACHINE, *TRUST, *PROXIES, *RUNNER, *DOCKER, "TAVILY_BASE_URL"})
FIXED_VARIABLES = {
    "ANONYMIZED_TELEMETRY": "False",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "NETRC": os.devnull,
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
}
"""No library sends usage data or traces, reads a login from `.netrc`, or looks through all packages for plug-ins."""
ID_TOKEN = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"  # noqa: S105 - the name of a variable
OWN_LIBRARIES = ("LD_LIBRARY_PATH", os.path.join(sys.base_prefix, "lib"))  # noqa: PTH118
"""Where this Python has its own library, without a container. Another folder may belong to the checkout."""
Variables = dict[bytes, bytes]


def split_environment(environ: "os._Environ[bytes] | Variables") -> tuple[Variables, Variables]:
    """The variables of the second start, and the secrets. All other variables are dropped."""
    passed: Variables = {}
    secrets: Variables = {}
    for name, value in environ.items():
        text = os.fsdecode(name)
        if text == ID_TOKEN:
            secrets[name] = b"granted" if value else b""
        elif text.startswith("INPUT_") or (text.startswith("OTEL_") and "HEADERS" in text):
            secrets[name] = value
        elif (text, os.fsdecode(value)) == OWN_LIBRARIES:
            passed[name] = value
        elif text in PASSED_VARIABLES or text.startswith("OTEL_"):
            is_url = text.upper().endswith(("URL", "ENDPOINT", "PROXY"))
            may_have_secret = is_url and (b"@" in value or b"?" in value)
            (secrets if may_have_secret else passed)[name] = value
    return passed | {os.fsencode(name): os.fsencode(value) for name, value in FIXED_VARIABLES.items()}, secrets


def restart_without_secrets(passed: Variables, secrets: Variables) -> str:
    """Start this program again in the same process, with few variables and with blocked signals. Does not return.

    On failure, secrets are removed from `os.environ` only, and the reason is returned.
    """
    try:
        descriptor = _write_to_descriptor(b"".join(b"%b=%b\0" % pair for pair in secrets.items()))
        program = [sys.executable, *_python_flags(), f"{HERE}/entrypoint.py", f"{SECRETS_FD_FLAG}{descriptor}"]
        os.execve(sys.executable, program, passed)  # noqa: S606 - ourselves
    except (OSError, ValueError) as error:
        os.environb.clear()
        os.environb.update(passed)
        return (getattr(error, "strerror", None) or type(error).__name__).lower()


def _python_flags() -> list[str]:
    """The flags of this Python, such as `-I` and `-u`; none if another program runs this file."""
    own = len(sys.orig_argv) - len(sys.argv)
    return sys.orig_argv[1:own] if sys.orig_argv[own:] == sys.argv else []


def _write_to_descriptor(content: bytes) -> int:
    descriptor = os.memfd_create("secrets", 0) if hasattr(os, "memfd_create") else _open_nameless_file()
    with os.fdopen(descriptor, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.set_inheritable(descriptor, True)
    return descriptor


def _open_nameless_file() -> int:
    """A file that only this process can reach, for systems without `memfd_create` such as macOS."""
    folder = os.environ.get("RUNNER_TEMP") or os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - the name is new and ours
    path = f"{folder}/triage-{os.urandom(16).hex()}"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    os.unlink(path)  # noqa: PTH108
    return descriptor


def read_secrets(descriptor: int) -> Variables:
    """Read the secrets and close the descriptor: from now on they are only in memory."""
    with os.fdopen(descriptor, "rb") as file:
        entries = file.read().split(b"\0")
    return {name: value for name, _, value in (entry.partition(b"=") for entry in entries if entry)}


def leave_the_workspace() -> None:
    """Remove the working directory from the import path, and change to our own folder.

    GITHUB_WORKSPACE still names the workspace.
    """
    try:
        workspace = os.getcwd()  # noqa: PTH109
    except OSError:  # the folder was deleted
        workspace = os.devnull
    os.environ.setdefault("GITHUB_WORKSPACE", workspace)  # otherwise our own folder would be triaged
    removed = (os.path.realpath(workspace), HERE)
    sys.path[:] = [HERE, *(entry for entry in sys.path if entry and os.path.realpath(entry) not in removed)]
    os.chdir(HERE)


def open_closed_streams() -> None:
    """Open `/dev/null` for a standard stream that is closed. Otherwise the next file would get its number."""
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this stream's


def open_log() -> int:
    """A descriptor for our log. Libraries, which may quote anybody, print to the standard ones: to `/dev/null` now."""
    log = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.close(null)
    return log


def run() -> None:
    """Start again without secrets, then run the action and exit."""
    open_closed_streams()
    # Signals wait until `listen`. The image blocks them by `env --block-signal` while Python starts.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    flag = next((argument for argument in sys.argv[1:] if argument.startswith(SECRETS_FD_FLAG)), None)
    if flag is None:
        passed, secrets = split_environment(os.environb)
        problem = restart_without_secrets(passed, secrets)
    else:
        secrets, problem = read_secrets(int(flag.removeprefix(SECRETS_FD_FLAG))), ""
    leave_the_workspace()
    environ = {**os.environ, **{os.fsdecode(name): os.fsdecode(value) for name, value in secrets.items()}}
    from triage.base.os_signals import SignalHandler

    signals = SignalHandler()
    signals.listen()
    from triage.action import main

    warning = f"The environment could not be cleaned ({problem}): other processes of this user can read its keys."
    log = os.fdopen(open_log(), "w", encoding="utf-8", errors="backslashreplace")
    try:
        code = main(environ, signals, log, [warning] if problem else [])
    except Exception as error:  # noqa: BLE001 - a bug of ours outside the action's own error handling
        line = f"::error::Internal error: {type(error).__name__}. This is a bug in the action; please report it.\n"
        os.write(log.fileno(), line.encode())
        code = 1
    # Everything is flushed. A normal exit would flush a broken log once more, and wait for stuck threads.
    os._exit(code)


if __name__ == "__main__":
    run()
