"""Approvals of what is not the same any more: other files, an edited issue, an old or a decided proposal."""

import random
from collections.abc import Iterator
from datetime import timedelta
from functools import partial

from testing.servers.github_api import START
from trust.approval_case import REPETITIONS, Case, answer, approve
from trust.approval_world import FILE, FILES, FIXED, NUMBER, TEST, ApprovalWorld

DAY = timedelta(days=1)


def make_bases() -> Iterator[Case]:
    """The default branch is another one when a patch is approved."""
    without = {path: text for path, text in FILES.items() if path != FILE}
    changed: dict[str, dict[str, str | bytes]] = {
        "changed": {**FILES, FILE: "class Basket:\n    pass\n"},
        "changed in the same way": {**FILES, FILE: FIXED},
        "emptied": {**FILES, FILE: ""},
        "deleted": without,
        "renamed": {**without, "shop/cart.py": FILES[FILE]},
        "a folder": {**without, f"{FILE}/__init__.py": ""},
        "behind a file": {"README.md": "Shop\n", "shop": "a file\n"},
        "beside the same test": {**FILES, TEST: "def test_other():\n    pass\n"},
    }

    def move(files: dict[str, str | bytes], seed: int, world: ApprovalWorld) -> None:
        chance = random.Random(seed)
        noise: dict[str, str | bytes] = {f"other/{chance.randrange(99)}.txt": f"{chance.random()}\n"}
        parents = [world.base] if seed % 2 else []  # without a parent, it was rewritten
        modes = "100755" if seed % 3 == 0 else "100644"
        world.git.set_ref("refs/heads/main", world.git.commit({**files, **noise}, *parents, modes=modes))
        approve(world)

    for name, files in changed.items():
        for seed in range(REPETITIONS):
            yield Case("base", f"{name}, {seed}", partial(move, files, seed))
    for seed in (1, 2, 4, 5):
        is_there = seed % 2 == 1  # whoever rewrote the branch took the base away: a pull request would bring it back
        case = partial(move, dict(FILES), seed)
        yield Case("base", f"other files, {seed}", case, "once" if is_there else "nothing")


def make_issues() -> Iterator[Case]:
    def edit(part: str, seed: int, world: ApprovalWorld) -> None:
        issue, chance = world.api.issues[NUMBER], random.Random(seed)
        at = chance.randrange(len(issue[part]))
        issue[part] = f"{issue[part][:at]}{chance.choice('xyz #@é')}{chance.choice('abc')}{issue[part][at:]}"
        approve(world)

    for part in ("title", "body"):
        for seed in range(REPETITIONS):
            yield Case("issue", f"{part}, {seed}", partial(edit, part, seed))


def make_times() -> Iterator[Case]:
    def wait(passed: timedelta, world: ApprovalWorld) -> None:
        world.api.date_header = START + passed
        approve(world)

    for seed in range(5 * REPETITIONS):
        passed = 7 * DAY + timedelta(seconds=60 + random.Random(seed).expovariate(1 / 40_000))
        yield Case("time", f"after {passed}", partial(wait, passed))
        yield Case("time", f"before {passed}", partial(wait, -passed))
    for passed in (timedelta(0), DAY, 7 * DAY - timedelta(minutes=2)):
        yield Case("time", f"after {passed}", partial(wait, passed), "once")


def make_replays() -> Iterator[Case]:
    """What was done is undone by a person, and the command comes again."""

    def replay(undo: bool, is_new: bool, world: ApprovalWorld) -> None:
        named = world.patch_id
        said = approve(world)
        if undo:
            for name in [name for name in world.git.refs if name.startswith("refs/heads/triage/")]:
                del world.git.refs[name]
            world.before = world.read_effects()
        for _ in range(2):
            again = world.say(f"/triage approve {named}") if is_new else said
            world.before = world.read_effects() if undo else world.before
            answer(world, again)

    for is_new in (False, True):
        what = "a new comment" if is_new else "the same comment"
        yield Case("replay", what, partial(replay, False, is_new), "once")
        yield Case("replay", f"{what}, undone", partial(replay, True, is_new))

    def reject(world: ApprovalWorld) -> None:
        named = world.patch_id
        answer(world, world.say(f"/triage reject {named}"))
        approve(world, named)

    yield Case("replay", "rejected before", reject)
