"""Hostile texts prove something only where they are read: each channel has a word of its own, and all reach a prompt."""

from collections.abc import Callable

from trust.injection_scenario import build_scenario
from trust.observed_run import Scenario, list_strings, observe_run
from trust.permissive_github import NUMBER

PARTS: dict[str, Callable[[Scenario, Scenario], None]] = {
    "title": lambda mixed, own: mixed.tracker.issues[NUMBER].update(title=own.tracker.issues[NUMBER]["title"]),
    "comment": lambda mixed, own: mixed.tracker.comments.__setitem__(slice(None), own.tracker.comments),
    "past issue": lambda mixed, own: mixed.tracker.issues.update(
        {number: issue for number, issue in own.tracker.issues.items() if number != NUMBER}
    ),
    "label": lambda mixed, own: setattr(mixed.tracker, "labels", own.tracker.labels),
    "file": lambda mixed, own: setattr(mixed, "files", own.files),
    "commit message": lambda mixed, own: setattr(mixed, "commits", own.commits),
    "search result": lambda mixed, own: setattr(mixed, "search", own.search),
    "model output": lambda mixed, own: setattr(mixed, "model", own.model),
}


def name_canary(channel: str) -> str:
    return f"zzq{channel.replace(' ', '')}xj"


def mix_channels(trap: str) -> Scenario:
    """Returns a scenario in which each channel has another text."""
    mixed = build_scenario([f"{name_canary('body')} The total of the basket is wrong"], 1, trap)
    for channel, take in PARTS.items():
        take(mixed, build_scenario([f"{name_canary(channel)} The total of the basket is wrong"], 1, trap))
    return mixed


def test_every_channel_reaches_a_prompt():
    run = observe_run(mix_channels)
    prompts = "\n".join(text for request in run.requests("model") for text in list_strings(request.body))
    assert [channel for channel in ("body", *PARTS) if name_canary(channel) not in prompts] == []
