"""Builds runs of an example for tests."""

from datetime import UTC, datetime
from typing import Any

from triage.reproduce.evidence import Execution, Expected, Failure, Place, Selection, Target
from triage.reproduce.example.example import Example, Project

NOW = datetime(2022, 3, 1, tzinfo=UTC)
CODE = "import shop\n\nshop.total([])\n"
IN_EXAMPLE = Place(path="<example>", line=2, function="<module>")
IN_SHOP = Place(path="shop/cart.py", line=12, function="total")
IN_NUMPY = Place(path="<other>", line=3, function="add")


def failure(text: str = "ValueError: no items", *frames: Place, **more: Any) -> Failure:
    kind, _, message = text.partition(": ")
    return Failure(type=kind, message=message, causes=[kind], frames=[IN_EXAMPLE, *(frames or (IN_SHOP,))], **more)


def failed(text: str = "ValueError: no items", *frames: Place, **more: Any) -> Execution:
    fields = {"executed": [IN_SHOP], "runtime": "Python 3.9.18"} | more
    return Execution(outcome="failed", failures=[failure(text, *frames)], **fields)


def passed(output: str = "", **more: Any) -> Execution:
    return Execution(outcome="passed", output=output, **{"executed": [IN_SHOP], "runtime": "Python 3.9.18"} | more)


NOT_INSTALLED = Execution(outcome="could-not-install", reason="no wheel")


def target(on: str, commit: str = "") -> Target:
    return Target(on=on, version="" if commit else on, commit=commit, time=NOW, pythons=["3.9"])


MAIN = target("main", "1a2b3c4" + "0" * 33)


def selection(expected: Expected | None = None, **changes: Any) -> Selection:
    fields: dict[str, Any] = {
        "project": Project(language="python", package="shop", modules=["shop"]),
        "example": Example(language="python", code=CODE, changed=["Printed 1 bare expression."]),
        "expected": expected or Expected(errors=[failure()]),
        "targets": [target("2.4.1"), MAIN],
    }
    return Selection(**fields | changes)
