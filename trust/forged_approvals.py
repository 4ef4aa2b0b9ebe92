"""Approvals that somebody forges: ids, places of the command, comments of ours, commands, and commits."""

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

from triage.say.comment import compose_comment, read_parts
from triage.say.hidden_state import PartName
from trust.approval_case import REF, REPETITIONS, Case, answer, approve
from trust.approval_world import BOT, CHANGED, FILES, HARMLESS, NUMBER, ApprovalWorld, read_comment_state, show_patch


def make_ids() -> Iterator[Case]:
    def flip(place: int, step: int, world: ApprovalWorld) -> None:
        true = world.patch_id
        digit = f"{(int(true[place], 16) + step) % 16:x}"
        approve(world, true[:place] + digit + true[place + 1 :])

    for place in range(12):
        for step in range(1, 16):
            yield Case("id", f"digit {place} + {step}", partial(flip, place, step))
    for name, form in ID_FORMS.items():
        yield Case("id", name, partial(_use_form, form))
    for number in range(REPETITIONS):
        named = f"{random.Random(number).getrandbits(48):012x}"
        yield Case("id", named, partial(approve, named=named))


ID_FORMS: dict[str, Callable[[str], str]] = {
    "none": lambda _: "",
    "one digit less": lambda true: true[:-1],
    "one digit more": lambda true: f"{true}0",
    "twice": lambda true: true + true,
    "with an invisible character": lambda true: f"{true[:6]}\u200b{true[6:]}",
    "in full-width digits": lambda true: true.translate({48 + n: 0xFF10 + n for n in range(10)}) + "\uff10",
    "of another case": lambda true: f"{true[:-1]}A",
    "with a hash": lambda true: f"#{true}",
    "as a link": lambda true: f"[{true}](https://evil.example)",
    "after another id": lambda true: f"000000000000 {true}",
    "with words": lambda true: f"{true} but only half of it",
    "with words below": lambda true: f"{true}\nOnly if the tests pass.",
    "all": lambda _: "*",
}


def _use_form(form: Callable[[str], str], world: ApprovalWorld) -> None:
    approve(world, form(world.patch_id))


def make_places() -> Iterator[Case]:
    """The command stands where it is no command, or the job is another one."""
    for line in ("> {}", "    {}", "`{}`", "Please {}", "{}ed", "\\{}", "<!-- {} -->", "- {}", "Thanks!\n{}", "/{}"):

        def say(line: str, world: ApprovalWorld) -> None:
            answer(world, world.say(line.format(f"/triage approve {world.patch_id}")))

        yield Case("place", line, partial(say, line))
    for task in ("fix-gate", "fix-report", "triage"):

        def run_other(task: str, world: ApprovalWorld) -> None:
            said = world.say(f"/triage approve {world.patch_id}")
            world.before = world.read_effects()
            world.run(world.write_event(said), task=task)

        yield Case("place", f"the job {task}", partial(run_other, task))

    def run_dry(world: ApprovalWorld) -> None:
        said = world.say(f"/triage approve {world.patch_id}")
        world.before = world.read_effects()
        world.run(world.write_event(said), task="fix-apply", dry_run="true")

    yield Case("place", "a dry run", run_dry)


MARK = "<!-- bug-triage-proposal -->"
"""What divided comments before 1.0."""


def _forge(body: str, **parts: str) -> str:
    """Returns the comment with other parts, which its hidden line vouches for."""
    return compose_comment(
        body, read_comment_state(body), {cast("PartName", name): text for name, text in parts.items()}, []
    )


def _quote(body: str, text: str) -> str:
    return _forge(body, report=f"```\n{text}\n```")


def _put_into_code(body: str) -> str:
    return _quote(_forge(body, proposal=""), read_parts(body)["proposal"])


SHOWN: dict[str, Callable[[str], str]] = {
    "another patch": lambda body: body.replace(CHANGED, HARMLESS),
    "no patch": lambda body: body.replace(read_parts(body)["proposal"], ""),
    "one character more": lambda body: body.replace("### Proposed", "#### Proposed"),
    "the patch lower": lambda body: body.replace("### Proposed", f"{MARK}\n{HARMLESS}\n\n### Proposed"),
    "the patch behind a mark that the report quotes": lambda body: _quote(
        body.replace(CHANGED, HARMLESS), f"{MARK}\n{HARMLESS}"
    ),
    "a mark that the report quotes, and another patch": lambda body: _quote(body, MARK).replace(CHANGED, HARMLESS),
    "the patch in the code of the report": _put_into_code,
    "no patch, and its mark in the code of the report": lambda body: _quote(_forge(body, proposal=""), MARK),
    "another commit in the hidden line": lambda body: show_patch(body, "1" * 40),
}
"""What our comment shows in place of the patch, though nobody else has edited it."""
SIGNED: dict[str, Callable[[str], str]] = {
    "the same text": str,
    "another patch, and its digest": lambda body: _forge(body, proposal=HARMLESS),
}
"""Comments that are right in themselves: only their history tells who wrote them."""


def _edit(world: ApprovalWorld, text: str, by: str | None, **fields: Any) -> None:
    world.comment["body"] = text
    world.api.record_edit(world.comment, by, **fields)


def _edit_and_bury(world: ApprovalWorld, forged: str) -> None:
    _edit(world, forged, "mallory")
    for _ in range(101):
        world.api.record_edit(world.comment, BOT)


def _edit_before_us(world: ApprovalWorld, forged: str) -> None:
    _edit(world, forged, "mallory")
    _edit(world, forged, BOT)


def _post_as_mallory(world: ApprovalWorld, forged: str) -> None:
    world.comment |= {"user": MALLORY, "body": forged}


MALLORY = {"login": "mallory", "id": 66, "type": "User"}
EDITS: dict[str, Callable[[ApprovalWorld, str], None]] = {
    "edited by mallory": partial(_edit, by="mallory"),
    "edited by mallory before us": _edit_before_us,
    "edited by a namesake": partial(_edit, by="github-actions"),
    "edited by another app": partial(_edit, by="other-app[bot]"),
    "edited by a deleted account": partial(_edit, by=None),
    "edited, and removed from the history": lambda world, forged: _edit(
        world, forged, by=BOT, deletedAt=world.api.timestamp
    ),
    "edited, and many edits since": _edit_and_bury,
    "posted by mallory": _post_as_mallory,
}


def make_comments() -> Iterator[Case]:
    def forge(edit: Callable[[ApprovalWorld, str], None], change: Callable[[str], str], world: ApprovalWorld) -> None:
        edit(world, change(world.comment["body"]))
        approve(world)

    for way, edit in EDITS.items():
        for name, change in (SIGNED | SHOWN).items():
            yield Case("comment", f"{way}, {name}", partial(forge, edit, change))


def make_shown() -> Iterator[Case]:
    def show(change: Callable[[str], str], world: ApprovalWorld) -> None:
        world.comment["body"] = change(world.comment["body"])
        approve(world)

    for name, change in SHOWN.items():
        yield Case("shown", name, partial(show, change))
    below = "below a mark that the report quotes"
    yield Case("shown", below, partial(show, lambda body: _quote(body, f"{MARK}\n{HARMLESS}\n{MARK}")), "once")


HELPER = {"login": "helper[bot]", "id": 67, "type": "Bot"}
CHANGED_COMMANDS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "edited": ({"body": "Never mind", "updated_at": "now"}, {}, {}),
    "edited into a command": ({"updated_at": "now"}, {"body": "Nice"}, {}),
    "edited and put back": ({"updated_at": "now"}, {}, {}),
    "edited, and the time is not shown": ({"body": "Never mind"}, {}, {}),
    "by somebody else": ({"user": MALLORY}, {}, {}),
    "sent by somebody else": ({}, {}, {"sender": MALLORY}),
    "a bot's": ({"user": HELPER}, {"user": HELPER}, {}),
    "a stranger's": ({"user": MALLORY}, {"user": MALLORY, "author_association": "OWNER"}, {}),
    "an edit": ({}, {}, {"action": "edited"}),
    "a deletion": ({}, {}, {"action": "deleted"}),
}
"""What GitHub shows, what the comment in the event says, and the rest of the event."""


def make_commands() -> Iterator[Case]:
    def change(how: str, seed: int, world: ApprovalWorld) -> None:
        world.api.roles["helper[bot]"] = {"role_name": "admin", "permission": "admin"}
        said = world.say(f"/triage approve {world.patch_id}")
        event = dict(said)
        world.api.seconds += 1 + random.Random(seed).randrange(1, 5_000)
        shown, in_event, around = CHANGED_COMMANDS[how]
        said |= {name: world.api.timestamp if value == "now" else value for name, value in shown.items()}
        answer(world, event | in_event, **around)

    for how in CHANGED_COMMANDS:
        for seed in range(REPETITIONS):
            yield Case("command", f"{how}, {seed}", partial(change, how, seed))


def make_closed_conversations() -> Iterator[Case]:
    def close(changes: dict[str, Any], world: ApprovalWorld) -> None:
        world.api.issues[NUMBER] |= changes
        approve(world)

    def delete(world: ApprovalWorld) -> None:
        said = world.say(f"/triage approve {world.patch_id}")
        world.api.comments.remove(said)
        answer(world, said)

    yield Case("command", "deleted", delete)
    yield Case("command", "on a locked issue", partial(close, {"locked": True}))
    yield Case("command", "on a pull request", partial(close, {"pull_request": {"url": "x"}}))


def make_refs() -> Iterator[Case]:
    """Other commits stand where the patch of the id was."""

    def store_other(trailers: dict[str, Any], world: ApprovalWorld) -> None:
        named = world.patch_id
        world.store_patch(REF, **trailers)
        approve(world, named)

    others: list[dict[str, Any]] = [
        {"written": "[#7] Round sums"},
        {"revision": 1},
        {"issue": 8},
        {"issue_text_hash": "0" * 16},
        {"commits": 1},
        {"commits": 3},
        {"with_test": False},
    ]
    for trailers in others:
        yield Case("ref", f"{trailers}", partial(store_other, trailers))

    def name_other(trailers: dict[str, Any], world: ApprovalWorld) -> None:
        approve(world, world.store_patch(REF, **trailers))

    for trailers in ({"issue": 8}, {"issue_text_hash": "0" * 16}, {"revision": 4}, {"commits": 1}, {"commits": 3}):
        yield Case("ref", f"the id of {trailers}", partial(name_other, trailers))

    def take_branch(world: ApprovalWorld) -> None:
        approve(world)
        (branch,) = [name for name in world.git.refs if name.startswith("refs/heads/triage/")]
        world.git.set_ref(branch, world.git.commit({**FILES, "x": ""}, world.base))
        world.git.set_ref(REF, world.patch_commit)
        world.before = world.read_effects()
        approve(world)

    yield Case("ref", "the branch has other commits", take_branch)
