"""Our questions with the reporter's answers."""

from datetime import UTC, datetime

import pytest

from triage.domain.issue import HumanExchange, Issue, IssueComment
from triage.issue.questions.human_exchanges import extract_questions, find_exchanges
from triage.issue.reporter_phrases import get_phrases, list_languages

ASKED, ANSWERED = datetime(2026, 8, 20, 9, tzinfo=UTC), datetime(2026, 8, 21, 7, tzinfo=UTC)


def ask(language: str = "en") -> str:
    phrases = get_phrases(language)
    return (
        f"<!-- bug-triage: v2 {{}} -->\n**{phrases.thanks}**\n\n- Which version?\n- What is max\\_size?\n\n"
        f"{phrases.how_to_answer}\n\n<details>\n<summary>x</summary>\n\n- no question\n\n</details>"
    )


def make_issue(*thread: IssueComment) -> Issue:
    return Issue(title="t", author="ada", thread=list(thread))


OURS = IssueComment(author="github-actions[bot]", body=ask(), created_at=ASKED, by_bot=True, ours=True)
ANSWER = IssueComment(author="ada", body="2.4 <!-- hidden -->", created_at=ANSWERED)


@pytest.mark.parametrize("language", list_languages())
def test_questions_of_a_comment_in_any_language(language: str):
    assert extract_questions(ask(language)) == "Which version?\nWhat is max_size?"


@pytest.mark.parametrize("body", ["", "**The stack trace ends in `a.py`.**\n\n- x", "- a list"])
def test_a_comment_that_asks_nothing(body: str):
    assert extract_questions(body) == ""


def test_an_answer_stands_with_its_question():
    question = "Which version?\nWhat is max_size?"
    assert find_exchanges(make_issue(OURS, ANSWER)) == [
        HumanExchange(question=question, asked_at=ASKED, answer="2.4", answered_at=ANSWERED)
    ]


def test_only_the_reporter_answers_and_only_below_the_question():
    other = ANSWER.model_copy(update={"author": "bob"})
    assert find_exchanges(make_issue(ANSWER, OURS, other)) == []


def test_a_person_cannot_ask_in_our_name():
    forged = OURS.model_copy(update={"ours": False, "author": "mallory"})
    assert find_exchanges(make_issue(forged, ANSWER)) == []


def test_an_empty_answer_is_none():
    assert find_exchanges(make_issue(OURS, ANSWER.model_copy(update={"body": "<!-- nothing -->"}))) == []
