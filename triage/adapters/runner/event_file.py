"""The event's payload, as the runner leaves it in a file."""

import json
from pathlib import Path
from typing import Any

from triage.errors import BadInput

MAX_EVENT_BYTES = 26_214_400
"""GitHub sends no payload above 25 MB (docs, webhook events and payloads)."""


def read_event(path: Path | None) -> dict[str, Any]:
    """The payload's JSON object.

    Raises:
        BadInput: There is no such file, it is too large, or it holds something else.
    """
    if path is None:
        raise BadInput("GITHUB_EVENT_PATH is not set: this runs inside GitHub Actions; use the command line elsewhere.")
    try:
        if not path.is_file():  # a pipe would wait for a writer that never comes
            raise FileNotFoundError
        with path.open("rb") as file:
            content = file.read(MAX_EVENT_BYTES + 1)
    except (OSError, ValueError):  # a null byte in a path is a ValueError
        raise BadInput(
            "The event payload cannot be read: the file that GITHUB_EVENT_PATH names does not open."
        ) from None
    if len(content) > MAX_EVENT_BYTES:
        raise BadInput("The event payload cannot be read: it is larger than 25 MB.")
    try:
        event = json.loads(content)
    except (ValueError, RecursionError):
        raise BadInput("The event payload cannot be read: it is no JSON.") from None
    if not isinstance(event, dict):
        raise BadInput("The event payload cannot be read: it is no JSON object.")
    return event
