"""What a failed call means: try again, try another way, give the model up, or give the call up."""

import asyncio
import math
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import Any

import openai
from langchain_core.exceptions import (
    ContextOverflowError,
    LangChainException,
    ModelConnectionError,
    ModelRateLimitError,
    ModelTimeoutError,
)

from triage.adapters.llm.token_count import TokenCount, parse_usage
from triage.errors import InvalidAnswer, ModelUnavailable
from triage.network import PROXY_LOGIN_REFUSED, describe_connection_problem

PARSE_ERRORS = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""What the SDK raises on a reply that is JSON, but no completion."""
REQUEST_ERRORS = (openai.OpenAIError, LangChainException, TimeoutError, OSError, InvalidAnswer, *PARSE_ERRORS)
"""Everything that a request can raise, but for being cancelled."""


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
class ModelFailure:
    """A failed call, understood. `reason` is our own name for it, fit for a report."""

    remedy: Remedy
    reason: str
    retry_after: float | None = None
    """Seconds that the endpoint asked to wait."""
    billed: TokenCount | None = None
    """What the endpoint billed all the same."""
    refused_parameter: str = ""
    """The optional parameter that the endpoint does not take."""
    may_be_billed: bool = False
    """The request was sent and its answer not seen, or not understood: it may have been billed."""


class EndpointBusy(ModelUnavailable):
    """The endpoint is busy or the line broke; the fallback model may take over."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        """Seconds that the endpoint asked to wait."""


class WrongFormat(InvalidAnswer):
    """The reply is not of the form that was asked for: the endpoint may ignore how it was asked."""


_FATAL_STATUSES = {
    401: "unauthorized (401)",
    402: "payment required (402)",
    403: "forbidden (403)",
    404: "no such model (404)",
    407: PROXY_LOGIN_REFUSED,
    410: "gone (410)",
}
_TOO_LONG = re.compile(r"context (?:length|window|size)|prompt is too long|too many (?:input )?tokens", re.IGNORECASE)
_PARAMETER = re.compile(r"""["'`](temperature|max_completion_tokens|max_tokens)["'`]""")


def classify_error(error: BaseException) -> ModelFailure:
    """Name what went wrong. Messages from outside are searched for known words, and never repeated."""
    if isinstance(error, asyncio.CancelledError):
        return ModelFailure(Remedy.GIVE_UP, "cut off before it answered", may_be_billed=True)
    if isinstance(error, InvalidAnswer):
        return ModelFailure(Remedy.GIVE_UP, error.reason)
    if isinstance(error, openai.LengthFinishReasonError | openai.ContentFilterFinishReasonError):
        return _classify_unfinished(error)
    if isinstance(error, openai.APIStatusError):
        return _classify_status(error)
    if reason := describe_connection_problem(error):
        return ModelFailure(Remedy.DROP_MODEL, reason)
    if isinstance(error, ModelTimeoutError | openai.APITimeoutError | TimeoutError):
        return ModelFailure(Remedy.RETRY, "timed out", may_be_billed=_was_sent(error))
    if isinstance(error, ModelConnectionError | openai.APIConnectionError | OSError):
        return ModelFailure(Remedy.RETRY, "connection failed", may_be_billed=_was_sent(error))
    return ModelFailure(Remedy.GIVE_UP, "unreadable reply", billed=_usage_from_response(error), may_be_billed=True)


def _was_sent(error: BaseException | None) -> bool:
    """Whether the line broke after it had been open. The SDK speaks through one of two HTTP libraries."""
    while error is not None:
        if type(error).__name__ in ("ConnectError", "ConnectTimeout", "PoolTimeout"):
            return False
        error = error.__cause__
    return True


def _classify_unfinished(error: openai.LengthFinishReasonError | openai.ContentFilterFinishReasonError) -> ModelFailure:
    reason = "answer cut at its length limit" if isinstance(error, openai.LengthFinishReasonError) else "content filter"
    usage = error.completion.usage if error.completion else None
    return ModelFailure(
        Remedy.GIVE_UP, reason, billed=parse_usage(usage.model_dump()) if usage else None, may_be_billed=True
    )


def _classify_status(error: openai.APIStatusError) -> ModelFailure:
    code = str(getattr(error, "code", None) or "")
    if "insufficient_quota" in (code, getattr(error, "type", None)):
        return ModelFailure(Remedy.DROP_MODEL, "quota spent (429)")
    if isinstance(error, ModelRateLimitError) or error.status_code == 429:
        return ModelFailure(Remedy.RETRY, "rate limited (429)", retry_after=_retry_after(error))
    if error.status_code in _FATAL_STATUSES:
        return ModelFailure(Remedy.DROP_MODEL, _FATAL_STATUSES[error.status_code])
    if error.status_code in (408, 409) or error.status_code >= 500:
        return ModelFailure(Remedy.RETRY, f"endpoint failed ({error.status_code})", retry_after=_retry_after(error))
    return _classify_refusal(error, code)


def _classify_refusal(error: openai.APIStatusError, code: str) -> ModelFailure:
    status, said = error.status_code, _error_text(error)
    if status == 413:
        return ModelFailure(Remedy.GIVE_UP, "prompt too long for the endpoint (413)")
    if isinstance(error, ContextOverflowError) or code == "context_length_exceeded" or _TOO_LONG.search(said):
        return ModelFailure(Remedy.GIVE_UP, f"prompt too long for the model ({status})")
    if code == "content_filter":
        return ModelFailure(Remedy.GIVE_UP, "content filter")
    # By the error's own field, else the first that its message quotes.
    found = _PARAMETER.search(f"'{error.param}'" if error.param else said)
    return ModelFailure(Remedy.OTHER_MODE, f"request refused ({status})", refused_parameter=found[1] if found else "")


def _error_text(error: openai.APIStatusError) -> str:
    """The message; of a body in FastAPI's form what is wrong and where, but not the input that it echoes."""
    body = error.body if isinstance(error.body, dict) else {}
    detail = body.get("detail")
    faults = [one for one in detail if isinstance(one, dict)] if isinstance(detail, list) else []
    told = [error.message, body.get("message"), detail if isinstance(detail, str) else ""]
    return "\n".join(map(str, [*told, *(f"{one.get('msg')} {one.get('loc')}" for one in faults)]))


def _retry_after(error: openai.APIStatusError) -> float | None:
    """Seconds of a Retry-After header, which is a number or a date (RFC 9110, 10.2.3)."""
    value = error.response.headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        return _seconds_between(value, error.response.headers.get("date", ""))
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _seconds_between(date: str, sent: str) -> float | None:
    """Between the header's date and the one at which it was sent, by the endpoint's own clock."""
    try:
        return max(0.0, (parsedate_to_datetime(date) - parsedate_to_datetime(sent)).total_seconds())
    except (ValueError, TypeError):
        return None


def _usage_from_response(error: BaseException) -> TokenCount | None:
    """What the endpoint says it billed for a reply that the SDK refused to hand on."""
    response: Any = getattr(error, "response", None)
    try:
        return parse_usage(response.json()["usage"])
    except PARSE_ERRORS:
        return None
