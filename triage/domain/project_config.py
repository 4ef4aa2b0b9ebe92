"""The project's own settings, from `.github/triage.yml`: what is too long for an input.

One source for the parser (`settings/project.py`) and for the schema that editors read (`docs/triage.schema.json`).
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Annotated, Any

import re2  # type: ignore[import-untyped]
from pathspec import PathSpec
from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from triage.domain.value import Value

MAX_INSTRUCTION_CHARS = 4_000


def _setting_error(message: str) -> PydanticCustomError:
    return PydanticCustomError("setting", "{message}", {"message": message})


def _check_pattern(text: str) -> str:
    if text.startswith("#"):
        raise _setting_error(r"a pattern that begins with # is a comment; write \# for a name that does")
    if text != text.strip() or not text.isprintable():
        raise _setting_error("a pattern is printable and has no blanks around it")
    try:
        _compile([text])
    except (ValueError, re.error, re2.error):
        raise _setting_error("it is not a valid gitignore pattern") from None
    return text


def _compile(patterns: list[str]) -> None:
    PathSpec.from_lines("gitignore", patterns, backend="re2")


def _check_name(text: str) -> str:
    if text != text.strip() or not text.isprintable():
        raise _setting_error("a name is printable and has no blanks around it")
    return text


def _check_owner(text: str) -> str:
    if not re.fullmatch(r"@?[A-Za-z0-9][\w.-]*(/[\w.-]+)?", text, re.ASCII):
        raise _setting_error("an owner is a login such as octocat, or a team such as acme/core")
    return text.removeprefix("@")


Pattern = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_check_pattern)]
LabelName = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_check_name)]
ModelName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_check_name)]
Owner = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_check_owner)]
Description = Annotated[str, Field(min_length=1, max_length=300)]
UsdPerMillion = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]


class _Section(Value):
    """A piece of the file: keys are written with hyphens, and a key without a value is not there."""

    model_config = ConfigDict(alias_generator=lambda name: name.replace("_", "-"), populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        return {key: value for key, value in data.items() if value is not None} if isinstance(data, dict) else data


class Price(_Section):
    """US dollars for a million tokens of a model."""

    input: UsdPerMillion = Field(description="For a million tokens of the prompt.")
    output: UsdPerMillion = Field(description="For a million tokens of the answer, reasoning included.")
    cached_input: UsdPerMillion | None = Field(
        None, description="For a million tokens of the prompt that the provider had cached; as input unless told."
    )


TRIGGER_WORDS = re.compile(
    r"(?:accept|approv|auto-?(?:fix|merg|deploy|land)|backport|codegen|de-?ploy|gitauto|implement|merg[ei]|openhands"
    r"|publish|rebas|releas|revert|roll-?back|trigger|trusted|verif"
    r"|(?:agent|aider|allow(?:ed)?|bounty|cherry|claude|close[ds]?|codex|copilot|cursor|devin|exec(?:ute)?|fix|fixme"
    r"|gemini|jules|land(?:ed)?|lgtm|lock(?:ed)?|ok|paid|preview|ready|rerun|retest|run|safe|ship|shipit|signed|spam"
    r"|stale|sweep)$)"
)
"""Words, and beginnings of words, in labels that start, permit or end something in many repositories: tests of a
stranger's code, merging, releasing, coding agents, bots that close."""


def _sounds_like_trigger(label: str) -> bool:
    words = re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", unicodedata.normalize("NFKC", label).casefold())
    return any(TRIGGER_WORDS.match(part) for word in words for part in (word, *word.split("-")))


class Labels(_Section):
    """Which labels may be suggested or applied, and when they fit."""

    allow: list[LabelName] = Field(
        default_factory=list,
        max_length=200,
        description="The only labels that are suggested or applied. When empty, all of the repository's but those "
        "whose name sounds as if it set something off, such as `approved` or `deploy`.",
    )
    describe: dict[LabelName, Description] = Field(
        default_factory=dict, max_length=200, description="When a label fits, for the writer."
    )


class ProjectConfig(_Section):
    """What a project may say about its triage. Guidance and limits; nothing in it permits an effect."""

    ignore: list[Pattern] = Field(
        default_factory=list,
        max_length=100,
        description="Paths that are not indexed, as gitignore patterns. The last pattern that matches a file, or a "
        "folder that the file is in, decides.",
    )
    labels: Labels = Field(default_factory=Labels, description="Labels that may be suggested or applied.")
    opt_in_label: Annotated[str, Field(max_length=100), AfterValidator(_check_name)] = Field(
        "", description="With it, only issues that carry the label are triaged, and adding it starts a triage."
    )
    opt_out_label: Annotated[str, Field(max_length=100), AfterValidator(_check_name)] = Field(
        "", description="Issues that carry it are left alone."
    )
    instructions: str = Field(
        "",
        max_length=MAX_INSTRUCTION_CHARS,
        description="What the agents should know about this project. Guidance, never permissions.",
    )
    prices: dict[ModelName, Price] = Field(
        default_factory=dict,
        max_length=100,
        description="US dollars for a million tokens, by the model's name; wins over the built-in table.",
    )
    owners: dict[Owner, Owner] = Field(
        default_factory=dict,
        max_length=500,
        description="Owner as CODEOWNERS writes it, to who is suggested as assignee instead.",
    )

    @field_validator("ignore")
    @classmethod
    def _check_size(cls, patterns: list[str]) -> list[str]:
        try:
            _compile(patterns)
        except re2.error:
            raise _setting_error("the patterns are too long together") from None
        return patterns

    @field_validator("opt_out_label")
    @classmethod
    def _check_labels_differ(cls, label: str, info: ValidationInfo) -> str:
        if label and label.casefold() == str(info.data.get("opt_in_label", "")).casefold():
            raise _setting_error("it is the opt-in label too, so that nothing would ever be triaged")
        return label

    def allowed_labels(self, labels: Iterable[str]) -> list[str]:
        """Those of the repository's labels that may be suggested; never one that steers this action.

        A label can start a workflow with more rights than ours, so one that sounds like it must be allowed by name.
        """
        allowed = {name.casefold() for name in self.labels.allow}
        steering = {self.opt_in_label.casefold(), self.opt_out_label.casefold()}

        def fits(label: str) -> bool:
            return label.casefold() in allowed if allowed else not _sounds_like_trigger(label)

        return [label for label in labels if label.casefold() not in steering and fits(label)]

    def label_description(self, label: str) -> str:
        """When a label fits; empty when nobody said."""
        wanted = label.casefold()
        return next((said for name, said in self.labels.describe.items() if name.casefold() == wanted), "")

    def resolve_assignee(self, owner: str) -> str:
        """Who is named in place of an owner: the alias, or the owner."""
        wanted = owner.casefold()
        return next((alias for name, alias in self.owners.items() if name.casefold() == wanted), owner)
