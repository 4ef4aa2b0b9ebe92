"""What is learned about an endpoint during a run: modes and parameters of its models, and whom to ask first."""

import re
from collections import defaultdict
from typing import Any
from urllib.parse import urlsplit

from triage.model.model_errors import CUT_AT_LENGTH, ModelFailure, Remedy
from triage.model.output_formats import OutputFormat

MAX_CUT_ANSWERS = 2
"""In a row: each is paid in full, and a model that thinks without end does not stop doing so."""
FALLBACK_SECONDS = 600.0
"""How long the fallback is asked first. Most runs are shorter."""
_OPTIONAL_REASONING = re.compile(r"gpt-(?:5\.[1-9]|[6-9])")
"""OpenAI's models that can answer without reasoning. With any, they refuse tools in chat completions and a temperature,
and it counts as part of the answer's length: https://developers.openai.com/api/docs/guides/deployment-checklist"""
_IGNORES_SCHEMAS = frozenset({"api.anthropic.com"})
"""Hosts that accept `response_format` and ignore it: https://platform.claude.com/docs/en/api/openai-sdk"""
_ADAPTABLE = frozenset({"temperature", "max_completion_tokens", "messages", "reasoning_effort"})
"""Parameters without which, or otherwise written, a request may succeed. `messages`: two of one role in a row."""


class EndpointFeatures:
    """Features of one endpoint, by model. Starts with the newest parameters of OpenAI.

    Times are seconds of the run's monotonic clock.
    """

    def __init__(self, base_url: str = "") -> None:
        self._ignores_schemas = urlsplit(base_url).hostname in _IGNORES_SCHEMAS
        self._drop_reasons: dict[str, str] = {}
        self._cut_answers = 0
        self._misfits: set[str] = set()
        self._first_mode: dict[tuple[str, str], int] = {}
        self._confirmed_modes: set[tuple[str, str, int]] = set()
        self._refused: defaultdict[str, set[str]] = defaultdict(set)
        """Parameters, by the model that refused or ignored them."""
        self._fallback_until: dict[str, float] = {}

    def drop_reason(self, model: str) -> str:
        """Return why the model is not asked any more; empty while it is."""
        if self._cut_answers >= MAX_CUT_ANSWERS:
            return f"{MAX_CUT_ANSWERS} answers in a row were cut at their length limit"
        return self._drop_reasons.get(model, "")

    def has_misfit(self, model: str) -> bool:
        """Return whether its last answer that needed a form could not be read: then each question is asked once."""
        return model in self._misfits

    def prefers_fallback(self, model: str, now: float) -> bool:
        """Return whether the fallback of a model is asked before it."""
        return now < self._fallback_until.get(model, now)

    def prefer_fallback(self, model: str, now: float) -> None:
        """Return the fallback answered after the model had failed: it is asked first for ten minutes."""
        self._fallback_until[model] = now + FALLBACK_SECONDS

    def prefer_model(self, model: str) -> None:
        """Return the model answered after its fallback had failed."""
        self._fallback_until.pop(model, None)

    def accepts_temperature(self, model: str) -> bool:
        return "temperature" not in self._refused[model]

    def needs_alternating_roles(self, model: str) -> bool:
        """Return whether two messages of one role in a row are refused."""
        return "messages" in self._refused[model]

    def length_arguments(self, model: str, max_tokens: int) -> dict[str, Any]:
        """Return the arguments that limit the length of the answer.

        OpenAI's reasoning models refuse `max_tokens`; Ollama, llama.cpp and Mistral know no other.
        """
        if "max_completion_tokens" in self._refused[model]:
            return {"extra_body": {"max_tokens": max_tokens}}
        return {"max_tokens": max_tokens}  # which langchain-openai sends as `max_completion_tokens`

    def reasoning_arguments(self, model: str) -> dict[str, Any]:
        """Return the argument that turns reasoning off, for models that are known to take it or that asked for it."""
        by_name = _OPTIONAL_REASONING.match(model.rpartition("/")[2]) is not None
        # A refusal means that it was sent to a model that cannot do without, or was missing where tools need it.
        return {"reasoning_effort": "none"} if by_name != ("reasoning_effort" in self._refused[model]) else {}

    def first_mode(self, model: str, output_format: OutputFormat[Any]) -> int:
        return self._first_mode.get(
            (model, output_format.name), len(output_format.modes) - 1 if self._ignores_schemas else 0
        )

    def accept_mode(self, model: str, output_format: OutputFormat[Any], index: int) -> None:
        """Remember that the endpoint accepts requests in this mode."""
        self._first_mode[(model, output_format.name)] = index

    def confirm_mode(self, model: str, output_format: OutputFormat[Any], index: int) -> None:
        """Remember that an answer in this mode could be read."""
        self._cut_answers = 0
        if output_format.name == "structured":
            self._misfits.discard(model)
        self.accept_mode(model, output_format, index)
        self._confirmed_modes.add((model, output_format.name, index))

    def record_misfit(self, model: str, output_format: OutputFormat[Any], index: int) -> None:
        """Begin with the next mode from now on if no answer in this one could be read: the endpoint may ignore it."""
        self._misfits.add(model)
        if (model, output_format.name, index) not in self._confirmed_modes:
            self.accept_mode(model, output_format, min(index + 1, len(output_format.modes) - 1))

    def record_overrun(self, model: str) -> None:
        """Use `max_tokens` from now on: an answer was too long, so the endpoint ignores the newer parameter."""
        self._refused[model].add("max_completion_tokens")

    def learn_from(self, model: str, failure: ModelFailure) -> bool:
        """Adapt to a failed call. Returns whether the same request may succeed now."""
        self._cut_answers += failure.reason == CUT_AT_LENGTH
        if failure.remedy is Remedy.DROP_MODEL:
            self._drop_reasons[model] = failure.reason
        parameter = failure.refused_parameter
        if parameter not in _ADAPTABLE or parameter in self._refused[model]:
            return False
        self._refused[model].add(parameter)
        return True
