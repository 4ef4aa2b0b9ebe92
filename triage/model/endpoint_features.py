"""Which modes and parameters the models of an endpoint accept, learned from its responses during a run."""

import re
from typing import Any
from urllib.parse import urlsplit

from triage.model.model_errors import ModelFailure, Remedy
from triage.model.output_formats import OutputFormat

_OPTIONAL_REASONING = re.compile(r"gpt-(?:5\.[1-9]|[6-9])")
"""OpenAI's models that can answer without reasoning. With any, they refuse tools in chat completions and a temperature,
and it counts as part of the answer's length: https://developers.openai.com/api/docs/guides/deployment-checklist"""


_IGNORES_SCHEMAS = frozenset({"api.anthropic.com"})
"""Hosts that accept `response_format` and ignore it: https://platform.claude.com/docs/en/api/openai-sdk"""


class EndpointFeatures:
    """Features of one endpoint, by model. Starts with the newest modes and parameters of OpenAI."""

    def __init__(self, base_url: str = "") -> None:
        self._ignores_schemas = urlsplit(base_url).hostname in _IGNORES_SCHEMAS
        self._drop_reasons: dict[str, str] = {}
        self._first_mode: dict[tuple[str, str], int] = {}
        self._confirmed_modes: set[tuple[str, str, int]] = set()
        self._without_temperature: set[str] = set()
        self._with_max_tokens: set[str] = set()
        self._without_reasoning: dict[str, bool] = {}
        self._with_alternating_roles: set[str] = set()

    def drop_reason(self, model: str) -> str:
        """Returns why the model is not asked any more; empty while it is."""
        return self._drop_reasons.get(model, "")

    def accepts_temperature(self, model: str) -> bool:
        return model not in self._without_temperature

    def needs_alternating_roles(self, model: str) -> bool:
        """Returns whether two messages of one role in a row are refused."""
        return model in self._with_alternating_roles

    def length_arguments(self, model: str, max_tokens: int) -> dict[str, Any]:
        """Returns the arguments that limit the length of the answer.

        OpenAI's reasoning models refuse `max_tokens`; Ollama, llama.cpp and Mistral know no other.
        """
        if model in self._with_max_tokens:
            return {"extra_body": {"max_tokens": max_tokens}}
        return {"max_tokens": max_tokens}  # which langchain-openai sends as `max_completion_tokens`

    def reasoning_arguments(self, model: str) -> dict[str, Any]:
        """Returns the argument that turns reasoning off, for models that are known to take it or that asked for it."""
        by_name = _OPTIONAL_REASONING.match(model.rpartition("/")[2]) is not None
        return {"reasoning_effort": "none"} if self._without_reasoning.get(model, by_name) else {}

    def first_mode(self, model: str, shape: OutputFormat[Any]) -> int:
        names = [mode.name for mode in shape.modes]
        first = names.index("function_calling") if self._ignores_schemas and "function_calling" in names else 0
        return self._first_mode.get((model, shape.name), first)

    def accept_mode(self, model: str, shape: OutputFormat[Any], index: int) -> None:
        """Remembers that the endpoint accepts requests in this mode."""
        self._first_mode[(model, shape.name)] = index

    def confirm_mode(self, model: str, shape: OutputFormat[Any], index: int) -> None:
        """Remembers that an answer in this mode could be read."""
        self.accept_mode(model, shape, index)
        self._confirmed_modes.add((model, shape.name, index))

    def record_misfit(self, model: str, shape: OutputFormat[Any], index: int) -> None:
        """Begins with the next mode from now on if no answer in this one could be read: the endpoint may ignore it."""
        if (model, shape.name, index) not in self._confirmed_modes:
            self.accept_mode(model, shape, min(index + 1, len(shape.modes) - 1))

    def record_overrun(self, model: str) -> None:
        """Uses `max_tokens` from now on: an answer was too long, so the endpoint ignores the newer parameter."""
        self._with_max_tokens.add(model)

    def learn_from(self, model: str, failure: ModelFailure) -> bool:
        """Adapts to a failed call. Returns whether the same request may succeed now."""
        if failure.remedy is Remedy.DROP_MODEL:
            self._drop_reasons[model] = failure.reason
        elif failure.refused_parameter == "temperature" and self.accepts_temperature(model):
            self._without_temperature.add(model)
            return True
        elif failure.refused_parameter == "max_completion_tokens" and model not in self._with_max_tokens:
            self._with_max_tokens.add(model)
            return True
        elif failure.refused_parameter == "messages" and not self.needs_alternating_roles(model):
            self._with_alternating_roles.add(model)
            return True
        elif failure.refused_parameter == "reasoning_effort" and model not in self._without_reasoning:
            # Either it was sent to a model that cannot do without, or it was missing where tools need it.
            self._without_reasoning[model] = not self.reasoning_arguments(model)
            return True
        return False
