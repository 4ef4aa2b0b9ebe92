"""Reads the event's payload from the runner's file."""

import json
from pathlib import Path
from typing import Any

from triage.base.errors import BadInput


def read_event(path: Path | None) -> dict[str, Any]:
    """Returns the payload, a JSON object.

    Raises:
        BadInput: The file is missing, or not a JSON object.
    """
    if path is None:
        raise BadInput(
            "GITHUB_EVENT_PATH is not set. This command runs in GitHub Actions; use the command line elsewhere."
        )
    try:
        if not path.is_file():  # opening a pipe would block
            raise FileNotFoundError
        content = path.read_bytes()
    except (OSError, ValueError):  # a null byte in a path is a ValueError
        raise BadInput("The event payload cannot be read: the file in GITHUB_EVENT_PATH does not open.") from None
    try:
        event = json.loads(content)
    except (ValueError, RecursionError):
        raise BadInput("The event payload cannot be read: it is not JSON.") from None
    if not isinstance(event, dict):
        raise BadInput("The event payload cannot be read: it is not a JSON object.")
    return event
