"""What a failed call means: try again, try another way, give the model up, or give the call up."""

from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import Any

import openai
from langchain_core.exceptions import (
    ContextOverflowError,
    ModelConnectionError,
    ModelRateLimitError,
    ModelTimeoutError,
)

from triage.domain.run import Usage
from triage.errors import BadAnswer, BudgetSpent, ModelUnavailable, TimeSpent


class Remedy(Enum):
    """What to do about a fault."""

    RETRY = auto()
    """The endpoint is busy or the line broke: the same call may succeed."""
    OTHER_MODE = auto()
    """The endpoint refused how the call was made, not what it asks."""
    DROP_MODEL = auto()
    """No call to this model can succeed in this run."""
    GIVE_UP = auto()
    """This call cannot succeed."""


@dataclass(frozen=True)
class Fault:
    """A failed call, understood. `reason` is our own name for it, fit for a report."""

    remedy: Remedy
    reason: str
    retry_after: float | None = None
    """Seconds that the endpoint asked to wait."""
    usage: Usage | None = None
    """What the endpoint billed all the same."""
    about_temperature: bool = False
    unclear_bill: bool = False
    """The request was sent and its answer not seen: it may have been billed."""


class Busy(ModelUnavailable):
    """The endpoint is busy or the line broke; the fallback model may take over."""


_DROPPED = {401: "unauthorized (401)", 403: "forbidden (403)", 404: "no such model (404)", 410: "gone (410)"}


def fault_of(error: Exception) -> Fault:
    """Name what went wrong. Never looks at more of a message than its code, status and parameter."""
    if isinstance(error, BudgetSpent | TimeSpent):
        return Fault(Remedy.GIVE_UP, str(error))
    if isinstance(error, BadAnswer):
        return Fault(Remedy.GIVE_UP, error.reason)
    if isinstance(error, ModelTimeoutError | openai.APITimeoutError | TimeoutError):
        return Fault(Remedy.RETRY, "timed out", unclear_bill=True)
    if isinstance(error, ModelConnectionError | openai.APIConnectionError):
        return Fault(Remedy.RETRY, "connection failed")
    if isinstance(error, openai.LengthFinishReasonError | openai.ContentFilterFinishReasonError):
        return _unfinished(error)
    if isinstance(error, openai.APIStatusError):
        return _by_status(error)
    return Fault(Remedy.GIVE_UP, "unreadable reply")


def _unfinished(error: Exception) -> Fault:
    reason = "answer cut at its length limit" if isinstance(error, openai.LengthFinishReasonError) else "content filter"
    return Fault(Remedy.GIVE_UP, reason, usage=_billed(error))


def _by_status(error: openai.APIStatusError) -> Fault:
    code = str(getattr(error, "code", None) or "")
    if code == "insufficient_quota":
        return Fault(Remedy.DROP_MODEL, "quota spent (429)")
    if isinstance(error, ModelRateLimitError) or error.status_code == 429:
        return Fault(Remedy.RETRY, "rate limited (429)", retry_after=_retry_after(error))
    if error.status_code in _DROPPED:
        return Fault(Remedy.DROP_MODEL, _DROPPED[error.status_code])
    if isinstance(error, ContextOverflowError) or code == "context_length_exceeded":
        return Fault(Remedy.GIVE_UP, "prompt too long for the model (400)")
    if code == "content_filter":
        return Fault(Remedy.GIVE_UP, "content filter")
    if error.status_code == 413:
        return Fault(Remedy.GIVE_UP, "prompt too long for the endpoint (413)")
    if error.status_code in (408, 409) or error.status_code >= 500:
        return Fault(Remedy.RETRY, f"endpoint failed ({error.status_code})", retry_after=_retry_after(error))
    parameter = str(getattr(error, "param", None) or "")
    return Fault(
        Remedy.OTHER_MODE,
        f"request refused ({error.status_code})",
        about_temperature=parameter == "temperature" or "'temperature'" in error.message,
    )


def _retry_after(error: openai.APIStatusError) -> float | None:
    """Seconds of a Retry-After header, which is a number or a date (RFC 9110, 10.2.3)."""
    value = error.response.headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(value)
        sent = parsedate_to_datetime(error.response.headers.get("date", ""))
    except (ValueError, TypeError):
        return None
    return max(0.0, (when - sent).total_seconds())


def _billed(error: Exception) -> Usage | None:
    """The usage of a reply that the SDK refused to hand on."""
    completion: Any = getattr(error, "completion", None)
    if completion is not None and completion.usage is not None:
        return Usage(
            input_tokens=completion.usage.prompt_tokens, output_tokens=completion.usage.completion_tokens, calls=1
        )
    response: Any = getattr(error, "response", None)
    try:
        usage = response.json()["usage"]
        return Usage(input_tokens=usage["prompt_tokens"], output_tokens=usage["completion_tokens"], calls=1)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
