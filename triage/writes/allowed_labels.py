"""Selects the labels that may be suggested or applied."""

import re
import unicodedata
from collections.abc import Iterable

from triage.domain.project_config import ProjectConfig

TRIGGER_WORDS = re.compile(
    r"(?:accept|approv|auto-?(?:fix|merg|deploy|land)|backport|codegen|de-?ploy|gitauto|implement|merg[ei]|openhands"
    r"|publish|rebas|releas|revert|roll-?back|trigger|trusted|verif"
    r"|(?:agent|aider|allow(?:ed)?|bounty|cherry|claude|close[ds]?|codex|copilot|cursor|devin|exec(?:ute)?|fix|fixme"
    r"|gemini|jules|land(?:ed)?|lgtm|lock(?:ed)?|ok|paid|preview|ready|rerun|retest|run|safe|ship|shipit|signed|spam"
    r"|stale|sweep)$)"
)
"""Words, and beginnings of words, of labels that start or permit something in many repositories: tests of a fork,
merging, releasing, coding agents, bots that close issues."""


def select_allowed_labels(config: ProjectConfig, labels: Iterable[str]) -> list[str]:
    """The labels of the repository that may be suggested, without the opt-in and the opt-out label.

    A label can start a workflow with more rights than ours. So one that sounds like it must be allowed by name.
    """
    allowed = {name.casefold() for name in config.labels.allow}
    own = {config.opt_in_label.casefold(), config.opt_out_label.casefold()}

    def is_allowed(label: str) -> bool:
        if allowed:
            return label.casefold() in allowed
        words = re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", unicodedata.normalize("NFKC", label).casefold())
        return not any(TRIGGER_WORDS.match(part) for word in words for part in (word, *word.split("-")))

    return [label for label in labels if label.casefold() not in own and is_allowed(label)]
