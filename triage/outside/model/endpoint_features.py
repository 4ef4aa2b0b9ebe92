"""What the models of an endpoint take, and which of them still answer: by name and host, and learned during a run."""

import re
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from triage.domain.run import ReasoningEffort
from triage.outside.model.model_errors import ModelFailure, Remedy
from triage.outside.model.output_formats import OutputFormat

MAX_FAILED_CALLS = 2
"""Without an answer in between, each with all its attempts. They take a minute or two, and there is a fallback."""
MAX_TEXTS = 2
"""Answers in prose of a model that has given no object and no call yet: it will give none."""
MAX_REFUSALS = 6
"""Of one call to one model."""
THINKING_TOKENS = 16_000
"""Room for an answer and the reasoning before it, which counts as part of its length."""
ONLY_PROSE = f"not asked any more: {MAX_TEXTS} answers in prose, and none in form"
_SPEAKS_RESPONSES = re.compile(r"api\.openai\.com|[\w-]+\.(?:openai|cognitiveservices|services\.ai)\.azure\.\w+")
"""Hosts with the Responses API. OpenAI's strongest models take tools nowhere else, and reasoning is handed on there."""
_IGNORES_SCHEMAS = frozenset({"api.anthropic.com"})
"""Hosts that accept `response_format` and ignore it: https://platform.claude.com/docs/en/api/openai-sdk"""
_GUESSES = (
    "pictures",
    "bounds",
    "strict",
    "response_format",
    "reasoning_effort",
    "other_effort",
    "include",
)
"""What is left out, one after the other, when a refusal does not say what it is about."""


@dataclass
class ModelFeatures:
    """What one model takes, and how it answers."""

    left_out: Set[str] = frozenset()
    """Options of requests, as `list_options` names them, without which a request was accepted."""
    failed_calls: int = 0
    """Since its last answer. After one the other model is asked first."""
    texts: int = 0
    """Answers in prose, as long as it has given no object and no call."""
    takes_form: bool = False
    """Whether it has given an object or a call."""
    drop_reason: str = ""
    """Why it is not asked any more; empty while it is."""

    def record_reply(self, *, is_answer: bool) -> None:
        """Count anew after an answer: a small model may ask for tools, or decline, and never answer."""
        if is_answer:
            self.failed_calls = 0

    def record_form(self, mode: str, *, is_text: bool) -> None:
        """Count an answer in prose. After two, and none in form, the model is not asked any more.

        The last one answers a prompt that shows the form: of others, the endpoint may ignore what describes it.
        """
        if not is_text:
            self.takes_form, self.drop_reason = True, self.drop_reason.replace(ONLY_PROSE, "")
        self.texts += is_text
        if mode == "plain" and self.texts >= MAX_TEXTS and not self.takes_form:
            self.drop_reason = ONLY_PROSE

    def record_failed_call(self, reason: str) -> None:
        """Count a call that failed for good. After two without an answer the model is not asked any more."""
        self.failed_calls += 1
        if self.failed_calls >= MAX_FAILED_CALLS and not self.drop_reason:
            self.drop_reason = f"not asked any more after {MAX_FAILED_CALLS} failed calls: {reason}"


@dataclass
class EndpointFeatures:
    """Features of one endpoint, by model."""

    base_url: str = ""
    effort: ReasoningEffort = "low"
    _models: dict[str, ModelFeatures] = field(default_factory=dict)

    def get_features(self, model: str) -> ModelFeatures:
        left_out = frozenset({"response_format"} if self._host in _IGNORES_SCHEMAS else ())
        return self._models.setdefault(model, ModelFeatures(left_out))

    @property
    def _host(self) -> str:
        return urlsplit(self.base_url).hostname or ""

    def speaks_responses(self, left_out: Set[str]) -> bool:
        """Return whether a request goes to the Responses API, and not to chat completions."""
        return "responses" not in left_out and (
            "completions" in left_out or bool(_SPEAKS_RESPONSES.fullmatch(self._host))
        )

    def build_options(self, room: int, left_out: Set[str]) -> dict[str, Any]:
        """Return the arguments of a request that are no matter of its format.

        `store`: nothing of an issue stays at the provider, so that reasoning goes back and forth in the request.
        """
        efforts = [self.effort, "low" if self.effort == "none" else "none"]
        refused = len({"reasoning_effort", "other_effort"} & left_out)
        options: dict[str, Any] = {"reasoning_effort": efforts[refused]} if refused < len(efforts) else {}
        if self.speaks_responses(left_out):
            options["store"] = False
            options |= {} if "include" in left_out else {"include": ["reasoning.encrypted_content"]}
        # langchain-openai sends it as `max_completion_tokens` or `max_output_tokens`. OpenAI's models refuse
        # `max_tokens`; some local servers know no other.
        is_old = "max_completion_tokens" in left_out
        return options | ({"extra_body": {"max_tokens": room}} if is_old else {"max_tokens": room})

    def list_options(self, output_format: OutputFormat[Any], left_out: Set[str]) -> Set[str]:
        """Return what of a request can still be left out or done otherwise."""
        options = {*output_format.options, "system", "messages", "replay", "room", "reasoning_effort"}
        in_responses, in_completions = {"responses", "include"}, {"completions", "max_completion_tokens"}
        options |= in_responses if self.speaks_responses(left_out) else in_completions
        options |= {"other_effort"} if "reasoning_effort" in left_out else set()
        return options - left_out

    def choose_option(self, failure: ModelFailure, options: Set[str]) -> str:
        """Return what to leave out after a refusal, of the options that are left; empty if nothing."""
        efforts = ("other_effort",) if "reasoning_effort" in failure.refused_options else ()
        guesses = _GUESSES if failure.remedy is Remedy.LEAVE_OUT else ()
        return next((one for one in (*failure.refused_options, *efforts, *guesses) if one in options), "")
