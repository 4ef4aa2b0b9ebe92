"""Is the endpoint there, and does it take the key? Costs nothing: only the list of models is asked for."""

import openai

from triage.adapters.llm.endpoint import Endpoint
from triage.adapters.llm.model_errors import classify_error
from triage.errors import ModelUnavailable

PROBE_SECONDS = 10.0


def check_endpoint(endpoint: Endpoint, models: list[str]) -> str:
    """What the endpoint says of itself.

    Raises:
        ModelUnavailable: It cannot be reached, or refuses the key.
    """
    try:
        known = {model.id for model in endpoint.models_client.list(timeout=PROBE_SECONDS)}
    except openai.NotFoundError:
        return "reachable; it does not list its models"
    except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
        raise ModelUnavailable(f"cannot be used: {classify_error(error).reason}") from None
    absent = [model for model in models if model not in known]
    return f"reachable, but does not list {', '.join(absent)}" if absent else "reachable, and knows the models"
