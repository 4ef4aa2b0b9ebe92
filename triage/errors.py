"""What can go wrong, by who must act.

    TriageError
    ├── SetupError               the workflow's author must mend it: exit code 1, status failed
    │   ├── BadInput             an input, file or payload that cannot be read
    │   │   └── BadConfig        the project's own settings cannot be used; knows file and line
    │   ├── NoSuchIssue          the issue does not exist, or the token may not see it
    │   │   └── IssueMoved       it lives elsewhere now, or was deleted: nothing to do here
    │   └── PermissionMissing    the token lacks a permission; names the `permissions:` line
    ├── CannotPublish            GitHub did not take what was written; the summary still stands
    │   ├── NoSuchComment        the comment is gone, or the whole issue with it
    │   └── GitHubUnavailable    GitHub cannot be reached at the moment, for reading or for writing
    │       └── RateLimited      the token has asked too often
    ├── NoSuchCollection         nothing was indexed under this repository
    ├── BudgetSpent              a cap would be exceeded by this call
    │   └── DollarsSpent         the cap in dollars: a cheaper model may still fit
    ├── TimeSpent                the run has no time left for this call
    └── ModelUnavailable         a model call failed for good; `reason` names how
        └── BadAnswer            the model answered, but not what was asked for

Messages are written for the person who must act, one line, without text from outside.
"""

from pathlib import PurePath


class TriageError(Exception):
    """Base of all errors that this project raises on purpose."""


class SetupError(TriageError):
    """Something that the workflow's author or the person at the terminal must mend."""


class BadInput(SetupError):
    """An input, file or payload that cannot be read."""


class BadConfig(BadInput):
    """The project's own settings cannot be used.

    `path` is the file, `line` the first one at fault.
    """

    def __init__(self, path: str, line: int, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.line = line


class NoSuchIssue(SetupError):
    """The issue does not exist, or the token may not see it."""


class IssueMoved(NoSuchIssue):
    """The issue, or the repository, is not here any more: it lives elsewhere, or was deleted."""


class PermissionMissing(SetupError):
    """The token lacks a permission."""


class CannotPublish(TriageError):
    """GitHub did not take what was written."""


class NoSuchComment(CannotPublish):
    """The comment is gone, or the whole issue with it."""


class GitHubUnavailable(CannotPublish):
    """GitHub cannot be reached at the moment: rate limit, server fault, no connection."""


class RateLimited(GitHubUnavailable):
    """The token has asked too often, and there is no time to wait."""


class NotIndexed(TriageError):
    """Nothing was indexed under this repository."""


class BudgetExceeded(TriageError):
    """A cap would be exceeded by this call."""


class CostLimitExceeded(BudgetExceeded):
    """The cap in dollars would be exceeded; a cheaper model may still fit."""


class TimeLimitExceeded(TriageError):
    """The run has no time left for this call."""


class ModelUnavailable(TriageError):
    """A model call failed for good.

    `reason` is a short name such as `rate limited`, `unauthorized`, `timed out`.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class InvalidAnswer(ModelUnavailable):
    """The model answered, but not what was asked for: empty, cut, refused, or of another shape."""


def error_location(error: BaseException) -> str:
    """Type and place of an exception, without any data."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" in {PurePath(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
    return type(error).__name__ + place
