"""Approvals that would bring commits into a pull request which nobody was shown, or that name a closed one."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from trust.approval_case import REF, Case, approve
from trust.approval_world import FILE, FILES, TEST, ApprovalWorld

EVIL: dict[str, str | bytes] = {"shop/evil.py": "import os\n"}
HIDDEN: dict[str, dict[str, str | bytes]] = {
    "another test": {TEST: "import subprocess\n\nsubprocess.run(['sh', '-c', 'id'])\n"},
    "a file": EVIL,
    "a workflow": {".github/workflows/evil.yml": "on: push\n"},
    "a change of the source": {FILE: "import os\n"},
    "a folder in place of a file": {"README.md/x": "x\n"},
}
"""Files of a first commit that the last one takes back."""


def make_unseen_bases() -> Iterator[Case]:
    """The patch stands on a commit that is not on the default branch: its diff does not show that commit's files."""

    def stand_on(branch: str, parents: int, world: ApprovalWorld) -> None:
        for _ in range(parents):
            world.base = world.git.commit({**FILES, **EVIL}, world.base)
        if branch:
            world.git.set_ref(branch, world.base)
        world.store_patch(REF, more=EVIL)
        approve(world)

    for branch in ("refs/heads/feature", "refs/heads/triage/6-other", "refs/tags/main", "refs/pull/3/head", ""):
        for parents in (1, 2):
            name = f"{branch or 'no ref'}, {parents}"
            yield Case("unseen base", name, partial(stand_on, branch, parents))


def make_unseen_commits() -> Iterator[Case]:
    def hide(files: dict[str, Any], world: ApprovalWorld) -> None:
        world.store_patch(REF, hidden=files)
        approve(world)

    for name, files in HIDDEN.items():
        yield Case("unseen commit", name, partial(hide, files))


MESSAGES = (
    "[#7] feat!: Round totals",
    "[#7] Round totals\n\nBREAKING CHANGE: drops everything",
    "[#7] Round totals\n\nIt rounds.\nRelease-As: 9.0.0",
    "[#7] Round totals\n\nskip-checks: true",
    "[#7] Round totals\n\nIt rounds.\n\nCo-authored-by: Eve <eve@evil.example>",
    "[#7] Round totals\n\nFixes #1, closes octo/other#2",
    "[#7] Round totals [skip ci]",
    "[#7] fixup! Round totals",
)


def make_unseen_messages() -> Iterator[Case]:
    """Somebody who may push lets the ref lead to the same files with a message that starts something."""

    def reword(written: str, world: ApprovalWorld) -> None:
        world.store_patch(REF, written=written)
        approve(world)

    for written in MESSAGES:
        yield Case("unseen message", repr(written), partial(reword, written))


def make_planted_times() -> Iterator[Case]:
    """A commit whose time is still to come would live longer than seven days."""

    def post_date(hours: int, world: ApprovalWorld) -> None:
        world.api.seconds += hours * 3600
        world.store_patch(REF)
        world.api.seconds -= hours * 3600
        approve(world)

    for hours in (1, 24, 7 * 24 - 1):
        yield Case("planted time", f"{hours} hours ahead", partial(post_date, hours))


def make_closed_pull_requests() -> Iterator[Case]:
    """An earlier pull request was closed and its branch deleted. The same patch is made and approved again."""

    def close(times: int, world: ApprovalWorld) -> None:
        for _ in range(times):
            approve(world)
            world.pulls.pulls[-1]["state"] = "closed"
            del world.git.refs[f"refs/heads/{world.pulls.pulls[-1]['head']['ref']}"]
            world.store_patch(REF)
            world.before = world.read_effects()
        approve(world)

    for times in (1, 2):
        yield Case("closed pull request", f"{times}", partial(close, times), "once")
