"""Classifies the errors of model calls: retry, ask in another way, drop the model, or give up the call."""

import asyncio
import re
from dataclasses import dataclass
from enum import Enum, auto

import openai
from langchain_core.exceptions import ContextOverflowError

from triage.base.errors import AnswerTooLarge, InvalidAnswer, ModelUnavailable
from triage.outside.http_client import (
    PROXY_LOGIN_REFUSED,
    describe_connection_problem,
    list_causes,
    parse_retry_after,
    was_sent,
)

PARSE_ERRORS = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""Raised by the SDK for a reply that is JSON, but no completion."""
REQUEST_ERRORS = (openai.OpenAIError, TimeoutError, OSError, InvalidAnswer, *PARSE_ERRORS)
"""Everything that a request can raise, except a cancellation. LangChain's errors are errors of the SDK as well."""


CUT_AT_LENGTH = "answer cut at its length limit"
TIMED_OUT = "timed out"
PROMPT_TOO_LONG = "prompt too long"


class Remedy(Enum):
    RETRY = auto()
    """The endpoint is busy or the connection broke: the same call may succeed."""
    LEAVE_OUT = auto()
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
    refused_options: tuple[str, ...] = ()
    """What the endpoint may mean that it does not take, of `EndpointFeatures`, likeliest first."""
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

    def __init__(self, reason: str, *, is_prose: bool) -> None:
        super().__init__(reason)
        self.is_prose = is_prose
        """Whether it has nothing of a form."""


_FATAL_STATUSES = {
    401: "unauthorized (401)",
    402: "payment required (402)",
    403: "forbidden (403)",
    404: "no such model (404)",
    407: PROXY_LOGIN_REFUSED,
    410: "gone (410)",
}
_TOO_LONG = re.compile(r"context (?:length|window|size)|prompt is too long|too many (?:input )?tokens", re.IGNORECASE)
_BY_WORDS = {
    "completions": r"\buse (?:the )?(?:/v1)?/?responses\b",
    "messages": r"\broles? must alternate|\balternat\w+ (?:user|roles?)\b",
    "system": r"\b(?:system|developer) (?:role|message|prompt|instruction)s?\b[^.\n]{0,40}\bnot\b",
    "room": r"max_(?:completion_|output_)?tokens\b[^\n]{0,80}(?:too (?:large|high)|at most|maximum|exceed|less than)",
    "bounds": r"\bmax(?:Items|Length)\b",
    "pictures": r"\bimages?\b|\bimage_url\b|\binput_image\b",
}
"""What a refusal means. Alternating roles and system messages are refused by chat templates, whose errors vLLM and
llama.cpp pass on."""
_BY_NAME = {
    "include": r"\Ainclude\b|\bencrypted.content\b",
    "replay": r"\breasoning_(?:content|details)\b",
    "reasoning_effort": r"\breasoning(?:[._]effort)?\b|\bsupport thinking\b",
    "max_completion_tokens": r"\bmax_completion_tokens\b",
}
"""The same, by the names of parameters: in the error's own field, else in its message."""


def classify_error(error: BaseException) -> ModelFailure:
    """Return why a call failed. Messages of the endpoint are searched for known words, and never repeated."""
    if isinstance(error, asyncio.CancelledError):
        return ModelFailure(Remedy.GIVE_UP, "cancelled before it answered", may_be_billed=True)
    if isinstance(error, InvalidAnswer):
        return ModelFailure(Remedy.GIVE_UP, error.reason)
    if isinstance(error, openai.APIStatusError):
        return _classify_status(error)
    if too_large := next((cause for cause in list_causes(error) if isinstance(cause, AnswerTooLarge)), None):
        return ModelFailure(Remedy.GIVE_UP, f"{too_large} (check model-base-url)", may_be_billed=True)
    if reason := describe_connection_problem(error):
        return ModelFailure(Remedy.DROP_MODEL, reason)
    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return ModelFailure(Remedy.RETRY, TIMED_OUT, may_be_billed=was_sent(error))
    if isinstance(error, openai.APIConnectionError | OSError):
        return ModelFailure(Remedy.RETRY, "connection failed", may_be_billed=was_sent(error))
    if status := _find_status(error):
        return _classify_code(status, None)
    return ModelFailure(Remedy.GIVE_UP, "unreadable reply", may_be_billed=True)


def _find_status(error: BaseException) -> int:
    """Return the HTTP status that an error in a reply with the status 200 names, 502 if none; 0 for no error."""
    body = error.args[0] if isinstance(error, ValueError) and error.args else None
    if not body or not (isinstance(body, dict) or hasattr(body, "code")):
        return 0
    code = str(body.get("code") if isinstance(body, dict) else body.code)
    return int(code) if re.fullmatch(r"[45]\d\d", code) else 502


def _classify_status(error: openai.APIStatusError) -> ModelFailure:
    code = str(getattr(error, "code", None) or "")
    if "insufficient_quota" in (code, getattr(error, "type", None)):
        return ModelFailure(Remedy.DROP_MODEL, "quota spent (429)")
    if error.status_code in (400, 413, 422):
        return _classify_refusal(error, code)
    return _classify_code(error.status_code, error)


def _classify_code(status: int, error: openai.APIStatusError | None) -> ModelFailure:
    """Return what a status means, whatever the message says."""
    retry_after = parse_retry_after(error.response.headers) if error else None
    if status == 429:
        return ModelFailure(Remedy.RETRY, "rate limited (429)", retry_after=retry_after)
    if status in _FATAL_STATUSES:
        # The endpoint may know the model, but not the Responses API.
        refused = ("responses",) if status == 404 else ()
        return ModelFailure(Remedy.DROP_MODEL, _FATAL_STATUSES[status], refused_options=refused)
    if status in (408, 409) or status >= 500:
        return ModelFailure(Remedy.RETRY, f"endpoint failed ({status})", retry_after=retry_after)
    return ModelFailure(Remedy.LEAVE_OUT, f"request refused ({status})")


def _classify_refusal(error: openai.APIStatusError, code: str) -> ModelFailure:
    """Return why a request was refused, with the options that the message names or is about."""
    status, text = error.status_code, _error_text(error)
    if status == 413:
        return ModelFailure(Remedy.GIVE_UP, f"{PROMPT_TOO_LONG} for the endpoint (413)")
    if isinstance(error, ContextOverflowError) or code == "context_length_exceeded" or _TOO_LONG.search(text):
        return ModelFailure(Remedy.GIVE_UP, f"{PROMPT_TOO_LONG} for the model ({status})", refused_options=("room",))
    if code == "content_filter":
        return ModelFailure(Remedy.GIVE_UP, "content filter")
    searched = [(text, _BY_WORDS), (error.param or "", _BY_NAME), (text, _BY_NAME)]
    found = [name for part, words in searched for name in words if re.search(words[name], part, re.IGNORECASE)]
    return ModelFailure(Remedy.LEAVE_OUT, f"request refused ({status})", refused_options=tuple(found))


def _error_text(error: openai.APIStatusError) -> str:
    # FastAPI echoes the input: of its errors only the message and the location are read.
    body = error.body if isinstance(error.body, dict) else {}
    detail = body.get("detail")
    items = [item for item in detail if isinstance(item, dict)] if isinstance(detail, list) else []
    texts = [error.message, body.get("message"), detail if isinstance(detail, str) else ""]
    return "\n".join(map(str, [*texts, *(f"{item.get('msg')} {item.get('loc')}" for item in items)]))
