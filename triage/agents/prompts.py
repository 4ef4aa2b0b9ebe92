"""Prompts: system messages from files without placeholders, one fenced message for all variable text, and memory."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from importlib.resources import files
from itertools import pairwise
from textwrap import indent
from types import MappingProxyType

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from triage.agents.services import Services
from triage.domain.agent_input import AgentInput
from triage.domain.findings import AgentFinding
from triage.domain.issue import EarlierReport, HumanExchange
from triage.domain.past_issues import SimilarIssue
from triage.read.reporter_language import get_phrases
from triage.safety.clean_text import clean_text

WANTED = "This was the data. Now do your task, and answer in its form."
"""At the end of a message: after 24,000 characters of code the task is far away."""
MAX_PART_CHARS = 60_000
"""Of one section, about 20,000 tokens. Most sections have a smaller limit of their own."""

MAX_BODY_CHARS = 16_000
"""About 5,000 tokens. Nine of ten issues have less than 4,000 characters (measured). The thread gets half of it."""
MAX_JUDGED_BODY_CHARS = 6_000
"""For agents that judge or write what others found in the issue. Of a long block of code or a log they see a part."""
MAX_SEARCH_BODY_CHARS = 10_000
"""For the codebase search, which is sent the issue again with each look-up."""
BLOCK_SHARE, LONG_BLOCK = 1 / 5, 1.5
"""Of the characters of a body, for one block; one that is hardly longer is shown whole, for a gap in the middle of a
trace costs more than it saves."""
_BLOCK = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)

PROMPTS = {
    file.name.removesuffix(".md"): file.read_text(encoding="utf-8").strip()
    for file in (files("triage.agents") / "prompts").iterdir()
    if file.name.endswith(".md")
}
"""Read at import, because an event loop must not wait for a disk."""

MEMORY_TITLE = "=== Memory Context ==="
MAX_PAST_ISSUES = 3
"""Past issues."""
MAX_ISSUE_FILES = 8
"""Of one issue, in each list."""
MAX_EXCHANGE_CHARS = 6_000
MIN_QUESTION_CHARS = 8
_ASKS = re.compile(
    r"[?\uff1f\u061f\u037e]"
    r"|^please (?:also )?(?:attach|confirm|describe|include|paste|post|provide|send|share|tell|upload)\b",
    re.IGNORECASE,
)


def build_system_message(
    *names: str,
    sections: Mapping[str, str] = MappingProxyType({}),
    tail: Sequence[BaseMessage] = (),
    catalogue: str = "",
) -> SystemMessage:
    """Return the system message: these prompts, the rule on fenced data, and one for each other thing in the prompt.

    `tail` is what follows it, such as what is remembered.
    """
    parts = {
        "maintainers": bool(sections.get("project's instructions") or catalogue),
        "memory": any(message.text.startswith(MEMORY_TITLE) for message in tail),
        "languages": bool(sections.get("languages")),
        "skills": bool(catalogue),
    }
    return SystemMessage("\n\n".join(PROMPTS[name] for name in (*names, "data", *(n for n in parts if parts[n]))))


def make_mark(agent_input: AgentInput) -> str:
    """Return what marks the data in all prompts of a run: what stands in several of them is the same in each."""
    known = [agent_input.repository.commit, agent_input.parsed.title, agent_input.parsed.body]
    return blake2b(json.dumps(known).encode(), digest_size=8).hexdigest()


def fence(sections: Mapping[str, str], mark: str = "") -> HumanMessage:
    """Return all variable text of a prompt, each section between marks that no section contains.

    Without a `mark` it is a hash of the sections. Empty sections are left out.
    """
    texts = {name: clean_text(shorten(text)) for name, text in sections.items() if text}
    mark = mark or blake2b(json.dumps([*texts.items()]).encode(), digest_size=8).hexdigest()
    while any(mark in text for text in texts.values()):  # what is left of a text may be one again
        texts = {name: text.replace(mark, "") for name, text in texts.items()}
    return HumanMessage("\n\n".join(f"<<{name} {mark}>>\n{text}\n<</{name} {mark}>>" for name, text in texts.items()))


def fence_below_catalogue(sections: Mapping[str, str], catalogue: str, mark: str = "") -> HumanMessage:
    """Return the sections below the catalogue of the project's skills, which has marks of its own.

    So the begin of a prompt is the same for every issue of a commit, and a provider's cache of prompts finds it.
    """
    parts = [fence({"project's skills": catalogue}).text, fence(sections, mark).text, WANTED]
    return HumanMessage("\n\n".join(filter(None, parts)))


def build_messages(
    name: str,
    sections: Mapping[str, str],
    tail: Sequence[BaseMessage] = (),
    catalogue: str = "",
    mark: str = "",
) -> list[BaseMessage]:
    """Return a prompt: what never changes, then the sections, then messages that are fenced already."""
    system = build_system_message(name, sections=sections, tail=tail, catalogue=catalogue)
    return [system, fence_below_catalogue(sections, catalogue, mark), *tail]


def add_pictures(messages: Sequence[BaseMessage], pictures: Sequence[str]) -> list[BaseMessage]:
    """Return a prompt that shows pictures, as `Attachment` has them, below its sections."""
    if not pictures:
        return list(messages)
    system, shown, *tail = messages
    parts = [(mime_type, data) for mime_type, _, data in (one.partition(";base64,") for one in pictures)]
    blocks = [{"type": "image", "mime_type": mime_type, "base64": data} for mime_type, data in parts]
    return [system, HumanMessage([{"type": "text", "text": shown.text}, *blocks]), *tail]


def shorten(text: str, max_chars: int = MAX_PART_CHARS) -> str:
    """Return the text; when it is too long, its middle is replaced by how much is left out."""
    if len(text) <= max_chars:
        return text
    head, tail = text[: max_chars * 2 // 3], text[-max_chars // 3 :]
    return f"{head}\n[... {len(text) - len(head) - len(tail):,} characters left out ...]\n{tail}"


def format_bullets(items: Sequence[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _shorten_blocks(text: str, max_chars: int) -> str:
    """Return the text with the middle of long code blocks left out: diagnostics, benchmarks, logs."""

    def cut(found: re.Match[str]) -> str:
        return shorten(found[0], max_chars) if len(found[0]) > max_chars * LONG_BLOCK else found[0]

    return _BLOCK.sub(cut, text)


def format_task(agent_input: AgentInput, services: Services, body_chars: int = MAX_BODY_CHARS) -> dict[str, str]:
    """Return what every agent that sees the code reads: the issue, the maintainers' instructions, and the languages."""
    return format_issue(agent_input, body_chars) | format_instructions(services) | format_languages(agent_input)


def format_issue(agent_input: AgentInput, body_chars: int = MAX_BODY_CHARS) -> dict[str, str]:
    """Return title, visible body with the author's comments, and comments of others."""
    left_out = agent_input.parsed.comments_left_out
    note = f"[... {left_out:,} older comments left out ...]\n\n" if left_out else ""
    body = agent_input.parsed.body
    if body_chars < MAX_BODY_CHARS:
        body = _shorten_blocks(body, int(body_chars * BLOCK_SHARE))
    thread = note + "\n\n".join(
        f"{comment.author}{' (maintainer)' if comment.by_member else ''}:\n{indent(comment.body, '  ')}"
        for comment in agent_input.issue.thread
    )
    return {
        "issue title": shorten(agent_input.parsed.title, 500),
        "issue body": shorten(body, body_chars),
        "issue thread": shorten(thread, body_chars // 2),
    }


def format_instructions(services: Services) -> dict[str, str]:
    """Return the maintainers' instructions. They may be private: not for a prompt whose answer is sent out."""
    return {"project's instructions": services.config.instructions.strip()}


def format_languages(agent_input: AgentInput) -> dict[str, str]:
    """Return in which languages to answer; nothing where both are English, as the prompts say for that case."""
    reporter = get_phrases(agent_input.parsed.language).name
    project = get_phrases(agent_input.repository.language).name
    if reporter == project == "English":
        return {}
    return {"languages": f"Questions to the reporter: {reporter}. All else: {project}."}


def format_findings(findings: Sequence[AgentFinding]) -> str:
    """Return the last answer of each agent, as text for a prompt."""
    return "\n\n".join(
        f"{finding.agent_name} (confidence {finding.confidence:.2f}): {finding.summary}\n{finding.details}"
        + (f"\nReasoning: {finding.reasoning}" if finding.reasoning else "")
        for finding in {finding.agent_name: finding for finding in findings}.values()
    )


def is_question(text: str) -> bool:
    """Return whether a text asks something, in any script: other texts of a model are not put to the reporter."""
    return len(text) >= MIN_QUESTION_CHARS and bool(_ASKS.search(text))


def find_traceback_lines(agent_input: AgentInput, path: str) -> list[str]:
    """Return lines that stand right below a line with the file's name, as in Python's stack traces."""
    name = path.rpartition("/")[2]
    return [below.strip() for above, below in pairwise(agent_input.parsed.body.splitlines()) if name in above]


def build_memory_messages(agent_input: AgentInput, mark: str = "") -> list[HumanMessage]:
    """Return the message; none if nothing is remembered. All in it but the title is fenced."""
    episodic = "\n".join(_describe_past_issue(issue) for issue in agent_input.similar_issues[:MAX_PAST_ISSUES])
    sections = {
        "earlier run": _describe_earlier_report(agent_input.earlier_report),
        "human exchanges": shorten(format_exchanges(agent_input.answered_questions), MAX_EXCHANGE_CHARS),
        "past issues": episodic,
    }
    return [HumanMessage(f"{MEMORY_TITLE}\n\n{fence(sections, mark).text}")] if any(sections.values()) else []


def _describe_earlier_report(earlier: EarlierReport | None) -> str:
    parts = []
    if earlier and earlier.suspects:
        parts.append(f"Suspected in the earlier report on this issue:\n{format_bullets(earlier.suspects)}")
    if earlier and earlier.asked_kinds:
        asked = ", ".join(kind.replace("_", " ") for kind in earlier.asked_kinds)
        parts.append(f"Asked in the earlier report: {asked}")
    return "\n\n".join(parts)


def _describe_past_issue(issue: SimilarIssue) -> str:
    state = f"closed, {issue.ended}" if issue.state == "closed" and issue.ended else issue.state
    state = f"pull request, {state}" if issue.is_pull_request else state
    lines = [f"#{issue.number} ({state}; similarity: {issue.score:.2f}): {shorten(issue.title, 200)}"]
    if issue.reasons:
        lines.append(f"  Alike: {'; '.join(issue.reasons)}")
    if issue.fix_files:
        lines.append(f"  Its fix changed: {_list_files(issue.fix_files)}")
    if issue.suspects:
        lines.append(f"  Our report on it suspected: {_list_files(issue.suspects)}")
    return "\n".join(lines)


def _list_files(paths: Sequence[str]) -> str:
    more = len(paths) - MAX_ISSUE_FILES
    return ", ".join(paths[:MAX_ISSUE_FILES]) + (f" and {more} more" if more > 0 else "")


def format_exchanges(exchanges: Sequence[HumanExchange]) -> str:
    """Return our questions to the reporter with the answers. The answers stand in the issue's body as well."""
    return "\n\n".join(
        f"Asked{_format_date(exchange.asked_at)}:\n{exchange.question}\n"
        f"Answered by the reporter{_format_date(exchange.answered_at)}:\n{exchange.answer}"
        for exchange in exchanges
    )


def _format_date(at: datetime | None) -> str:
    return f" on {at:%Y-%m-%d %H:%M}" if at else ""
