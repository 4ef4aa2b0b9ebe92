"""Skills as files: what is read, what is refused and why, and when one applies by its own conditions."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing import factories
from testing.cost_growth import assert_grows_linearly
from testing.each_row import each_row
from triage.domain.skill import BrokenSkill, Skill, SkillConditions
from triage.read.skills import MAX_BODY_CHARS, MAX_SKILL_BYTES, match_skills, parse_skill

FOLDER = ".github/triage/skills"
WHOLE = """\
---
description: >
  Refunds
  and chargebacks
when:
  labels: [payments, 1.0]
  paths: [src/pay/**, "!src/pay/vendor/"]
  words: [refund, charge  back]
requires-approval: pre-release
---
# Refunds and *chargebacks* #

Be exact.

## Steps
1. Read [the rules](../../../docs/refunds.md#partial), not [the site](https://pay.test/x.md).

```sh
## no heading
```

## Output Format ##
Name the currency of `src/pay/money.py`, not of `amount`.
"""


def read(text: str | bytes, name: str = "refunds.md") -> Skill | BrokenSkill:
    return parse_skill(f"{FOLDER}/{name}", text if isinstance(text, bytes) else text.encode())


def refusal(text: str | bytes, name: str = "refunds.md") -> str:
    broken = read(text, name)
    assert isinstance(broken, BrokenSkill), broken
    assert broken.path == f"{FOLDER}/{name}"
    assert broken.problem.isprintable()
    return broken.problem


def test_every_key_is_read_and_the_text_as_it_stands():
    assert read(WHOLE) == Skill(
        id="refunds",
        path=f"{FOLDER}/refunds.md",
        name="Refunds and *chargebacks*",
        description="Refunds and chargebacks",
        when=SkillConditions(
            labels=["payments", "1.0"], paths=["src/pay/**", "!src/pay/vendor/"], words=["refund", "charge back"]
        ),
        requires_approval=True,
        checkpoint_type="pre-release",
        text=WHOLE.partition(" #\n\n")[2].strip(),
        references=["../../../docs/refunds.md#partial", "src/pay/money.py"],
    )


def test_a_description_and_a_text_are_enough():
    found = read("---\ndescription: Crashes\n---\nLook at the log.\n", "app-crash-2.md")
    assert isinstance(found, Skill)
    assert (found.id, found.name, found.when) == ("app-crash-2", "app-crash-2", SkillConditions())
    assert (found.requires_approval, found.checkpoint_type) == (False, "")
    assert found.text == "Look at the log."


@pytest.mark.parametrize(
    ("written", "approval"), [("true", (True, "")), ("false", (False, "")), ("labels", (True, "labels")), ("", None)]
)
def test_a_skill_may_ask_for_approval(written: str, approval: tuple[bool, str] | None):
    found = read(f"---\ndescription: a\nrequires-approval: {written}\n---\ntext")
    assert isinstance(found, Skill)
    assert (found.requires_approval, found.checkpoint_type) == (approval or (False, ""))


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_line_ends_of_every_system_are_read(ends: str):
    assert read(WHOLE.replace("\n", ends)) == read(WHOLE)
    assert read("\ufeff" + WHOLE) == read(WHOLE)


def test_invisible_characters_and_likely_secrets_are_removed():
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    found = read(f"---\ndescription: a\u200b\u202eb\n---\nUse {token} here.\u2066")
    assert isinstance(found, Skill)
    assert found.description == "ab"
    assert found.text == "Use [masked secret] here."


@each_row(
    ("text", "problem"),
    [
        ("", "line 1: the file must begin with front matter between two lines `---`, with a description"),
        ("---\ndescription: a\n", "line 1: the file must begin with front matter between two lines `---`, with a desc"),
        ("---\n---\ntext", "line 1: description is missing"),
        (
            "---\nwhen: {labels: x}\n---\ntext",
            "line 1: description: Field required; line 2: when.labels: Input should be a",
        ),
        (
            "---\ndescription: a\nwhen:\n  label: [x]\n---\nb",
            "line 3: when.'label' is not a known key (did you mean",
        ),
        ("---\ndescription: a\ntools: [shell]\n---\nb", "line 3: 'tools' is not a known key"),
        ("---\ndescription: ''\n---\nb", "line 2: description: String should have at least 1 character"),
        (f"---\ndescription: {'a' * 201}\n---\nb", "line 2: description: String should have at most 200"),
        ("---\ndescription: a\nwhen: {words: ['--']}\n---\nb", "line 3: when.words: a word needs a letter or a digit"),
        ("---\ndescription: a\nwhen: {paths: ['#a']}\n---\nb", "line 3: when.paths: a pattern that begins with # is a"),
        ("---\ndescription: a\nrequires-approval: Yes, all\n---\nb", "line 3: requires-approval: use true, false, or"),
        (
            "---\ndescription: a\ndescription: b\n---\nc",
            "line 3: this YAML cannot be used (duplicate key 'description')",
        ),
        ("---\ndescription: a\n---\n \n", "there is no text below the front matter"),
        (f"---\ndescription: a\n---\n{'b' * (MAX_BODY_CHARS + 1)}", "the text has 6,001 characters; 6,000 are allowed"),
        (b"---\ndescription: a\n---\n\xff", "line 4: this is not UTF-8 text"),
        (b"x" * (MAX_SKILL_BYTES + 1), "line 1: the file has 32,769 bytes; 32,768 are allowed"),
    ],
)
def test_a_broken_file_says_what_is_wrong(text: str | bytes, problem: str):
    assert refusal(text).startswith(problem)


@pytest.mark.parametrize("name", ["Refunds.md", "re_funds.md", "-a.md", f"{'a' * 65}.md", ".md", "ref unds.md", "é.md"])
def test_a_name_is_an_id(name: str):
    assert refusal(WHOLE, name).startswith("the name of the file may have small letters, digits and hyphens")


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_no_bytes_raise(data: bytes):
    for text in (data, b"---\n" + data + b"\n---\n" + data, b"---\ndescription: a\n---\n" + data):
        found = read(text)
        if isinstance(found, BrokenSkill):
            assert found.problem.isprintable()
        else:
            assert len(found.description) <= 200
            assert found.text == found.text.strip()


@each_row("piece", ["](", "`a", "```\n", "## a\n", "[a](b)", "---\n", " ", "# "])
def test_time_grows_with_the_text(piece: str):
    def build(size: int) -> bytes:
        return f"---\ndescription: a\n---\n{piece * (min(size, MAX_BODY_CHARS) // len(piece))}".encode()

    assert_grows_linearly(build, lambda data: parse_skill(f"{FOLDER}/a.md", data), MAX_BODY_CHARS // 4)


def test_the_page_of_the_documentation_has_an_example_that_is_read():
    page = Path(__file__).parents[2].joinpath("docs", "skills.md").read_text(encoding="utf-8")
    example = page.partition("````markdown\n")[2].partition("````")[0]
    found = read(example, "refunds.md")
    assert isinstance(found, Skill), found
    assert all([found.when.labels, found.when.paths, found.when.words])
    assert found.requires_approval
    assert found.references


def skill(name: str = "refunds", **when: list[str]) -> Skill:
    return Skill(
        id=name, path=f".github/triage/skills/{name}.md", name=name, description="d", when=SkillConditions(**when)
    )


def match(*skills: Skill, text: str = "", paths: list[str] | None = None, **issue: Any) -> dict[str, list[str]]:
    return match_skills(skills, factories.issue(**issue), text, paths or [])


def test_one_entry_of_one_condition_is_enough():
    given_skill = skill(labels=["payments", "money"], paths=["src/pay/"], words=["refund"])
    assert match(given_skill) == {}
    assert match(given_skill, labels=["Money"]) == {"refunds": ["the label `money`"]}
    assert match(given_skill, paths=["README.md", "src/pay/a.py"]) == {"refunds": ["the file `src/pay/a.py`"]}
    assert match(given_skill, text="No REFUND came") == {"refunds": ["the word `refund`"]}


def test_a_skill_without_conditions_never_applies_by_itself():
    assert match(skill(), labels=["bug"], text="refunds", paths=["refunds"]) == {}


def test_all_reasons_are_given_and_the_strongest_skill_is_first():
    found = match(
        skill("a", words=["refund"]),
        skill("b", paths=["*.py"]),
        skill("c", labels=["bug"], words=["refund"]),
        skill("d", words=["nothing"]),
        labels=["bug"],
        paths=["x.py"],
        text="refund",
    )
    assert list(found) == ["c", "b", "a"]
    assert found["c"] == ["the label `bug`", "the word `refund`"]


@each_row(
    ("word", "text", "applies"),
    [
        ("refund", "a refund.", True),
        ("refund", "refunds", False),
        ("refund", "pre-refund", True),
        ("refund", "my_refund", False),
        ("charge back", "Charge\n  back", True),
        ("C++", "in C++ and", True),
        ("C++", "C+ +", False),
        ("--force", "a--force-with", True),
        ("stra\u00dfe", "STRASSE", True),
        ("\u9000\u6b3e", "\u6211\u7684\u9000\u6b3e\u5931\u8d25", True),
    ],
)
def test_words_are_whole_words_in_any_case(word: str, text: str, applies: bool):
    assert bool(match(skill(words=[word]), text=text)) is applies


@pytest.mark.parametrize(
    ("patterns", "path", "applies"),
    [
        (["src/pay"], "src/pay/deep/a.py", True),
        (["pay/"], "src/pay/a.py", True),
        (["/pay/"], "src/pay/a.py", False),
        (["src/pay/**", "!src/pay/vendor/"], "src/pay/vendor/a.py", False),
        (["*.sql"], "db/a.sql", True),
    ],
)
def test_paths_are_gitignore_patterns(patterns: list[str], path: str, applies: bool):
    assert bool(match(skill(paths=patterns), paths=[path])) is applies


@given(st.from_regex(r"[^\s]{0,3}\w[^\0]{0,9}", fullmatch=True), st.text(max_size=200))
def test_a_word_that_stands_alone_is_found_in_any_text(word: str, rest: str):
    found = match(skill(words=[word]), text=f"{rest} {word} {rest}")
    assert list(found) == ["refunds"]
