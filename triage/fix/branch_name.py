"""The name of the branch that an approved patch becomes."""

import re
import unicodedata

MAX_SLUG_CHARS = 40


def make_branch_name(number: int | None, title: str) -> str:
    """Return `triage/<issue>-<slug>`, with ASCII letters, digits and hyphens; `triage/<slug>` without a number.

    The slug ends with a whole word, unless the first one is too long.
    """
    ascii_title = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", ascii_title).strip("-")
    slug = words[:MAX_SLUG_CHARS]
    if words[MAX_SLUG_CHARS : MAX_SLUG_CHARS + 1] not in ("", "-"):
        slug = slug.rpartition("-")[0] or slug
    slug = slug.strip("-") or "fix"
    return f"triage/{number}-{slug}" if number else f"triage/{slug}"
