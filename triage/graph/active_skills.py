"""Which of the project's skills apply to the issue: by their own conditions, or because an agent asked for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from triage.agents.services import Services
from triage.domain.findings import AgentName
from triage.domain.skill import MAX_ACTIVE_SKILLS, SkillTier, UsedSkill
from triage.graph.triage_state import BugTriageState
from triage.read.skills import match_skills

if TYPE_CHECKING:
    from triage.find.codebase import Codebase


LINK_TIER: SkillTier = 1
MAX_SUSPECTS, MAX_SUSPECTS_BY_RULES = 3, 1
"""Whose paths may activate a skill; further ones are weak guesses, which a comment must not be about."""
MAX_NAMED_FILES = 100


def find_matching_skills(state: BugTriageState, codebase: Codebase) -> dict[str, list[str]]:
    """Return the skills whose conditions fit what is known now, by id, with the reasons."""
    skills = codebase.project.skills.skills
    if not skills:
        return {}
    suspects = state.relevant_files[: MAX_SUSPECTS if state.searched_by_model else MAX_SUSPECTS_BY_RULES]
    paths = [*_list_named_files(state, codebase), *(file.path for file in suspects)]
    return match_skills(skills, state.issue, state.parsed.text, list(dict.fromkeys(paths)))


def _list_named_files(state: BugTriageState, codebase: Codebase) -> list[str]:
    frames = [frame.path for trace in state.parsed.traces for frame in reversed(trace.frames)]
    written = list(dict.fromkeys([*frames, *state.parsed.paths]))[:MAX_NAMED_FILES]
    likeliest = [state.best_place.span.path] if state.best_place else []
    return [*likeliest, *(path for path in map(codebase.resolve_path, written) if path)]


def activate_skills(state: BugTriageState, codebase: Codebase) -> dict[str, Any]:
    """Return what changes in the state: skills that apply now and did not before, as far as there is room.

    Looks files up: call it in a thread.
    """
    matching = find_matching_skills(state, codebase)
    room = MAX_ACTIVE_SKILLS - len(state.active_skills)
    new = [skill for skill in matching if skill not in state.active_skills][: max(0, room)]
    if not new:
        return {}
    return {
        "active_skills": state.active_skills | dict.fromkeys(new, LINK_TIER),
        "skill_reasons": state.skill_reasons | {skill: matching[skill] for skill in new},
    }


def record_shown_skills(state: BugTriageState, agent: AgentName, tiers: Mapping[str, SkillTier]) -> dict[str, Any]:
    """Return what changes in the state after an agent whose prompts had the texts of these skills."""
    if not tiers:
        return {}
    asked_for = {skill: [f"asked for by the {agent.replace('_', ' ')}"] for skill in tiers}
    highest = {skill: max(tier, state.active_skills.get(skill, tier)) for skill, tier in tiers.items()}
    return {
        "active_skills": state.active_skills | highest,
        "skill_reasons": asked_for | state.skill_reasons,
        "shown_skill_ids": list(dict.fromkeys([*state.shown_skill_ids, *tiers])),
    }


def list_used_skills(state: BugTriageState, services: Services) -> list[UsedSkill]:
    """Return the active skills as the report has them, with the reasons."""
    skills = {skill.id: skill for skill in services.codebase.project.skills.skills}
    used = (skills[one] for one in state.active_skills if one in skills)
    shared = set(UsedSkill.model_fields)
    return [
        UsedSkill(**skill.model_dump(include=shared), reasons=state.skill_reasons.get(skill.id, [])) for skill in used
    ]


def list_skill_notes(state: BugTriageState, services: Services) -> list[str]:
    """Return which skills could not be read, and which apply but are not used, one sentence each."""
    broken = services.codebase.project.skills.broken
    notes = [f"The skill {one.path} was not used: {one.problem}." for one in broken]
    unused = [skill for skill in find_matching_skills(state, services.codebase) if skill not in state.active_skills]
    if unused and len(state.active_skills) >= MAX_ACTIVE_SKILLS:
        notes.append(f"At most {MAX_ACTIVE_SKILLS} skills are used for an issue. Not used: {', '.join(unused)}.")
    return notes
