"""What the models at an endpoint turned out to take. Learned from refusals and answers, kept for the run."""

from typing import Any, Literal

from triage.adapters.llm.model_errors import ModelFailure, Remedy
from triage.adapters.llm.output_formats import OutputFormat

LengthParameter = Literal["max_completion_tokens", "max_tokens"]


class EndpointFeatures:
    """Memory of one endpoint, by model. Starts with the newest of OpenAI's ways."""

    def __init__(self) -> None:
        self._drop_reasons: dict[str, str] = {}
        self._first_mode: dict[tuple[str, str], int] = {}
        self._without_temperature: set[str] = set()
        self._length_parameters: dict[str, LengthParameter] = {}

    def drop_reason(self, model: str) -> str:
        """Why the model is not asked any more; empty while it is."""
        return self._drop_reasons.get(model, "")

    def accepts_temperature(self, model: str) -> bool:
        """Whether the model takes it."""
        return model not in self._without_temperature

    def length_arguments(self, model: str, max_tokens: int) -> dict[str, Any]:
        """Arguments that bound the answer's length.

        OpenAI's reasoning models refuse `max_tokens`; Ollama, llama.cpp and Mistral know no other.
        """
        if self._length_parameters.get(model) == "max_tokens":
            return {"extra_body": {"max_tokens": max_tokens}}
        return {"max_tokens": max_tokens}  # which langchain-openai sends as `max_completion_tokens`

    def first_mode(self, model: str, shape: OutputFormat[Any]) -> int:
        """Index of the mode to begin with."""
        return self._first_mode.get((model, shape.name), 0)

    def confirm_mode(self, model: str, shape: OutputFormat[Any], index: int) -> None:
        """The endpoint took the request, whatever the answer holds."""
        self._first_mode[(model, shape.name)] = index

    def skip_mode(self, model: str, shape: OutputFormat[Any], index: int) -> None:
        """It took the request and answered something else: the next call begins with the next mode."""
        self.confirm_mode(model, shape, min(index + 1, len(shape.modes) - 1))

    def record_overrun(self, model: str) -> None:
        """An answer was longer than its bound: the endpoint does not know the bound by this name."""
        self._length_parameters.setdefault(model, "max_tokens")

    def learn_from(self, model: str, fault: ModelFailure) -> bool:
        """Whether the same request may succeed after what this fault taught."""
        if fault.remedy is Remedy.DROP_MODEL:
            self._drop_reasons[model] = fault.reason
        elif fault.refused_parameter == "temperature" and self.accepts_temperature(model):
            self._without_temperature.add(model)
            return True
        elif fault.refused_parameter in ("max_completion_tokens", "max_tokens"):
            return self._switch_length_parameter(model, fault.refused_parameter)
        return False

    def _switch_length_parameter(self, model: str, refused: str) -> bool:
        """The other name, tried once each way."""
        known = self._length_parameters.get(model)
        if refused == "max_completion_tokens" and known is None:
            self._length_parameters[model] = "max_tokens"
        elif refused == "max_tokens" and known == "max_tokens":
            self._length_parameters[model] = "max_completion_tokens"
        else:
            return False
        return True
