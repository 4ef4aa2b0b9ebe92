"""The message that shows an agent what is remembered: of this issue, and of past issues like it."""

from collections.abc import Sequence
from datetime import datetime

from langchain_core.messages import HumanMessage

from triage.agents.prompts import fence, format_bullets, shorten
from triage.domain.agent_input import AgentInput
from triage.domain.issue import HumanExchange
from triage.domain.past_issues import EarlierReport, SimilarIssue

TITLE = "=== Memory Context ==="
MAX_SHOWN = 3
"""Past issues."""
MAX_FILES = 8
"""Of one issue, in each list."""
MAX_EXCHANGE_CHARS = 6_000


def build_memory_messages(agent_input: AgentInput) -> list[HumanMessage]:
    """Return the message; none if nothing is remembered. All in it but the title is fenced."""
    episodic = "\n".join(_describe_issue(issue) for issue in agent_input.similar_issues[:MAX_SHOWN])
    sections = {
        "working memory": _describe_work(agent_input.earlier_report, agent_input.recent_entities),
        "human exchanges": shorten(format_exchanges(agent_input.exchanges), MAX_EXCHANGE_CHARS),
        "past issues": episodic,
    }
    return [HumanMessage(f"{TITLE}\n\n{fence(sections).text}")] if any(sections.values()) else []


def _describe_work(earlier: EarlierReport | None, recent: list[str]) -> str:
    parts = []
    if earlier and earlier.suspects:
        parts.append(f"Suspected in the earlier report on this issue:\n{format_bullets(earlier.suspects)}")
    if earlier and earlier.asked:
        parts.append(f"Asked in the earlier report: {', '.join(kind.replace('_', ' ') for kind in earlier.asked)}")
    if recent:
        parts.append(f"Found last, the newest at the end:\n{format_bullets(recent)}")
    return "\n\n".join(parts)


def _describe_issue(issue: SimilarIssue) -> str:
    ended = f"closed, {issue.ended}" if issue.state == "closed" and issue.ended else issue.state
    lines = [f"#{issue.number} ({ended}; similarity: {issue.score:.2f}): {shorten(issue.title, 200)}"]
    if issue.reasons:
        lines.append(f"  Alike: {'; '.join(issue.reasons)}")
    if issue.fix_files:
        lines.append(f"  Its fix changed: {_list_files(issue.fix_files)}")
    if issue.suspects:
        lines.append(f"  Our report on it suspected: {_list_files(issue.suspects)}")
    return "\n".join(lines)


def _list_files(paths: Sequence[str]) -> str:
    more = len(paths) - MAX_FILES
    return ", ".join(paths[:MAX_FILES]) + (f" and {more} more" if more > 0 else "")


def format_exchanges(exchanges: Sequence[HumanExchange]) -> str:
    """Return our questions to the reporter with the answers. The answers stand in the issue's body as well."""
    return "\n\n".join(
        f"Asked{_format_date(exchange.asked_at)}:\n{exchange.question}\n"
        f"Answered by the reporter{_format_date(exchange.answered_at)}:\n{exchange.answer}"
        for exchange in exchanges
    )


def _format_date(at: datetime | None) -> str:
    return f" on {at:%Y-%m-%d %H:%M}" if at else ""
