"""GitHub's own example payloads (see `payloads/SOURCE.md`), and ways to change them."""

import copy
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "payloads"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


def payload(name: str, **changes: Any) -> dict[str, Any]:
    """An example, with values set at dotted paths (`issue__user__type="Bot"`)."""
    found: dict[str, Any] = copy.deepcopy(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = found
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    return found


def event_of(name: str) -> str:
    """The event that an example belongs to."""
    return name.split(".", maxsplit=1)[0]


def comment(body: str | None, by: str = "Codertocat", **changes: Any) -> dict[str, Any]:
    """A new comment; the issue is Codertocat's."""
    return payload("issue_comment.created", comment__body=body, comment__user__login=by, sender__login=by, **changes)
