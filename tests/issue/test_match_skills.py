"""When a skill applies by its own conditions."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing import factories
from triage.domain.skill import Skill, SkillConditions
from triage.issue.match_skills import match_skills


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


@pytest.mark.parametrize(
    ("word", "text", "applies"),
    [
        ("refund", "a refund.", True),
        ("refund", "refunds", False),
        ("refund", "prerefund", False),
        ("refund", "pre-refund", True),
        ("refund", "my_refund", False),
        ("charge back", "Charge\n  back", True),
        ("C++", "in C++ and", True),
        ("C++", "C+ +", False),
        ("--force", "git push --force", True),
        ("--force", "a--force-with", True),
        ("stra\u00dfe", "STRASSE", True),
        ("\u9000\u6b3e", "\u6211\u7684\u9000\u6b3e\u5931\u8d25", True),
        ("\ud658\ubd88", "\ud658\ubd88\uc774 \uc548 \ub3fc\uc694", True),
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
