"""Finds the questions that our comments ask, and the reporter's answers to them."""

from triage.domain.issue import HumanExchange, Issue, IssueComment
from triage.issue.reporter_phrases import get_phrases, list_languages
from triage.issue.visible_text.visible_text import extract_visible_page

MAX_EXCHANGES = 10
MAX_ANSWER_CHARS = 4_000


def find_exchanges(issue: Issue) -> list[HumanExchange]:
    """Return each comment of the reporter below a comment of ours that asks something, with that question.

    Oldest first. A comment of ours that was updated since asks what it asks now.
    """
    exchanges: list[HumanExchange] = []
    asking: IssueComment | None = None
    question = ""
    for comment in issue.thread:
        if comment.ours:
            asking, question = comment, extract_questions(comment.body)
        elif asking and question and _is_answer(comment, issue):
            answer = extract_visible_page(comment.body).text[:MAX_ANSWER_CHARS]
            exchanges.append(
                HumanExchange(
                    question=question, asked_at=asking.created_at, answer=answer, answered_at=comment.created_at
                )
            )
    return [exchange for exchange in exchanges if exchange.answer.strip()][-MAX_EXCHANGES:]


def _is_answer(comment: IssueComment, issue: Issue) -> bool:
    return comment.author == issue.author and not (comment.by_bot or comment.is_shortened)


def extract_questions(body: str) -> str:
    """Return the questions of a comment of ours, one a line; empty when it asks nothing."""
    phrases = [get_phrases(language) for language in list_languages()]
    openings = {f"**{phrase.thanks}**" for phrase in phrases}
    closings = {phrase.how_to_answer for phrase in phrases}
    questions: list[str] = []
    is_inside = False
    for line in body.splitlines():
        if line.strip() in openings:
            is_inside = True
        elif line.strip() in closings:
            break
        elif is_inside and line.startswith("- "):
            questions.append(extract_visible_page(line.removeprefix("- ")).text)
    return "\n".join(questions)
