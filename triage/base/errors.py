"""Errors of this project. A message is one line for whoever must act, and never contains text from outside."""

import errno
from pathlib import PurePath


class TriageError(Exception):
    """Base of all errors that this project raises on purpose."""


class SetupError(TriageError):
    """The workflow's author, or whoever runs the command, must fix something. Exit code 1, status `failed`."""


class BadInput(SetupError):
    """An input, file or payload cannot be read."""


class WrongUsage(BadInput):
    """An option of a command, or what it names, cannot be used. Exit code 2 at a terminal."""


class BadConfig(BadInput):
    """The project's own settings have errors. `path` is the file, `line` the line of the first error."""

    def __init__(self, path: str, line: int, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.line = line


class NoSuchIssue(SetupError):
    """The issue does not exist, or the token may not see it."""


class IssueMoved(NoSuchIssue):
    """The issue or its repository was moved or deleted."""


class PermissionMissing(SetupError):
    """The token lacks a permission. The message has the `permissions:` line."""


class CannotPublish(TriageError):
    """GitHub refused a write, or does not answer. The job's page is written anyway."""


class NoSuchComment(CannotPublish):
    """The comment or its issue was deleted."""


class PullRequestRefused(CannotPublish):
    """GitHub does not let this token open a pull request. The message names the setting."""


class GitHubUnavailable(CannotPublish):
    """GitHub cannot be reached at the moment: rate limit, server error, no connection."""


class RateLimited(GitHubUnavailable):
    """The token has made too many requests, and the run has no time to wait."""


class GitError(Exception):
    """Git is missing, failed, took too long or printed too much. Whoever asks git goes on without, or says so."""


class NotIndexed(TriageError):
    """Nothing was indexed under this repository."""


class BudgetExceeded(TriageError):
    """This call would exceed a limit."""


class TimeLimitExceeded(TriageError):
    """The run has no time left for this call."""


class AnswerTooLarge(TriageError):
    """A server has sent more than is read of an answer."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(f"answer larger than {max_bytes // 1_000_000} MB")


class ModelUnavailable(TriageError):
    """A model call failed for good. `reason` is a short name such as `rate limited`, `unauthorized`, `timed out`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class InvalidAnswer(ModelUnavailable):
    """The model's answer is empty, truncated, a refusal, or of another shape than requested."""


def describe_os_error(error: OSError) -> str:
    """Return why a file or a folder cannot be used, in the words of the system, such as `permission denied`."""
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "a symbolic link or a file is in its place"
    return (error.strerror or "unknown reason").lower()


def error_location(error: BaseException) -> str:
    """Type and place of an exception, such as `KeyError in cli.py:12`. Contains no data."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    location = f" in {PurePath(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
    return type(error).__name__ + location
