"""What the models are shown: system messages that are files without holes, and one fence for everything else."""

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from importlib.resources import files
from itertools import count

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from triage.text.clean_text import clean_text

MAX_PART_CHARS = 60_000
"""Longest single part of a prompt, about 20,000 tokens. Parts that may grow are cut shorter where they are made."""


_PROMPTS = {
    file.name.removesuffix(".md"): file.read_text(encoding="utf-8").strip()
    for file in (files("triage.agents") / "prompts").iterdir()
    if file.name.endswith(".md")
}
"""Read once, at import: an event loop must not wait for a disk."""


def build_system_message(name: str) -> SystemMessage:
    """The system message of this name, with the rule on fenced data that all share."""
    return SystemMessage(f"{_PROMPTS[name]}\n\n{_PROMPTS['data']}")


def fence(parts: Mapping[str, str], token: str | None = None) -> HumanMessage:
    """All variable text of a prompt, as a person would see it, each part between marks that stand nowhere in the text.

    The marks come from the text itself: the same case gives the same prompt in every process, so that an answer that
    was paid for is found again. A text that contains the hash of itself and its neighbours (64 bits) is not to be had;
    and if it were, another mark would be taken.

    Args:
        parts: Name of each part, ours, and its text, anybody's. Empty parts are left out.
        token: Of the marks; derived from the parts unless given.
    """
    shown = {name: clean_text(cut(text)) for name, text in parts.items() if text}
    mark = token or _choose_mark(shown)
    return HumanMessage("\n\n".join(f"<<{name} {mark}>>\n{text}\n<</{name} {mark}>>" for name, text in shown.items()))


def _choose_mark(shown: Mapping[str, str]) -> str:
    """The first hash of a number and the parts that none of the texts contains."""
    hashes = (blake2b(json.dumps([n, *shown.items()]).encode(), digest_size=8).hexdigest() for n in count())
    return next(mark for mark in hashes if not any(mark in text for text in shown.values()))


def build_messages(name: str, parts: Mapping[str, str]) -> list[BaseMessage]:
    """System message and fenced data."""
    return [build_system_message(name), fence(parts)]


def cut(text: str, max_chars: int = MAX_PART_CHARS) -> str:
    """The text, its middle left out and said so when it is too long: beginnings and ends carry most."""
    if len(text) <= max_chars:
        return text
    head, tail = text[: max_chars * 2 // 3], text[-max_chars // 3 :]
    return f"{head}\n[... {len(text) - len(head) - len(tail):,} characters left out ...]\n{tail}"


def format_bullets(items: Sequence[str]) -> str:
    """A list, one item a line."""
    return "\n".join(f"- {item}" for item in items)
