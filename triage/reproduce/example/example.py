"""The reporter's own example, as it will be run."""

from typing import Literal, get_args

from pydantic import Field

from triage.domain.project_config import LanguageConfig
from triage.domain.value import Value

Refusal = Literal["no-block", "does-not-parse", "does-not-import-the-project", "calls-nothing", "undefined-names"]
"""Why a report has no example."""
REFUSALS: tuple[Refusal, ...] = get_args(Refusal)
"""The nearest to an example last."""

MAX_EXAMPLE_CHARS = 20_000
MAX_SHOWN = 50


class Shown(Value):
    """What a report says of the output of its example."""

    shown: list[list[str]] = Field(default_factory=list, max_length=MAX_SHOWN)
    """What it shows as printed: alternatives, such as of two versions; the parts of each in order."""
    named: list[str] = Field(default_factory=list, max_length=MAX_SHOWN)
    """What may be printed: a value in a sentence, a block without words, the output of a command with arguments."""
    commented: list[str] = Field(default_factory=list, max_length=MAX_SHOWN)
    """What comments of its code show without a word: it may be printed, or wished."""
    wished: list[str] = Field(default_factory=list, max_length=MAX_SHOWN)
    """What ought to be printed, or is on another version."""

    @property
    def printed(self) -> list[list[str]]:
        return self.shown or [[one] for one in self.named or self.commented]


class Example(Shown):
    language: str = Field(max_length=30)
    """`python`, `node`, or its name in the settings."""
    code: str = Field(max_length=MAX_EXAMPLE_CHARS)
    is_session: bool = False
    """It was typed at a prompt: an error does not end it, and the value of a bare expression is shown."""
    changed: list[str] = Field(default_factory=list, max_length=20)
    """What was done to the reporter's text, a sentence each."""


class NoExample(Value):
    reason: Refusal
    names: list[str] = Field(default_factory=list)
    """The names that it does not define, for `undefined-names`."""


class Project(Value):
    """What an example must use to be one."""

    language: Literal["python", "node", "other"]
    package: str
    """Its name in the registry."""
    modules: list[str] = Field(default_factory=list)
    """What can be imported, such as `sklearn`. For Node the package's name."""
    exports: dict[str, str] = Field(default_factory=dict, exclude=True)
    """The module that each public name is imported from. Only needed to find the example."""
    readme: dict[str, str] = Field(default_factory=dict, exclude=True)
    """The statement by which the README imports each name; for Node `()` if it calls what it takes. As `exports`."""
    folder: str = ""
    """In which it stands in the files of a version, with a slash; empty for the repository itself."""
    companions: list[str] = Field(default_factory=list)
    """Packages that the example imports beside the project, as far as the project's own files name them."""
    prelude: str = ""
    """Lines of the project's settings for examples that use names without defining them."""
    setup: str = ""
    """How a commit is installed, by the settings; empty without."""
    image: str = ""
    languages: dict[str, LanguageConfig] = Field(default_factory=dict)
    """How examples are run, by the settings; once there is an example, only that of its language."""

    @property
    def recipe(self) -> LanguageConfig | None:
        """How its example is run; None for Python and Node, whose recorders do it."""
        return next(iter(self.languages.values()), None)
