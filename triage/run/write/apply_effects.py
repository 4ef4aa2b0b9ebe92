"""Applies effects in order. If one fails, the result says so and the others are still applied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triage.base.errors import CannotPublish, NoSuchComment, SetupError
from triage.domain.effect import (
    AddLabels,
    EditComment,
    Effect,
    PostComment,
    React,
    RemoveComment,
    SuggestChanges,
)
from triage.run.write.apply_job_effects import PublishResult
from triage.run.write.plan_suggestions import describe_suggestions
from triage.say.our_comment import choose_body, find_our_comment, find_our_comments, find_surplus_comments

if TYPE_CHECKING:
    from triage.outside.github.issue_tracker import IssueTracker


DUPLICATES_UNKNOWN = (
    "The comment was written, but GitHub did not say whether another run wrote one at the same time: if there are two, "
    "the next run removes the second."
)


def apply_issue_effects(effects: Sequence[Effect], github: IssueTracker, result: PublishResult) -> None:
    """Applies the effects that need the network. `result` is up to date at any time: a caller may stop waiting."""
    for effect in effects:
        try:
            match effect:
                case PostComment():
                    _post_and_deduplicate(effect, github, result)
                case EditComment():
                    _edit_comment(effect, github, result)
                case RemoveComment():
                    github.delete_comment(effect.issue_number, effect.comment_id)
                case AddLabels():
                    github.add_labels(effect.issue_number, effect.labels)
                case SuggestChanges():
                    _suggest(effect, github, result)
                case React():
                    github.react(effect.comment_id, effect.reaction)
        except (CannotPublish, SetupError) as error:
            result.add_failure(error)


def _post_and_deduplicate(effect: PostComment, github: IssueTracker, result: PublishResult) -> None:
    """Post a comment; if others of ours are there then, the oldest one stays, with the better text."""
    number = effect.issue_number
    posted_id, result.comment_url = github.post_comment(number, effect.body)
    try:
        # The oldest stays. Each run that sees several decides, so a killed run leaves none behind.
        issue = github.fetch_issue(number, posted_id)
        oldest = find_our_comment(issue)
        if oldest is None:
            return
        if (body := choose_body(issue, oldest, effect.body)) is not None:
            github.edit_comment(oldest.comment_id or 0, body)
        for comment_id in find_surplus_comments(issue, body or oldest.body, posted_id):
            github.delete_comment(number, comment_id)
        if oldest.comment_id != posted_id and issue.url:
            result.comment_url = f"{issue.url}#issuecomment-{oldest.comment_id}"
    except (CannotPublish, SetupError):
        result.annotations.append(("notice", DUPLICATES_UNKNOWN))


def _edit_comment(effect: EditComment, github: IssueTracker, result: PublishResult) -> None:
    """Edit our comment; if it is gone, another one of ours, or post it anew."""
    try:
        result.comment_url = github.edit_comment(effect.comment_id, effect.body)
    except NoSuchComment as missing:  # somebody deleted it, or another run did as a duplicate
        try:
            others = find_our_comments(github.fetch_issue(effect.issue_number))
        except (CannotPublish, SetupError):  # the issue may be gone too, which nobody has to set up
            raise missing from None
        if other := next((one for one in others if one.comment_id != effect.comment_id), None):
            result.comment_url = github.edit_comment(other.comment_id or 0, effect.body)
        else:
            _post_and_deduplicate(PostComment(issue_number=effect.issue_number, body=effect.body), github, result)


def _suggest(effect: SuggestChanges, github: IssueTracker, result: PublishResult) -> None:
    # A preview that GitHub may change or withdraw: a failure becomes a notice, and fails nothing.
    try:
        github.suggest(effect.issue_number, effect.suggestions)
    except (CannotPublish, SetupError) as error:
        notice = f"GitHub did not confirm what was suggested: {describe_suggestions(effect.suggestions)}. {error}"
        result.annotations.append(("notice", notice))
