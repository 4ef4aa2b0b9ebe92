"""Builds runs of an example for tests."""

from datetime import UTC, datetime
from typing import Any, ClassVar, cast

from triage.domain.issue import Repository
from triage.reproduce.environments.releases import Release
from triage.reproduce.environments.source import Source
from triage.reproduce.evidence import Execution, Expected, Failure, FailurePlace, Selection, Target
from triage.reproduce.example.example import Example, Project
from triage.reproduce.pages import Pages

NOW = datetime(2022, 3, 1, tzinfo=UTC)
CODE = "import shop\n\nshop.total([])\n"
IN_EXAMPLE = FailurePlace(path="<example>", line=2, function="<module>")
IN_SHOP = FailurePlace(path="shop/cart.py", line=12, function="total")
IN_NUMPY = FailurePlace(path="<other>", line=3, function="add")


def failure(text: str = "ValueError: no items", *frames: FailurePlace, **more: Any) -> Failure:
    kind, _, message = text.partition(": ")
    return Failure(type=kind, message=message, causes=[kind], frames=[IN_EXAMPLE, *(frames or (IN_SHOP,))], **more)


def failed(text: str = "ValueError: no items", *frames: FailurePlace, **more: Any) -> Execution:
    fields = {"executed": [IN_SHOP], "runtime": "Python 3.9.18"} | more
    return Execution(outcome="failed", failures=[failure(text, *frames)], **fields)


def passed(output: str = "", **more: Any) -> Execution:
    return Execution(outcome="passed", output=output, **{"executed": [IN_SHOP], "runtime": "Python 3.9.18"} | more)


NOT_INSTALLED = Execution(outcome="could-not-install", reason="no wheel")


def target(on: str, commit: str = "") -> Target:
    return Target(on=on, version="" if commit else on, commit=commit, time=NOW, pythons=["3.9"])


MAIN = target("main", "1a2b3c4" + "0" * 33)


def selection(expected: Expected | None = None, **changes: Any) -> Selection:
    fields: dict[str, Any] = {
        "project": Project(language="python", package="shop", modules=["shop"]),
        "example": Example(
            language="python", code=CODE, changed=["The values of bare expressions are printed, as at a prompt."]
        ),
        "expected": expected or Expected(errors=[failure()]),
        "targets": [target("2.4.1"), MAIN],
        "releases": ["2.3.0", "2.4.0", "2.4.1"],
    }
    return Selection(**fields | changes)


class FakeSource:
    """A repository with the same files at each commit."""

    FILES: ClassVar = {"src/shop/cart.py": "x\n" * 40, "src/shop/money.py": "x\n", "README.md": "x\n"}
    SUBJECTS: ClassVar = {"9f8e7d6" + "0" * 33: "Stack *without* copies (#812)"}

    def resolve(self, name: str) -> str | None:
        commits = {"HEAD": MAIN.commit, "v2.4.1": "2" * 40, MAIN.commit: MAIN.commit} | {
            one: one for one in self.SUBJECTS
        }
        return commits.get(name)

    def list_version_tags(self) -> dict[str, Release]:
        return {"2.4.1": Release(version="2.4.1", time=NOW, commit="2" * 40)}

    def list_paths(self, commit: str) -> list[str]:
        return [*self.FILES]

    def read(self, commit: str, path: str) -> str | None:
        return self.FILES.get(path)

    def read_subject(self, commit: str) -> str:
        return self.SUBJECTS[commit]


def pages() -> Pages:
    """The repository on GitHub."""
    return Pages(cast("Source", FakeSource()), Repository(slug="octo/shop", server_url="https://github.com"))
