"""Formats the files that the runner reads: the step's outputs and the job's summary."""

import secrets
from collections.abc import Mapping

SUMMARY_BYTES = 900_000
"""Below 1 MiB, above which GitHub drops a step's whole summary (docs, workflow commands)."""
CUT_NOTICE = "> **This summary was cut: it is longer than a job's page can hold.**\n\n"


def format_outputs(values: Mapping[str, str]) -> bytes:
    """Returns `NAME<<DELIMITER` blocks, each with an unpredictable delimiter."""
    blocks = []
    for name, value in values.items():
        end = f"triage_{secrets.token_hex(16)}"
        blocks.append(f"{name}<<{end}\n{value}\n{end}\n")
    return "".join(blocks).encode("utf-8", "replace")


def fit_summary(markdown: str, max_bytes: int) -> bytes:
    """Returns Markdown as UTF-8. Longer text is cut after a whole line, with a notice before it."""
    whole = markdown.encode("utf-8", "replace")
    whole = whole if whole.endswith(b"\n") else whole + b"\n"
    if len(whole) <= max_bytes:
        return whole
    notice = CUT_NOTICE.encode()
    cut = whole[: max(max_bytes - len(notice) - 1, 0)]
    end = cut.rfind(b"\n")
    # A line that is longer than the limit is cut at a character.
    cut = cut[: end + 1] if end >= 0 else cut.decode("utf-8", "ignore").encode() + b"\n"
    return notice + cut if max_bytes > len(notice) else b""
