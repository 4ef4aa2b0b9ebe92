"""The project's own settings, from `.github/triage.yml`. `docs/triage.schema.json` is generated from them."""

import re
from typing import Annotated

import re2  # type: ignore[import-untyped]
from pydantic import AfterValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from triage.domain.value import YamlSection

MAX_INSTRUCTION_CHARS = 4_000


def _setting_error(message: str) -> PydanticCustomError:
    return PydanticCustomError("setting", "{message}", {"message": message})


def _check_pattern(text: str) -> str:
    if text.startswith("#"):
        raise _setting_error(r"a pattern that begins with # is a comment; write \# for a name that begins with #")
    if text != text.strip() or not text.isprintable():
        raise _setting_error("a pattern must be printable, without spaces around it")
    try:
        _compile([text])
    except (ValueError, re.error, re2.error):
        raise _setting_error("it is not a valid gitignore pattern") from None
    return text


def _compile(patterns: list[str]) -> None:
    from pathspec import PathSpec  # takes longer than all else here, and few projects have patterns

    PathSpec.from_lines("gitignore", patterns, backend="re2")


def _check_name(text: str) -> str:
    if text != text.strip() or not text.isprintable():
        raise _setting_error("a name must be printable, without spaces around it")
    return text


def _check_owner(text: str) -> str:
    if not re.fullmatch(r"@?[A-Za-z0-9][\w.-]*(/[\w.-]+)?", text, re.ASCII):
        raise _setting_error("an owner must be a login such as octocat, or a team such as acme/core")
    return text.removeprefix("@")


Pattern = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_check_pattern)]
LabelName = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_check_name)]
ModelName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_check_name)]
Owner = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_check_owner)]
UsdPerMillion = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]


class Price(YamlSection):
    """US dollars for a million tokens of a model."""

    input: UsdPerMillion = Field(description="For a million tokens of the prompt.")
    output: UsdPerMillion = Field(description="For a million tokens of the answer, reasoning included.")
    cached_input: UsdPerMillion | None = Field(
        None,
        description="For a million tokens of the prompt that the provider had cached. Defaults to the price of input.",
    )
    cache_write: UsdPerMillion | None = Field(
        None,
        description="For a million tokens of the prompt that the provider caches. Defaults to the price of input.",
    )


class Labels(YamlSection):
    """Which labels may be suggested or applied."""

    allow: list[LabelName] = Field(
        default_factory=list,
        max_length=200,
        description="The only labels that are suggested or applied. If empty, all labels of the repository except "
        "those that may start something, such as `approved` or `deploy`.",
    )


def _check_place(text: str) -> str:
    parts = text.removeprefix("./").removesuffix("/").split("/")
    if text != "./" and not all(part not in ("", ".", "..") for part in parts):
        raise _setting_error(
            "it must be a folder or file of the repository such as src/api/, or ./ for files at the top"
        )
    return text if text == "./" else text.removeprefix("./")


ModulePath = Annotated[
    str, Field(min_length=1, max_length=200), AfterValidator(_check_name), AfterValidator(_check_place)
]


class ModuleConfig(YamlSection):
    """A part of the repository to which a fix can be limited."""

    paths: list[ModulePath] = Field(
        min_length=1, max_length=50, description="Folders and files, and `./` for the files at the top."
    )
    description: str | None = Field(None, min_length=1, max_length=300, description="What it does, for the agents.")


class LanguageConfig(YamlSection):
    """How an example in this language is run."""

    file: str = Field(
        min_length=1,
        max_length=200,
        pattern=r"^[\w.-]+(?:/[\w.-]+)*$",
        description="Path in the checkout of the version that the example is written to.",
    )
    setup: str = Field(
        "",
        max_length=MAX_INSTRUCTION_CHARS,
        description="Shell lines that make the version ready, with network and before the example is there.",
    )
    build: str = Field(
        "",
        max_length=MAX_INSTRUCTION_CHARS,
        description="Shell lines that compile the example, without network. They print nothing if they succeed.",
    )
    run: str = Field(
        min_length=1, max_length=MAX_INSTRUCTION_CHARS, description="Shell lines that run the example, without network."
    )


LanguageName = Annotated[str, Field(min_length=1, max_length=30, pattern=r"^[\w+#-]+$")]


class ReproduceConfig(YamlSection):
    """How the example of a report is run."""

    package: str = Field(
        "",
        max_length=100,
        pattern=r"^(?:(?:@[\w.-]+/)?[A-Za-z0-9][\w.-]*)?$",
        description="The project's own package on PyPI or npm: releases are read off tags, and each is installed from "
        "there, with packages until 14 days later. Without it, nothing of a registry is run. With `languages`, a word "
        "that an example must have.",
    )
    setup: str = Field(
        "",
        max_length=MAX_INSTRUCTION_CHARS,
        description="Shell lines that install a version into the active environment, such as `pip install .[all]`. "
        "Defaults to a wheel without extras, or `npm install`.",
    )
    prelude: str = Field(
        "",
        max_length=MAX_INSTRUCTION_CHARS,
        description="Lines that reports leave out, such as `from shop import *`. They are added to an example whose "
        "only undefined names they define.",
    )
    image: str = Field(
        "",
        max_length=200,
        pattern=r"^(?:[a-z0-9][\w./:@-]*)?$",
        description="The image for `languages`, such as `rust:1-slim`. It has a shell.",
    )
    languages: dict[LanguageName, LanguageConfig] = Field(
        default_factory=dict,
        max_length=10,
        description="How examples are run, by the language of their code block. Without it, Python and Node.",
    )

    @field_validator("languages")
    @classmethod
    def _check_image(cls, languages: dict[str, LanguageConfig], info: ValidationInfo) -> dict[str, LanguageConfig]:
        if languages and not info.data.get("image"):
            raise _setting_error("image must name the image that they are run in")
        if languages and (info.data.get("setup") or info.data.get("prelude")):
            raise _setting_error("each has its own setup: setup and prelude of reproduce are for Python and Node")
        return languages


class ProjectConfig(YamlSection):
    """The project's own settings: guidance and limits. None of them permits a write."""

    ignore: list[Pattern] = Field(
        default_factory=list,
        max_length=100,
        description="Paths that are not indexed, as gitignore patterns. The last pattern that matches a file, or a "
        "folder that the file is in, decides.",
    )
    labels: Labels = Field(default_factory=Labels, description="Labels that may be suggested or applied.")
    opt_in_label: Annotated[str, Field(max_length=100), AfterValidator(_check_name)] = Field(
        "", description="If set, only issues with this label are triaged, and adding it starts a triage."
    )
    opt_out_label: Annotated[str, Field(max_length=100), AfterValidator(_check_name)] = Field(
        "", description="Issues with this label are not triaged."
    )
    attachments: bool = Field(
        True,
        description="Whether texts, logs and archives of them are read that the issue and its reporter's comments link "
        "to on GitHub, and pictures that they show, for a model that takes them. They are fetched without a token.",
    )
    documentation: bool = Field(
        True,
        description="Whether sections of the repository's documentation are looked up for questions and feature "
        "requests: for the page of the job, and for a model, which may quote a line.",
    )
    instructions: str = Field(
        "",
        max_length=MAX_INSTRUCTION_CHARS,
        description="What the agents should know about this project. Guidance, never permissions.",
    )
    prices: dict[ModelName, Price] = Field(
        default_factory=dict,
        max_length=100,
        description="US dollars for a million tokens, by the model's name. Overrides the built-in prices.",
    )
    past_issues: int = Field(
        500,
        ge=0,
        le=1_000,
        description="How many of the repository's latest issues to compare with: for possible duplicates, past fixes "
        "and labels. 0 reads none.",
    )
    owners: dict[Owner, Owner] = Field(
        default_factory=dict,
        max_length=500,
        description="Owner in CODEOWNERS, to the login or team that is named as assignee instead.",
    )
    protected_paths: list[Pattern] = Field(
        default_factory=list,
        max_length=100,
        description="Paths that no proposed fix may change, as gitignore patterns. Workflows, lock files, generated "
        "files and names that begin with a dot are protected anyway.",
    )
    modules: dict[LabelName, ModuleConfig] = Field(
        default_factory=dict,
        max_length=40,
        description="The parts of the repository to which a proposed fix is limited, by name. Without them, the "
        "folders of the sources count.",
    )

    reproduce: ReproduceConfig = Field(
        default_factory=ReproduceConfig, description="How `bug-triage reproduce` runs the example of a report."
    )

    @field_validator("ignore", "protected_paths")
    @classmethod
    def _check_size(cls, patterns: list[str]) -> list[str]:
        try:
            _compile(patterns)
        except re2.error:
            raise _setting_error("the patterns are too long together") from None
        return patterns

    def resolve_assignee(self, owner: str) -> str:
        """Who is named as assignee for an owner: the alias, or the owner."""
        return next((alias for name, alias in self.owners.items() if name.casefold() == owner.casefold()), owner)
