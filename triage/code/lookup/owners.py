"""Who knows some lines: the owners in CODEOWNERS, and who wrote them lately."""

import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from triage.domain.code import Author, BlamedLine, Owner

ACTIVE_YEARS = 2
"""Who has committed nothing for so long has left."""
HALF_LIFE_DAYS = 365.0
"""A line of this age weighs half of a new one."""
MIN_SHARE = 0.2
"""Of the weight of all lines."""
MIN_LINES_SHARE = 0.3
"""Of the number of lines: a new line alone says little."""
MAX_AUTHORS = 2
MAX_CODE_OWNERS = 3
_NO_REPLY = re.compile(r"(?:\d+\+)?([a-z\d](?:[a-z\d-]{0,38}))@users\.noreply\.github\.com")
_BOT = re.compile(
    r"\[bot\]|\bbot\b|-robot\b|(?:^|[-_ ])(?:dependabot|renovate|github[- ]actions?|pre-commit|greenkeeper|bors|"
    r"mergify|imgbot|copilot|allcontributors|semantic-release)",
    re.I,
)


def list_code_owners(names: Sequence[str]) -> list[Owner]:
    """Return the owners that CODEOWNERS names for a file."""
    return [Owner(name=name, source="CODEOWNERS", reason="by CODEOWNERS") for name in names[:MAX_CODE_OWNERS]]


def weigh_authors(lines: Sequence[BlamedLine], active: Sequence[Author], now: datetime) -> list[Owner]:
    """Return who wrote most of the lines, the newer a line the more it weighs.

    Only people among the `active` authors count; a bot is nobody. `now` is the time of the indexed commit.
    """
    emails, names = {author.email for author in active}, {author.name for author in active}
    weights: dict[str, float] = defaultdict(float)
    written: dict[str, list[BlamedLine]] = defaultdict(list)
    total = 0.0
    for line in lines:
        weight = 0.5 ** (max(0.0, (now - line.at).total_seconds()) / 86_400 / HALF_LIFE_DAYS)
        total += weight
        author = line.author
        is_active = author.email in emails or author.name in names
        # Whoever wrote an address in place of a name did not mean to publish it.
        if is_active and author.name and "@" not in author.name and not _is_bot(author):
            weights[author.name] += weight
            written[author.name].append(line)
    best = sorted(weights, key=lambda name: -weights[name])
    chosen = [
        name
        for name in best
        if weights[name] >= MIN_SHARE * total and len(written[name]) >= MIN_LINES_SHARE * len(lines)
    ]
    return [_describe(written[name], len(lines)) for name in chosen[:MAX_AUTHORS]]


def _is_bot(author: Author) -> bool:
    return bool(_BOT.search(author.name) or _BOT.search(author.email.partition("@")[0]))


def _describe(written: Sequence[BlamedLine], count: int) -> Owner:
    author, latest = written[0].author, max(line.at for line in written)
    login = next((match[1] for line in written if (match := _NO_REPLY.fullmatch(line.author.email))), None)
    share = f"all {count}" if len(written) == count else f"{len(written)} of the {count}"
    lines = "this line" if count == 1 else f"{share} lines"
    return Owner(name=login or author.name, source="history", reason=f"wrote {lines}, the last in {latest:%Y-%m}")
