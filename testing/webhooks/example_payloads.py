"""GitHub's own example payloads (see `payloads/SOURCE.md`), and ways to change them."""

import copy
import json
import lzma
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "payloads"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
MAY_START = frozenset({"issues", "issue_comment", "workflow_dispatch", "repository_dispatch"})


class Example(NamedTuple):
    """A whole payload."""

    event: str
    servers: tuple[str, ...]
    """Servers that send it, such as `api.github.com` or `ghes-35`."""
    payload: dict[str, Any]


def load_examples() -> list[Example]:
    """Returns every example once. Each call returns new objects."""
    return [_example(line) for line in _archive()]


@cache
def _archive() -> list[bytes]:
    return lzma.decompress((FOLDER / "examples.jsonl.xz").read_bytes()).splitlines()


@cache
def _starting() -> list[bytes]:
    return [line for line in _archive() if _example(line).event in MAY_START]


def _example(line: bytes) -> Example:
    row = json.loads(line)
    return Example(row["event"], tuple(row["servers"]), row["payload"])


def load_payload(name: str, **changes: Any) -> dict[str, Any]:
    """Returns an example with values set by path, such as `issue__user__type="Bot"`."""
    found: dict[str, Any] = copy.deepcopy(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = found
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    return found


def event_of(name: str) -> str:
    """Returns the event of an example."""
    return name.split(".", maxsplit=1)[0]


def comment(body: str | None, by: str = "Codertocat", **changes: Any) -> dict[str, Any]:
    """Returns the payload of a new comment on an issue by Codertocat."""
    return load_payload(
        "issue_comment.created", comment__body=body, comment__user__login=by, sender__login=by, **changes
    )


def _deep(depth: int) -> Any:
    value: Any = "deep"
    for level in range(depth):
        value = [value] if level % 2 else {"x": value}
    return value


ODD_VALUES: dict[str, Callable[[Any], Any]] = {
    "null": lambda _: None,
    "a list for it": lambda value: [value],
    "an object for it": lambda value: {"value": value},
    "text for it": str,
    "an empty text": lambda _: "",
    "an empty list": lambda _: [],
    "an empty object": lambda _: {},
    "true": lambda _: True,
    "false": lambda _: False,
    "zero": lambda _: 0,
    "one": lambda _: 1,
    "a negative number": lambda _: -1,
    "a fraction": lambda _: 1.5,
    "a whole number with a fraction": lambda _: 1.0,
    "2^63": lambda _: 2**63,
    "400 digits": lambda _: 10**400,
    "a number too large for a float": lambda _: float("inf"),
    "not a number": lambda _: float("nan"),
    "a number as text": lambda _: "1",
    "a number as other digits": lambda _: "١",
    "a number as an expression": lambda _: "1;id",
    "100,000 letters": lambda _: "a" * 100_000,
    "20,000 elements": lambda _: [0] * 20_000,
    "5,000 keys": lambda _: {str(n): n for n in range(5_000)},
    "400 levels": lambda _: _deep(400),
    "a lone surrogate": lambda _: "\ud800",
    "a null byte": lambda _: "a\0b",
    "a workflow command": lambda _: "\n::error::x\r##[error]y\x1b[31m",
    "a key of the language": lambda _: {"__class__": 1, "__proto__": 1, "model_config": 1},
}


def mutate_payload(seed: int) -> tuple[str, Any]:
    """An event and an example of it with one to five odd places; the same for the same seed.

    Every second one is of an event that may start something.
    """
    chance = random.Random(seed)
    event, _, changed = _example(chance.choice(_starting() if seed % 2 else _archive()))
    for _ in range(chance.randint(1, 5)):
        _change(changed, chance)
    return event, changed


def mutate_event_file(seed: int) -> tuple[str, bytes]:
    """`mutated`, as the file that the runner would leave; in some a key stands twice, with another value at last."""
    event, changed = mutate_payload(seed)
    chance = random.Random(~seed)
    text = json.dumps(changed, ensure_ascii=bool(seed % 3))
    if seed % 5 == 0:
        key = chance.choice(["action", "issue", "comment", "sender", "issue_number"])
        value = json.dumps(chance.choice(list(ODD_VALUES.values()))("opened"))
        text = f'{text[:-1]}{", " if changed else ""}"{key}": {value}}}'
    return event, text.encode("utf-8", "surrogatepass")


def _change(root: dict[str, Any], chance: random.Random) -> None:
    """Walk down from the root a few steps, mostly where the action looks, and change what is there."""
    place: Any = root
    looked_at = ["action", "issue", "comment", "sender", "label", "changes", "number", "user", "login", "type", "body"]
    while isinstance(place, dict) and place:
        known = [key for key in looked_at if key in place]
        key = chance.choice(known) if known and chance.random() < 0.7 else chance.choice(list(place))
        if isinstance(place[key], dict) and place[key] and chance.random() < 0.7:
            place = place[key]
            continue
        fate = chance.choice(["delete", "rename", *ODD_VALUES])
        value = place.pop(key)
        if fate == "rename":
            place[key.swapcase()] = value
        elif fate != "delete":
            place[key] = ODD_VALUES[fate](value)
        return
