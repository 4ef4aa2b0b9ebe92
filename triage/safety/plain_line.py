"""Text for places of GitHub of which nobody says whether they show plain text or Markdown."""

import re

from triage.safety.active_content import find_active_content
from triage.safety.clean_text import clean_text

_ADDRESS = re.compile(r"://|\bwww\.|\b(?:mailto|xmpp|javascript|data|vbscript):\w", re.I)
_LOOKALIKES = str.maketrans(
    {"`": "'", "<": "‹", ">": "›", "[": "(", "]": ")", "*": None, "~": None, "|": "/", "\\": "/"}
)


def format_plain_line(text: str) -> str:
    """One line that does nothing, be it shown as plain text or as Markdown; empty if the text would do something.

    Mentions, references to issues and commits, addresses and formulas do something.
    """
    line = " ".join(clean_text(text).translate(_LOOKALIKES).split())
    return "" if _ADDRESS.search(line) or find_active_content(line, []) else line
