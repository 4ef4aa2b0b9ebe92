"""Checks that a model endpoint can be reached and accepts the key, by its list of models, which costs nothing."""

import openai

from triage.adapters.llm.endpoint import Endpoint
from triage.adapters.llm.model_errors import classify_error
from triage.errors import ModelUnavailable

TIMEOUT_SECONDS = 10.0


def check_endpoint(endpoint: Endpoint, models: list[str]) -> str:
    """Returns how far the endpoint and these models can be used, in a few words.

    Raises:
        ModelUnavailable: The endpoint cannot be reached, or refuses the key.
    """
    try:
        listed = {model.id for model in endpoint.sdk_client.models.list(timeout=TIMEOUT_SECONDS)}
    except openai.NotFoundError:
        return "reachable; it does not list its models"
    except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
        raise ModelUnavailable(f"cannot be used: {classify_error(error).reason}") from None
    missing = [model for model in models if model not in listed]
    return f"reachable, but does not list {', '.join(missing)}" if missing else "reachable, knows the models"
