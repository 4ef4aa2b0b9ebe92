"""One attempt to have something changed on GitHub, and what every attempt does: give a command, and run the action."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from trust.approval_world import NUMBER, ApprovalWorld, serve_world

Expected = Literal["nothing", "once", "part"]
"""What is changed at the end: nothing, exactly what was approved, or at most a part of it."""
REF = f"refs/triage/proposals/{NUMBER}/1"
"""Where the patch is that waits."""
REPETITIONS = 15
"""Of cases in which something is left to chance."""


@dataclass(frozen=True)
class Case:
    kind: str
    name: str
    attempt: Callable[[ApprovalWorld], object]
    expected: Expected = "nothing"


def answer(world: ApprovalWorld, said: dict[str, Any], **changes: Any) -> None:
    """Runs the job that answers a comment."""
    if world.before is None:
        world.before = world.read_effects()
    world.run(world.write_event(said, **changes), task="fix-apply")


def approve(world: ApprovalWorld, named: str | None = None) -> dict[str, Any]:
    """Approves the true id or another one, and runs the job. Returns the comment with the command."""
    said = world.say(f"/triage approve {world.patch_id if named is None else named}")
    answer(world, said)
    return said


@functools.cache
def count_requests() -> int:
    """Returns the number of requests of a run that carries out an approval."""
    with serve_world() as world:
        world.store_patch(REF)
        approve(world)
        return len(world.api.requests)


def approve_as(by: str, world: ApprovalWorld) -> None:
    """The same by another maintainer."""
    world.api.roles[by] = {"role_name": "maintain", "permission": "write"}
    answer(world, world.say(f"/triage approve {world.patch_id}", by))
