"""Which labels an issue gets for what it is about, and what says so."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from testing.each_row import each_row
from triage.domain.code import Place, Span
from triage.domain.issue import Issue
from triage.domain.past_issues import LearnedLabel, PastIssue
from triage.read.area_labels import LABELER, choose_area_labels
from triage.read.read_issue import read_issue

LABELS = [
    "area: cli",
    "affected: 3.2",
    "os/windows",
    "Product-Image Resizer",
    "A-ui",
    "Docker 🐋",
    "🐋",
    "priority: high",
    "bug",
]


def choose(title: str = "", body: str = "", labels: Sequence[str] = LABELS, **given: Any) -> dict[str, str]:
    given = {"rules": "", "places": []} | given
    parsed = read_issue(Issue(title=title, body=body))
    return {one.name: one.reason for one in choose_area_labels(parsed, labels, **given)}


@each_row(
    ("body", "expected"),
    [
        ("### Component\n\ncli", ["area: cli"]),
        ("### Area(s) with issue?\n\nGeneral, Image Resizer, CLI", ["Product-Image Resizer", "area: cli"]),
        ("### Area\n\n- [x] UI\n- [ ] CLI", ["A-ui"]),
        ("### Component\n\nWindows (any version)", ["os/windows"]),
        ("### Operating system\n\nWindows", []),  # where it was seen is not what it is about
        ("It hangs.\n\n- **Component**: cli\n- Operating system: Windows", ["area: cli"]),
        ("It says: cli not found", []),
        ("### How\n\ndocker", ["Docker 🐋"]),
        ("### Priority\n\nhigh", []),
        ("### Component\n\n_No response_", []),
        ("### Steps\n\nStart cli and look", []),
    ],
)
def test_a_field_of_the_form(body: str, expected: list[str]) -> None:
    assert list(choose(body=body)) == expected


def test_the_field_is_named() -> None:
    assert choose(body="### Component\n\ncli") == {"area: cli": "The form's field Component says it"}


def place(path: str, sign: Any = "trace") -> Place:
    return Place(sign=sign, rule="frame", span=Span(path=path, start=1, end=1))


@each_row(
    ("globs", "matches"),
    [
        ("['src/cli/**']", True),
        ("src/**/*.py", True),
        ("['docs/*', 'src/cli/main.{c,py}']", True),
        ("[{changed-files: [{any-glob-to-any-file: ['**/main.py']}]}]", True),
        ("[{changed-files: [{any-glob-to-any-file: 'src/cl?/main.py'}]}, {base-branch: x}]", True),
        ("[{any: ['src/cli/*']}]", True),
        ("[{any: ['src/cli/*'], all: ['!src/cli/main.py']}]", False),
        ("[{changed-files: [{all-globs-to-all-files: ['**']}]}]", False),
        ("['!docs/**', '**', '*.py', '**/*.{c,py}']", False),
        ("['src/*', 'cli/**', 'src/cli/main.p']", False),
        ("[[7, {any: {}}]]", False),
    ],
)
def test_globs_of_the_project(globs: str, matches: bool) -> None:
    found = choose(rules=f"'Area: CLI': {globs}", places=[place("src/cli/main.py")])
    assert found == ({"area: cli": f"`{LABELER}` maps `src/cli/main.py` to it"} if matches else {})
    assert choose(rules=f"'Area: CLI': {globs}", places=[place("src/cli/main.py", "name")]) == {}


@pytest.mark.parametrize("text", ["&a [*a]", "- list", "{", "a: !!python/none x"])
def test_rules_that_cannot_be_read_say_nothing(text: str) -> None:
    assert choose("cli", rules=text, places=[place("a.py")]) == {}


def past(title: str, *labels: str) -> PastIssue:
    return PastIssue(number=1, title=title, labels=list(labels), created_at=datetime(2026, 1, 1, tzinfo=UTC))


KNOWN = past("The cli hangs", "area: cli")
OTHER = past("No cli here", "A-ui")


@each_row(
    ("title", "before", "expected"),
    [
        ("cli: it hangs", [], ["area: cli"]),
        ("[CLI] it hangs", [], ["area: cli"]),
        ("`cli.start` hangs", [], ["area: cli"]),
        ("CLI hangs", [], ["area: cli"]),
        ("Wrong size in the image resizer", [], ["Product-Image Resizer"]),
        ("Since 3.2 it hangs", [], []),
        ("cli: it hangs", [OTHER] * 3, []),
        ("The cli hangs", [KNOWN] * 2, []),
        ("The cli hangs", [KNOWN] * 3, ["area: cli"]),
        ("The cli hangs", [*[KNOWN] * 3, past("The cli hangs")], ["area: cli"]),  # nobody has labelled that one
        ("The cli hangs", [*[KNOWN] * 3, OTHER], []),
        ("The client hangs", [KNOWN] * 3, []),
        ("bug: it hangs", [], []),  # a kind
    ],
)
def test_a_topic_in_the_title(title: str, before: list[PastIssue], expected: list[str]) -> None:
    assert list(choose(title, past=before)) == expected


def test_what_was_learned_comes_last() -> None:
    learned = [LearnedLabel(name=name, probability=0.9) for name in ("A-ui", "area: cli", "priority: high", "gone")]
    assert choose("cli: it hangs", learned=learned) == {
        "area: cli": "The title says `cli`",
        "A-ui": "Similar issues of this repository carry it",
    }
