"""The runner's file commands: outputs, and the job's summary."""

import re
import secrets
from collections.abc import Callable, Mapping

SUMMARY_BYTES = 900_000
"""Kept below 1 MiB, beyond which GitHub drops a step's whole summary (docs, workflow commands)."""
CUT_NOTICE = "> **This summary was cut: it is longer than a job's page can hold.**\n\n"


def _random_delimiter() -> str:
    return f"triage_{secrets.token_hex(16)}"


def format_outputs(values: Mapping[str, str], delimiter: Callable[[], str] = _random_delimiter) -> bytes:
    """`NAME<<DELIMITER` blocks. The delimiter occurs in no name and no value.

    Raises:
        ValueError: A name is none that action.yml can declare.
    """
    blocks = []
    for name, value in values.items():
        if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            raise ValueError("an output's name is lower-case words with hyphens")
        mark = delimiter()
        while mark in value:
            mark = delimiter()
        blocks.append(f"{name}<<{mark}\n{value}\n{mark}\n")
    return "".join(blocks).encode("utf-8", "replace")


def fit_summary(markdown: str, room_bytes: int) -> bytes:
    """The Markdown in UTF-8, cut after a whole line, with a notice before it, when it is longer than the room."""
    whole = markdown.encode("utf-8", "replace")
    whole = whole if whole.endswith(b"\n") else whole + b"\n"
    if len(whole) <= room_bytes:
        return whole
    notice = CUT_NOTICE.encode()
    kept = whole[: max(room_bytes - len(notice) - 1, 0)]
    end = kept.rfind(b"\n")
    # A line longer than the whole room is cut at a character instead.
    kept = kept[: end + 1] if end >= 0 else kept.decode("utf-8", "ignore").encode() + b"\n"
    return notice + kept if room_bytes > len(notice) else b""
