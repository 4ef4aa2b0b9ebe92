"""The parts of our comment on an issue: hidden state, report, proposed changes, and the answer to the last command."""

from typing import NamedTuple

PROPOSAL_MARK = "<!-- bug-triage-proposal -->"
ANSWER_MARK = "<!-- bug-triage-answer -->"


class CommentParts(NamedTuple):
    state_line: str
    report: str
    proposal: str = ""
    """The proposed patch; Markdown."""
    answer: str = ""
    """One line about the last command."""


def split_comment(body: str) -> CommentParts:
    """Return the parts of a comment of ours. Text of a report cannot hold a mark: it has no HTML."""
    state_line, _, rest = body.replace("\r\n", "\n").partition("\n")
    rest, _, answer = rest.partition(f"\n{ANSWER_MARK}\n")
    report, _, proposal = rest.partition(f"\n{PROPOSAL_MARK}\n")
    return CommentParts(state_line, report.strip("\n"), proposal.strip("\n"), answer.strip("\n"))


def join_comment(parts: CommentParts) -> str:
    """Return the body of a comment. An empty part leaves no trace."""
    body = f"{parts.state_line}\n{parts.report}\n"
    body += f"\n{PROPOSAL_MARK}\n{parts.proposal}\n" if parts.proposal else ""
    return body + (f"\n{ANSWER_MARK}\n{parts.answer}\n" if parts.answer else "")
