"""The repository's own guidance for triage: `.github/triage/skills/<id>.md`. Guidance, never permissions."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from triage.domain.project_config import LabelName, Pattern
from triage.domain.value import Value, YamlSection

SkillTier = Literal[1, 2, 3]
"""1 for a skill that is only linked, 2 with its text in a prompt, 3 with files that the text references."""
SKILL_FOLDER = ".github/triage/skills"
MAX_ACTIVE_SKILLS = 3
"""Of one run. Each takes up to 2,000 tokens of every later prompt."""
MAX_DESCRIPTION_CHARS = 200
"""All descriptions stand in every prompt."""


def _join_lines(text: Any) -> Any:
    return " ".join(text.split()) if isinstance(text, str) else text


def _check_word(text: str) -> str:
    if not re.search(r"\w", text):
        raise PydanticCustomError("setting", "a word needs a letter or a digit")
    return " ".join(text.split())


def _check_approval(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", text):
        raise PydanticCustomError("setting", "use true, false, or the name of a checkpoint such as pre-release")
    return text


Description = Annotated[str, Field(min_length=1, max_length=MAX_DESCRIPTION_CHARS), BeforeValidator(_join_lines)]
Word = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_check_word)]


class SkillConditions(YamlSection):
    """When a skill applies by itself: one entry of any of the lists is enough."""

    labels: list[LabelName] = Field(default_factory=list, max_length=50)
    """The issue has the label, in any case."""
    paths: list[Pattern] = Field(default_factory=list, max_length=50)
    """Gitignore patterns of files that the issue names, or of the first suspects."""
    words: list[Word] = Field(default_factory=list, max_length=100)
    """Whole words of the issue's title and text, in any case."""


class SkillHeader(YamlSection):
    """The front matter of a skill."""

    description: Description
    when: SkillConditions = SkillConditions()
    requires_approval: Annotated[str, AfterValidator(_check_approval)] = "false"


class Skill(Value):
    id: str
    """The file's name without `.md`."""
    path: str
    name: str
    """Its first heading, or the id."""
    description: str
    when: SkillConditions = SkillConditions()
    requires_approval: bool = False
    """Whether a person must approve what follows from it. A skill never approves anything."""
    checkpoint_type: str = ""
    """What must be approved, by the skill's own name; empty if it names nothing."""
    text: str = ""
    """As Markdown, without the heading that is its name."""
    references: list[str] = Field(default_factory=list)
    """Links and code spans of the text that may be paths, as written."""


class BrokenSkill(Value):
    """A file that cannot be used, and why: one sentence."""

    path: str
    problem: str


class Skills(Value):
    """All skills of the indexed commit, sorted by id."""

    skills: list[Skill] = Field(default_factory=list)
    broken: list[BrokenSkill] = Field(default_factory=list)


class UsedSkill(Value):
    """A skill that applied to an issue, for the report."""

    id: str
    """The file's name without `.md`."""
    name: str
    """Its first heading, or the id."""
    description: str
    """What it is about, in the project's words."""
    path: str
    """Path of its file."""
    reasons: list[str] = Field(default_factory=list)
    """Why it applied, in words of ours that may quote the skill, such as "the label `payments`"."""
    requires_approval: bool = False
    """Whether a person must approve what follows from it."""
    checkpoint_type: str = ""
    """What must be approved, by the skill's own name; empty if it names nothing."""
