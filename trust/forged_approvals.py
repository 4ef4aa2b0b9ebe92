"""Approvals that somebody forges: ids, places of the command, comments of ours, commands, and commits."""

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from trust.approval_case import REF, REPETITIONS, Case, Command, answer, approve, get_id
from trust.approval_world import BOT, FILES, NUMBER, ApprovalWorld, replace_suggestions


def make_ids(command: Command) -> Iterator[Case]:
    def flip(place: int, step: int, world: ApprovalWorld) -> None:
        true = get_id(world, command)
        digit = f"{(int(true[place], 16) + step) % 16:x}"
        approve(world, command, true[:place] + digit + true[place + 1 :])

    for place in range(12):
        for step in range(1, 16):
            yield Case("id", f"digit {place} + {step}", command, partial(flip, place, step))
    for name, form in ID_FORMS.items():
        yield Case("id", name, command, partial(_use_form, command, form))
    for number in range(REPETITIONS):
        named = f"{random.Random(number).getrandbits(48):012x}"
        yield Case("id", named, command, partial(approve, command=command, named=named))


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


def _use_form(command: Command, form: Callable[[str], str], world: ApprovalWorld) -> None:
    approve(world, command, form(get_id(world, command)))


def make_swapped_ids(command: Command) -> Iterator[Case]:
    other: Command = "approve" if command == "apply" else "apply"
    yield Case("id", "that of the other command", command, lambda world: approve(world, command, get_id(world, other)))


def make_places(command: Command) -> Iterator[Case]:
    """The command stands where it is no command, or the job is another one."""
    for line in ("> {}", "    {}", "`{}`", "Please {}", "{}ed", "\\{}", "<!-- {} -->", "- {}", "Thanks!\n{}", "/{}"):

        def say(line: str, world: ApprovalWorld) -> None:
            answer(world, command, world.say(line.format(f"/triage {command} {get_id(world, command)}")))

        yield Case("place", line, command, partial(say, line))
    for stage in ("gate", "report", "off" if command == "approve" else "apply"):

        def run_other(stage: str, world: ApprovalWorld) -> None:
            said = world.say(f"/triage {command} {get_id(world, command)}")
            world.before = world.read_effects()
            world.run(world.write_event(said), fix=stage)

        yield Case("place", f"the job {stage}", command, partial(run_other, stage))

    def run_dry(world: ApprovalWorld) -> None:
        said = world.say(f"/triage {command} {get_id(world, command)}")
        world.before = world.read_effects()
        world.run(world.write_event(said), fix="apply" if command == "approve" else "off", dry_run="true")

    yield Case("place", "a dry run", command, run_dry)


FORGED: list[dict[str, Any]] = [
    {"labels": ["Good First Issue"]},
    {"labels": ["bug", "Good First Issue"]},
    {"issue_type": "Feature"},
    {"assignee": "octocat"},
    {"issue": 8},
    {"repository": "octo/other"},
    {"created_at": "2026-11-21T09:00:01Z"},
    {"labels": []},
]


def _edit(world: ApprovalWorld, by: str | None, text: str, **fields: Any) -> None:
    world.comment["body"] = text
    world.api.record_edit(world.comment, by, **fields)


def _edit_by_mallory(world: ApprovalWorld, forged: str) -> None:
    _edit(world, "mallory", forged)


def _edit_before_us(world: ApprovalWorld, forged: str) -> None:
    _edit(world, "mallory", forged)
    _edit(world, BOT, forged)


def _edit_by_namesake(world: ApprovalWorld, forged: str) -> None:
    _edit(world, "github-actions", forged)


def _edit_by_other_app(world: ApprovalWorld, forged: str) -> None:
    _edit(world, "other-app[bot]", forged)


def _edit_by_deleted_account(world: ApprovalWorld, forged: str) -> None:
    _edit(world, None, forged)


def _edit_and_remove_from_history(world: ApprovalWorld, forged: str) -> None:
    _edit(world, BOT, forged, deletedAt=world.api.timestamp)


def _edit_and_bury(world: ApprovalWorld, forged: str) -> None:
    _edit(world, "mallory", forged)
    for _ in range(101):
        world.api.record_edit(world.comment, BOT)


def _post_as_mallory(world: ApprovalWorld, forged: str) -> None:
    world.comment["user"] = {"login": "mallory", "id": 66, "type": "User"}
    world.comment["body"] = forged


EDITS = (
    _edit_by_mallory,
    _edit_before_us,
    _edit_by_namesake,
    _edit_by_other_app,
    _edit_by_deleted_account,
    _edit_and_remove_from_history,
    _edit_and_bury,
    _post_as_mallory,
)


def make_comments(command: Command) -> Iterator[Case]:
    def forge(edit: Callable[[ApprovalWorld, str], None], changes: dict[str, Any], world: ApprovalWorld) -> None:
        text, forged_id = replace_suggestions(world.comment["body"], changes)
        # A patch is not read from the comment: its pointer may say what it wants.
        text = text if command == "apply" else text.replace('"quiet":false', f'"quiet":false,"proposal":"{forged_id}"')
        edit(world, text)
        approve(world, command, forged_id)

    for edit in EDITS:
        for changes in FORGED:
            name = f"{edit.__name__.strip('_')}, {changes}"
            yield Case("comment", name, command, partial(forge, edit, changes))
    if command == "apply":
        for edit in EDITS:

            def restore(edit: Callable[[ApprovalWorld, str], None], world: ApprovalWorld) -> None:
                edit(world, world.comment["body"])
                approve(world, command)

            yield Case("comment", f"{edit.__name__.strip('_')}, the same text", command, partial(restore, edit))


MALLORY = {"login": "mallory", "id": 66, "type": "User"}
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


def make_commands(command: Command) -> Iterator[Case]:
    def change(how: str, seed: int, world: ApprovalWorld) -> None:
        world.api.roles["helper[bot]"] = {"role_name": "admin", "permission": "admin"}
        said = world.say(f"/triage {command} {get_id(world, command)}")
        event = dict(said)
        world.api.seconds += 1 + random.Random(seed).randrange(1, 5_000)
        shown, in_event, around = CHANGED_COMMANDS[how]
        said |= {name: world.api.timestamp if value == "now" else value for name, value in shown.items()}
        answer(world, command, event | in_event, **around)

    for how in CHANGED_COMMANDS:
        for seed in range(REPETITIONS):
            yield Case("command", f"{how}, {seed}", command, partial(change, how, seed))


def make_closed_conversations(command: Command) -> Iterator[Case]:
    def close(changes: dict[str, Any], world: ApprovalWorld) -> None:
        world.api.issues[NUMBER] |= changes
        approve(world, command)

    def delete(world: ApprovalWorld) -> None:
        said = world.say(f"/triage {command} {get_id(world, command)}")
        world.api.comments.remove(said)
        answer(world, command, said)

    yield Case("command", "deleted", command, delete)
    yield Case("command", "on a locked issue", command, partial(close, {"locked": True}))
    yield Case("command", "on a pull request", command, partial(close, {"pull_request": {"url": "x"}}))


def make_refs(command: Command) -> Iterator[Case]:
    """Other commits stand where the patch of the id was."""
    if command == "apply":
        return

    def store_other(trailers: dict[str, Any], world: ApprovalWorld) -> None:
        named = world.patch_id
        world.store_patch(REF, **trailers)
        approve(world, command, named)

    others: list[dict[str, Any]] = [
        {"draft": "e" * 64},
        {"revision": 1},
        {"issue": 8},
        {"issue_text": "0" * 16},
        {"commits": 1},
        {"commits": 3},
        {"with_test": False},
    ]
    for trailers in others:
        yield Case("ref", f"{trailers}", command, partial(store_other, trailers))

    def name_other(trailers: dict[str, Any], world: ApprovalWorld) -> None:
        approve(world, command, world.store_patch(REF, **trailers))

    for trailers in ({"issue": 8}, {"issue_text": "0" * 16}, {"revision": 4}, {"commits": 1}, {"draft": "D" * 64}):
        yield Case("ref", f"the id of {trailers}", command, partial(name_other, trailers))

    def take_branch(world: ApprovalWorld) -> None:
        approve(world, command)
        (branch,) = [name for name in world.git.refs if name.startswith("refs/heads/triage/")]
        world.git.set_ref(branch, world.git.commit({**FILES, "x": ""}, world.base))
        world.git.set_ref(REF, world.patch_commit)
        world.before = world.read_effects()
        approve(world, command)

    yield Case("ref", "the branch has other commits", command, take_branch)
