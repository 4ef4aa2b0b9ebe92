"""The name of the branch that an approved patch becomes."""

import re
import unicodedata

MAX_SLUG_CHARS = 40


def make_branch_name(number: int | None, title: str) -> str:
    """Return `triage/<issue>-<slug>`, with ASCII letters, digits and hyphens; `triage/<slug>` without a number."""
    ascii_title = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_title)[:MAX_SLUG_CHARS].strip("-") or "fix"
    return f"triage/{number}-{slug}" if number else f"triage/{slug}"
