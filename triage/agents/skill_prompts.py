"""The project's skills in an agent's prompt: the catalogue, the texts of active ones, and what the agent asks for.

A text that an agent asks for is given to it once, by a second request. It has no effect but on the prompt's data.
"""

import asyncio
import posixpath
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import unquote

from langchain_core.messages import BaseMessage, HumanMessage
from pydantic import BaseModel

from triage.agents.prompts import build_memory_messages, build_messages, fence, format_bullets, make_mark, shorten
from triage.agents.services import Services
from triage.agents.shown_code import format_file
from triage.base.errors import TriageError
from triage.domain.agent_input import AgentInput
from triage.domain.findings import RelevantFile
from triage.domain.skill import MAX_ACTIVE_SKILLS, SKILL_FOLDER, Skill, SkillTier

T = TypeVar("T", bound=BaseModel)
TITLE = "=== Skill Activated: {} ==="
MAX_REFERENCES = 5
"""Files of one skill."""
MAX_REFERENCE_CHARS = 6_000
"""Of all files in one prompt, about 2,000 tokens."""
MIN_REFERENCE_CHARS = 400
"""With less room than this no further file is shown."""
MAX_SUSPECTS = 5
_SELECTION = re.compile(r"SKILL_SELECT:[ \t]*[{`\"']?([A-Za-z0-9][A-Za-z0-9-]{0,63})[}`\"']?")
_SELECTING_FIELDS = ("reasoning", "summary")
"""Fields with an agent's own words. Others quote the issue, whose author must not choose for the agent."""


class SkillPrompts:
    """The skills in the prompts of one agent."""

    def __init__(self, agent_input: AgentInput, services: Services) -> None:
        """Read the texts of the active skills. Reads files of the index: call it in a thread."""
        self._skills = {skill.id: skill for skill in services.codebase.project.skills.skills}
        self._suspects = agent_input.relevant_files
        self._services = services
        self.mark = make_mark(agent_input)
        self._deadline = services.clock() + services.agent_seconds()
        self._reference_chars = MAX_REFERENCE_CHARS
        self.tiers: dict[str, SkillTier] = {}
        """The ledger: skills whose text is in the prompts, and the tier of each."""
        self.shortfalls: list[str] = []
        self.tail = [*build_memory_messages(agent_input, self.mark), *self._show_skills(agent_input.active_skills)]
        """What stands behind the sections of a prompt: what is remembered, and the texts of the active skills."""

    @property
    def catalogue(self) -> str:
        """Id and description of every skill; empty without any."""
        return format_bullets([f"{skill.id}: {skill.description}" for skill in self._skills.values()])

    def build_messages(self, name: str, sections: Mapping[str, str]) -> list[BaseMessage]:
        """Return the prompt of this name with these sections."""
        return build_messages(name, sections, self.tail, self.catalogue, self.mark)

    async def ask(
        self,
        chain: Callable[[list[BaseMessage]], Awaitable[T]],
        messages: list[BaseMessage],
        chain_with_skills: Callable[[list[BaseMessage]], Awaitable[T]] | None = None,
    ) -> T:
        """Return the chain's answer: the one to the prompt with the skills that its first answer asks for, if any.

        If there is no time or budget for a second request, or it fails, the first answer counts.
        """
        first = await chain(messages)
        named = self._list_newly_asked_for(first)
        if not named:
            return remove_selections(first)
        tail = self._show_skills(named)
        try:
            async with asyncio.timeout(self._deadline - self._services.clock() - 1.0):
                return remove_selections(await (chain_with_skills or chain)([*messages, *tail]))
        except (TriageError, TimeoutError) as error:
            for skill in named:
                del self.tiers[skill]
            why = str(error) or "no answer in time"
            self.shortfalls.append(f"with the skills {', '.join(named)}: {why}; answered without them")
            return remove_selections(first)

    def _list_newly_asked_for(self, answer: Any) -> list[str]:
        """Return skills that the answer asks for and the prompt has not shown, as many as there is room for."""
        room = MAX_ACTIVE_SKILLS - len(self.tiers)
        new = [one for one in find_selections(answer) if one in self._skills and one not in self.tiers]
        return new[: max(0, room)]

    def _show_skills(self, ids: Sequence[str] | Mapping[str, SkillTier]) -> list[BaseMessage]:
        return [self._show_skill(self._skills[one]) for one in ids if one in self._skills and one not in self.tiers]

    def _show_skill(self, skill: Skill) -> HumanMessage:
        """Return the message that shows the skill and files that it references, and note its tier."""
        files = read_references(skill, self._services.codebase.read_lines, self._reference_chars)
        self._reference_chars -= sum(map(len, files.values()))
        self.tiers[skill.id] = 3 if files else 2
        # Of the title only the id is not ours, and it has no characters but letters, digits and hyphens.
        text = fence({"project's skill": render_skill(skill, self._suspects, files)}, self.mark).text
        return HumanMessage(f"{TITLE.format(skill.id)}\n\n{text}")


def render_skill(skill: Skill, suspects: Sequence[RelevantFile], files: Mapping[str, str]) -> str:
    """Return a skill as the prompts show it, with today's suspects and the files that it references."""
    context = [format_file(file) for file in suspects[:MAX_SUSPECTS]]
    blocks = [
        f"# {skill.name}",
        f"## Description\n{skill.description}",
        skill.text,
        *(f"## Reference: {path}\n{text}" for path, text in files.items()),
        f"## Context\nSuspects so far:\n{format_bullets(context)}" if context else "",
    ]
    return "\n\n".join(filter(None, blocks))


def read_references(skill: Skill, read_lines: Callable[[str], list[str] | None], max_chars: int) -> dict[str, str]:
    """Return the text of the indexed files that a skill references, by path, in at most `max_chars` characters.

    The index has no secret files, nothing that the project ignores, and nothing outside of the commit.
    """
    texts: dict[str, str] = {}
    for written in skill.references:
        room = max_chars - sum(map(len, texts.values()))
        if len(texts) == MAX_REFERENCES or room < MIN_REFERENCE_CHARS:
            break
        for path in _list_candidates(written):
            lines = read_lines(path) if path not in texts and path != skill.path else None
            if lines:
                texts[path] = shorten("\n".join(lines), room)
                break
    return texts


def _list_candidates(written: str) -> Iterator[str]:
    """Yield what a reference may mean: a path below the skill's folder, then one below the root."""
    path = unquote(written.partition("#")[0].partition("?")[0])
    for folder in () if path.startswith("/") else (SKILL_FOLDER,):
        yield posixpath.normpath(f"{folder}/{path}")
    yield posixpath.normpath(path.lstrip("/"))


def find_selections(answer: BaseModel) -> list[str]:
    """Return the ids of `SKILL_SELECT:{id}` in an answer's own words."""
    texts = [getattr(answer, name, "") for name in _SELECTING_FIELDS]
    return list(dict.fromkeys(one.lower() for text in texts for one in _SELECTION.findall(text)))


def remove_selections(answer: T) -> T:
    """Return the answer without `SKILL_SELECT:{id}`, which nobody else shall read."""
    fields = ((name, getattr(answer, name)) for name in type(answer).model_fields)
    texts = {name: value for name, value in fields if isinstance(value, str) and "SKILL_SELECT" in value}
    changed = {name: _SELECTION.sub("", text).strip() for name, text in texts.items()}
    return answer.model_copy(update=changed) if changed else answer
