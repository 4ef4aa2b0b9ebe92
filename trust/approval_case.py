"""One attempt to have something changed on GitHub, and what every attempt does: give a command, and run the action."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from trust.approval_world import NUMBER, ApprovalWorld, serve_world

Command = Literal["apply", "approve"]
Expected = Literal["nothing", "once", "part"]
"""What is changed at the end: nothing, exactly what was approved, or at most a part of it."""
COMMANDS: tuple[Command, ...] = ("apply", "approve")
REF = f"refs/triage/proposals/{NUMBER}/1"
"""Where the patch is that waits."""
REPETITIONS = 15
"""Of cases in which something is left to chance."""


@dataclass(frozen=True)
class Case:
    kind: str
    name: str
    command: Command
    attempt: Callable[[ApprovalWorld], object]
    expected: Expected = "nothing"


def get_id(world: ApprovalWorld, command: Command) -> str:
    """Returns the true id of what waits for the command."""
    return world.suggestions_id if command == "apply" else world.patch_id


def answer(world: ApprovalWorld, command: Command, said: dict[str, Any], **changes: Any) -> None:
    """Runs the job that answers a comment."""
    if world.before is None:
        world.before = world.read_effects()
    world.run(world.write_event(said, **changes), fix="apply" if command == "approve" else "off")


def approve(world: ApprovalWorld, command: Command, named: str | None = None) -> dict[str, Any]:
    """Gives a command with the true id or another one, and runs the job. Returns the comment with the command."""
    said = world.say(f"/triage {command} {get_id(world, command) if named is None else named}")
    answer(world, command, said)
    return said


@functools.cache
def count_requests(command: Command) -> int:
    """Returns the number of requests of a run that carries out a command."""
    with serve_world() as world:
        world.store_patch(REF)
        approve(world, command)
        return len(world.api.requests)


def approve_as(by: str, world: ApprovalWorld, command: Command) -> None:
    """The same by another maintainer."""
    world.api.roles[by] = {"role_name": "maintain", "permission": "write"}
    answer(world, command, world.say(f"/triage {command} {get_id(world, command)}", by))
