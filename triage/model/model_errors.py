"""Classifies the errors of model calls: retry, ask in another way, drop the model, or give up the call."""

import asyncio
import re
from dataclasses import dataclass
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

from triage.base.errors import AnswerTooLarge, InvalidAnswer, ModelUnavailable
from triage.base.http_client import parse_retry_after, was_sent
from triage.base.network import PROXY_LOGIN_REFUSED, describe_connection_problem, list_causes
from triage.model.token_count import TokenCount, parse_usage

PARSE_ERRORS = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""Raised by the SDK for a reply that is JSON, but no completion."""
REQUEST_ERRORS = (openai.OpenAIError, LangChainException, TimeoutError, OSError, InvalidAnswer, *PARSE_ERRORS)
"""Everything that a request can raise, except a cancellation."""


CUT_AT_LENGTH = "answer cut at its length limit"


class Remedy(Enum):
    RETRY = auto()
    """The endpoint is busy or the connection broke: the same call may succeed."""
    OTHER_MODE = auto()
    """The endpoint refused the form of the request, not its content."""
    DROP_MODEL = auto()
    """No call to this model can succeed in this run."""
    GIVE_UP = auto()
    """This call cannot succeed."""


@dataclass(frozen=True)
class ModelFailure:
    """Why a call failed. `reason` is our own name for it, which may be published."""

    remedy: Remedy
    reason: str
    retry_after: float | None = None
    """Seconds that the endpoint asked to wait."""
    billed: TokenCount | None = None
    """Tokens that the endpoint has billed nevertheless."""
    refused_parameter: str = ""
    """The optional parameter that the endpoint does not take."""
    may_be_billed: bool = False
    """The request was sent, but its response was lost or could not be read."""


class EndpointBusy(ModelUnavailable):
    """The endpoint is busy or the connection broke; the fallback model may take over."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        """Seconds that the endpoint asked to wait."""


class WrongFormat(InvalidAnswer):
    """The reply has another form than requested: the endpoint may ignore the request's mode."""


_FATAL_STATUSES = {
    401: "unauthorized (401)",
    402: "payment required (402)",
    403: "forbidden (403)",
    404: "no such model (404)",
    407: PROXY_LOGIN_REFUSED,
    410: "gone (410)",
}
_TOO_LONG = re.compile(r"context (?:length|window|size)|prompt is too long|too many (?:input )?tokens", re.IGNORECASE)
_PARAMETER = re.compile(
    r"""["'`](temperature|max_completion_tokens|max_tokens)["'`]|\b(?P<effort>reasoning_effort)\b"""
)
_ALTERNATION = re.compile(r"\broles? must alternate|\balternat\w+ (?:user|roles?)\b", re.IGNORECASE)
"""Of chat templates that take one message of the user at a time, as vLLM and llama.cpp pass their errors on."""


def classify_error(error: BaseException) -> ModelFailure:
    """Return why a call failed. Messages of the endpoint are searched for known words, and never repeated."""
    if isinstance(error, asyncio.CancelledError):
        return ModelFailure(Remedy.GIVE_UP, "cancelled before it answered", may_be_billed=True)
    if isinstance(error, InvalidAnswer):
        return ModelFailure(Remedy.GIVE_UP, error.reason)
    if isinstance(error, openai.LengthFinishReasonError | openai.ContentFilterFinishReasonError):
        return _classify_unfinished(error)
    if isinstance(error, openai.APIStatusError):
        return _classify_status(error)
    if too_large := next((cause for cause in list_causes(error) if isinstance(cause, AnswerTooLarge)), None):
        return ModelFailure(Remedy.GIVE_UP, f"{too_large} (check model-base-url)", may_be_billed=True)
    if reason := describe_connection_problem(error):
        return ModelFailure(Remedy.DROP_MODEL, reason)
    if isinstance(error, ModelTimeoutError | openai.APITimeoutError | TimeoutError):
        return ModelFailure(Remedy.RETRY, "timed out", may_be_billed=was_sent(error))
    if isinstance(error, ModelConnectionError | openai.APIConnectionError | OSError):
        return ModelFailure(Remedy.RETRY, "connection failed", may_be_billed=was_sent(error))
    return ModelFailure(Remedy.GIVE_UP, "unreadable reply", billed=_usage_from_response(error), may_be_billed=True)


def _classify_unfinished(error: openai.LengthFinishReasonError | openai.ContentFilterFinishReasonError) -> ModelFailure:
    reason = CUT_AT_LENGTH if isinstance(error, openai.LengthFinishReasonError) else "content filter"
    usage = error.completion.usage if error.completion else None
    return ModelFailure(
        Remedy.GIVE_UP, reason, billed=parse_usage(usage.model_dump()) if usage else None, may_be_billed=True
    )


def _classify_status(error: openai.APIStatusError) -> ModelFailure:
    code = str(getattr(error, "code", None) or "")
    if "insufficient_quota" in (code, getattr(error, "type", None)):
        return ModelFailure(Remedy.DROP_MODEL, "quota spent (429)")
    if isinstance(error, ModelRateLimitError) or error.status_code == 429:
        return ModelFailure(Remedy.RETRY, "rate limited (429)", retry_after=parse_retry_after(error.response.headers))
    if error.status_code in _FATAL_STATUSES:
        return ModelFailure(Remedy.DROP_MODEL, _FATAL_STATUSES[error.status_code])
    if error.status_code in (408, 409) or error.status_code >= 500:
        return ModelFailure(
            Remedy.RETRY,
            f"endpoint failed ({error.status_code})",
            retry_after=parse_retry_after(error.response.headers),
        )
    return _classify_refusal(error, code)


def _classify_refusal(error: openai.APIStatusError, code: str) -> ModelFailure:
    status, text = error.status_code, _error_text(error)
    if status == 413:
        return ModelFailure(Remedy.GIVE_UP, "prompt too long for the endpoint (413)")
    if isinstance(error, ContextOverflowError) or code == "context_length_exceeded" or _TOO_LONG.search(text):
        return ModelFailure(Remedy.GIVE_UP, f"prompt too long for the model ({status})")
    if code == "content_filter":
        return ModelFailure(Remedy.GIVE_UP, "content filter")
    if _ALTERNATION.search(text):
        return ModelFailure(Remedy.OTHER_MODE, f"request refused ({status})", refused_parameter="messages")
    # The error's own field, else the first name that its message quotes.
    found = _PARAMETER.search(f"'{error.param}'" if error.param else text)
    return ModelFailure(
        Remedy.OTHER_MODE,
        f"request refused ({status})",
        refused_parameter=(found[1] or found["effort"]) if found else "",
    )


def _error_text(error: openai.APIStatusError) -> str:
    # FastAPI echoes the input: of its errors only the message and the location are read.
    body = error.body if isinstance(error.body, dict) else {}
    detail = body.get("detail")
    items = [item for item in detail if isinstance(item, dict)] if isinstance(detail, list) else []
    texts = [error.message, body.get("message"), detail if isinstance(detail, str) else ""]
    return "\n".join(map(str, [*texts, *(f"{item.get('msg')} {item.get('loc')}" for item in items)]))


def _usage_from_response(error: BaseException) -> TokenCount | None:
    response: Any = getattr(error, "response", None)
    try:
        return parse_usage(response.json()["usage"])
    except PARSE_ERRORS:
        return None
