"""Which modes and parameters the models of an endpoint accept, learned from its responses during a run."""

from typing import Any

from triage.adapters.llm.model_errors import ModelFailure, Remedy
from triage.adapters.llm.output_formats import OutputFormat


class EndpointFeatures:
    """Features of one endpoint, by model. Starts with the newest modes and parameters of OpenAI."""

    def __init__(self) -> None:
        self._drop_reasons: dict[str, str] = {}
        self._first_mode: dict[tuple[str, str], int] = {}
        self._confirmed_modes: set[tuple[str, str, int]] = set()
        self._without_temperature: set[str] = set()
        self._with_max_tokens: set[str] = set()

    def drop_reason(self, model: str) -> str:
        """Returns why the model is not asked any more; empty while it is."""
        return self._drop_reasons.get(model, "")

    def accepts_temperature(self, model: str) -> bool:
        return model not in self._without_temperature

    def length_arguments(self, model: str, max_tokens: int) -> dict[str, Any]:
        """Returns the arguments that limit the length of the answer.

        OpenAI's reasoning models refuse `max_tokens`; Ollama, llama.cpp and Mistral know no other.
        """
        if model in self._with_max_tokens:
            return {"extra_body": {"max_tokens": max_tokens}}
        return {"max_tokens": max_tokens}  # which langchain-openai sends as `max_completion_tokens`

    def first_mode(self, model: str, shape: OutputFormat[Any]) -> int:
        return self._first_mode.get((model, shape.name), 0)

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
        return False
