"""Reads the event's payload from the runner's file."""

import json
from pathlib import Path
from typing import Any

from triage.errors import BadInput

MAX_EVENT_BYTES = 26_214_400
"""GitHub sends no payload above 25 MB (docs, webhook events and payloads)."""


def read_event(path: Path | None) -> dict[str, Any]:
    """Returns the payload, a JSON object.

    Raises:
        BadInput: The file is missing, too large, or not a JSON object.
    """
    if path is None:
        raise BadInput(
            "GITHUB_EVENT_PATH is not set. This command runs in GitHub Actions; use the command line elsewhere."
        )
    try:
        if not path.is_file():  # opening a pipe would block
            raise FileNotFoundError
        with path.open("rb") as file:
            content = file.read(MAX_EVENT_BYTES + 1)
    except (OSError, ValueError):  # a null byte in a path is a ValueError
        raise BadInput("The event payload cannot be read: the file in GITHUB_EVENT_PATH does not open.") from None
    if len(content) > MAX_EVENT_BYTES:
        raise BadInput("The event payload cannot be read: it is larger than 25 MB.")
    try:
        event = json.loads(content)
    except (ValueError, RecursionError):
        raise BadInput("The event payload cannot be read: it is not JSON.") from None
    if not isinstance(event, dict):
        raise BadInput("The event payload cannot be read: it is not a JSON object.")
    return event
