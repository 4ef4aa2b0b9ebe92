"""Approvals while GitHub fails, while a run is killed, and while something else happens at the same time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from testing.servers.github_api import ApiFault, ApiRequest
from trust.approval_case import REF, Case, Expected, answer, approve, approve_as, count_requests
from trust.approval_world import CHANGED, FILE, FILES, HARMLESS, MAINTAINER, NUMBER, ApprovalWorld

ROLES: list[Any] = [
    {"role_name": "triage", "permission": "read"},
    {"role_name": "read", "permission": "read"},
    {"role_name": "none", "permission": "none"},
    {"role_name": "read", "permission": "admin"},
    {"role_name": "triage", "permission": "write"},
    {"role_name": "custom", "permission": "read"},
    {"role_name": "WRITE", "permission": "none"},
    {"role_name": "write ", "permission": "read"},
    {"role_name": "", "permission": ""},
    {"role_name": None, "permission": None},
    {"role_name": ["write"], "permission": "write"},
    {"user": {"role_name": "admin", "permissions": {"admin": True}}},
    {},
    [],
    "write",
    None,
    b"<html>write",
    b'{"role_name": "write"',
]
STATUSES = (0, 301, 304, 401, 403, 404, 410, 422, 429, 500, 502, 503)


def make_roles() -> Iterator[Case]:
    asked = f"GET .*/collaborators/{MAINTAINER}/permission"

    def fail(fault: ApiFault, world: ApprovalWorld) -> None:
        world.api.faults = [fault]
        approve(world)

    for place, role in enumerate(ROLES):
        yield Case("role", f"answer {place}", partial(fail, ApiFault(asked, 200, role)))
    for status in STATUSES:
        yield Case("role", f"status {status}", partial(fail, ApiFault(asked, status, {"role_name": "admin"})))

    def revoke(line: str, world: ApprovalWorld) -> None:
        def take_away(request: ApiRequest) -> None:
            if request.line.endswith(line):
                world.api.roles.clear()

        world.api.on_request = take_away
        approve(world)

    for line in (f"/issues/{NUMBER}", f"/issues/{NUMBER}/comments", "/permission"):
        yield Case("role", f"revoked while {line} is read", partial(revoke, line))


ANSWERS: list[tuple[int, Any]] = [
    (0, None),
    (401, {"message": "Bad credentials"}),
    (403, {"message": "Resource not accessible by integration"}),
    (404, {"message": "Not Found"}),
    (422, {"message": "Validation Failed"}),
    (429, {"message": "Slow down"}),
    (500, b""),
    (200, b"<html>"),
    (200, b"[]"),
    (200, b"{}"),
    (200, b"null"),
]


def make_faults() -> Iterator[Case]:
    """GitHub fails at one question, however often it is asked."""

    def fail(number: int, answered: tuple[int, Any], world: ApprovalWorld) -> None:
        lines: list[str] = []

        def answer_badly(request: ApiRequest) -> ApiFault | None:
            lines.append(request.line)
            is_question = request.line.startswith("GET") or request.line.endswith("/graphql")
            is_chosen = len(lines) >= number and request.line == lines[number - 1]
            return ApiFault("", *answered) if is_chosen and is_question else None

        world.api.on_request = answer_badly
        approve(world)

    for number in range(1, count_requests() + 1):
        for answered in ANSWERS:
            name = f"request {number}: {answered[0]} {answered[1]!r}"
            yield Case("fault", name, partial(fail, number, answered), "part")


@dataclass
class _Counter:
    """Counts the requests of a run, and does something at one of them."""

    number: int
    happen: Callable[[int], ApiFault | None]
    """Is called with the number of each request from this one on."""
    count: int = 0

    def __call__(self, _: ApiRequest) -> ApiFault | None:
        self.count += 1
        return self.happen(self.count) if self.count >= self.number else None


def _ignore(_: ApiRequest) -> None:
    """Nothing happens at a request."""


def make_kills() -> Iterator[Case]:
    """A run is killed at a request, and the job is run again, twice."""

    def kill(last: int, is_handled: bool, by: str, world: ApprovalWorld) -> None:
        # What comes after the kill are requests that a dead process does not send.
        world.api.on_request = _Counter(last, lambda count: ApiFault("", stored=is_handled and count == last))
        said = approve(world)
        world.api.on_request = _ignore
        if by != MAINTAINER:
            approve_as(by, world)
        answer(world, said)
        answer(world, said)

    for last in range(1, count_requests() + 1):
        for is_handled in (False, True):
            for by in (MAINTAINER, "octocat"):
                name = f"{'after' if is_handled else 'before'} request {last}, again by {by}"
                yield Case("kill", name, partial(kill, last, is_handled, by), "once")


def _forge_comment(world: ApprovalWorld) -> None:
    world.comment["body"] = world.comment["body"].replace(CHANGED, HARMLESS)
    world.api.record_edit(world.comment, "mallory")


def _move_ref(world: ApprovalWorld) -> None:
    if REF in world.git.refs:
        world.git.set_ref(REF, world.git.commit({**FILES, FILE: "evil\n"}, world.base))


def make_races() -> Iterator[Case]:
    """While one run asks, another one approves the same, or what the approval stands on changes."""

    def race(number: int, change: Callable[[ApprovalWorld], object], world: ApprovalWorld) -> None:
        def happen(_: int) -> None:
            world.api.on_request = _ignore
            change(world)

        world.api.on_request = _Counter(number, happen)
        approve(world)

    changes: dict[str, tuple[Callable[[ApprovalWorld], object], Expected]] = {
        "another run": (lambda world: approve_as("octocat", world), "once"),
        "the comment is edited": (_forge_comment, "part"),
        "the ref is moved": (_move_ref, "part"),
        "the role is revoked": (lambda world: world.api.roles.clear(), "part"),
        "the comment is deleted": (lambda world: world.api.comments.remove(world.comment), "part"),
    }
    for number in range(1, count_requests() + 1):
        for name, (change, expected) in changes.items():
            yield Case("race", f"{name} at request {number}", partial(race, number, change), expected)
