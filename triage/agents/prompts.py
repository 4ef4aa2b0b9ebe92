"""What the models are shown: system messages that are files without holes, and one fence for everything else."""

import secrets
from collections.abc import Mapping, Sequence
from importlib.resources import files

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

MAX_PART_CHARS = 60_000
"""Longest single part of a prompt, about 20,000 tokens. Parts that may grow are cut shorter where they are made."""


def system(name: str) -> SystemMessage:
    """The system message of this name, with the rule on fenced data that all share."""
    folder = files("triage.agents") / "prompts"
    own = (folder / f"{name}.md").read_text(encoding="utf-8").strip()
    shared = (folder / "data.md").read_text(encoding="utf-8").strip()
    return SystemMessage(f"{own}\n\n{shared}")


def fenced(parts: Mapping[str, str], token: str | None = None) -> HumanMessage:
    """All variable text of a prompt, each part between marks that the text cannot know.

    Args:
        parts: Name of each part, ours, and its text, anybody's. Empty parts are left out.
        token: The random part of the marks; drawn anew unless given.
    """
    mark = token or secrets.token_hex(8)
    return HumanMessage(
        "\n\n".join(f"<<{name} {mark}>>\n{cut(text)}\n<</{name} {mark}>>" for name, text in parts.items() if text)
    )


def conversation(name: str, parts: Mapping[str, str]) -> list[BaseMessage]:
    """System message and fenced data."""
    return [system(name), fenced(parts)]


def cut(text: str, max_chars: int = MAX_PART_CHARS) -> str:
    """The text, its middle left out and said so when it is too long: beginnings and ends carry most."""
    if len(text) <= max_chars:
        return text
    head, tail = text[: max_chars * 2 // 3], text[-max_chars // 3 :]
    return f"{head}\n[... {len(text) - len(head) - len(tail):,} characters left out ...]\n{tail}"


def bullets(items: Sequence[str]) -> str:
    """A list, one item a line."""
    return "\n".join(f"- {item}" for item in items)
