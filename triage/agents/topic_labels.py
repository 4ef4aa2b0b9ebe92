"""Which of the labels that similar issues carry say what an issue is about."""

import re
from collections.abc import Sequence

from triage.domain.past_issues import LearnedLabel

_WORKFLOW = re.compile(
    r"\b(?:duplicate|invalid|won'?t ?fix|wontfix|stale|triaged?|status|good first|first|help wanted|in progress|"
    r"blocked|waiting|awaiting|backport|back-port|released?|milestone|resolved|fixed|verified|confirmed|unconfirmed|"
    r"needs?|more[- ]info\w*|info[- ]needed|reproduc\w+|priority|severity|p[0-5]|insiders?|locked|closed|hacktoberfest|"
    r"bounty|cla|outdated|rejected|accepted|author|regression|security|vulnerability)\b",
    re.IGNORECASE,
)
"""Labels that say how far somebody has come with an issue. Nothing in its text tells that. What is a regression or a
security report has signs of its own."""


def select_topics(labels: Sequence[LearnedLabel]) -> list[LearnedLabel]:
    """Return the labels without those of the workflow."""
    return [label for label in labels if not _WORKFLOW.search(label.name.replace("_", " "))]
