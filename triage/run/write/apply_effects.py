"""Applies effects in order. If one fails, the result says so and the others are still applied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triage.base.errors import CannotPublish, NoSuchComment, SetupError
from triage.domain.effect import (
    AddLabels,
    AnnotationLevel,
    EditComment,
    Effect,
    PostComment,
    React,
    RemoveComment,
    RemoveLabel,
    SuggestChanges,
)
from triage.run.write.apply_local_effects import PublishResult
from triage.run.write.plan_suggestions import describe_suggestions
from triage.say.our_comment import deduplicate, find_our_comments

if TYPE_CHECKING:
    from triage.outside.github.issue_tracker import IssueTracker


DUPLICATES_UNKNOWN = (
    "The comment was written, but GitHub did not say whether another run wrote one at the same time: if there are two, "
    "the next run removes the second."
)


DUPLICATES_UNKNOWN_NOTICE: tuple[AnnotationLevel, str] = ("notice", DUPLICATES_UNKNOWN)


def apply_issue_effects(effects: Sequence[Effect], github: IssueTracker, result: PublishResult) -> None:
    """Applies the effects that need the network. `result` is up to date at any time: a caller may stop waiting."""
    for effect in effects:
        try:
            match effect:
                case PostComment():
                    _post_comment(effect, github, result)
                case EditComment():
                    _edit_comment(effect, github, result)
                case RemoveComment():
                    github.delete_comment(effect.issue_number, effect.comment_id)
                case AddLabels():
                    github.add_labels(effect.issue_number, effect.labels)
                case SuggestChanges():
                    _suggest(effect, github, result)
                case RemoveLabel():
                    github.remove_label(effect.issue_number, effect.label)
                case React():
                    github.react(effect.comment_id, effect.reaction)
        except (CannotPublish, SetupError) as error:
            result.add_failure(error)


def _post_comment(effect: PostComment, github: IssueTracker, result: PublishResult) -> None:
    result.posted_id, result.comment_url = github.post_comment(effect.issue_number, effect.body)
    result.posted = effect
    _remove_duplicates(effect, github, result)


def remove_late_duplicates(github: IssueTracker, result: PublishResult) -> None:
    """Removes the duplicates that GitHub did not show at first, or that came later. It waits between its looks."""
    while result.posted and github.wait_to_look_again(result.posted.issue_number):
        _remove_duplicates(result.posted, github, result)


def _remove_duplicates(posted: PostComment, github: IssueTracker, result: PublishResult) -> None:
    number, posted_id = posted.issue_number, result.posted_id
    result.annotations = [one for one in result.annotations if one != DUPLICATES_UNKNOWN_NOTICE]
    try:
        issue = github.fetch_issue(number, posted_id)
        outcome = deduplicate(issue, posted_id, posted.body)
        if outcome.oldest_id is None:
            return
        if outcome.body is not None:
            github.edit_comment(number, outcome.oldest_id, outcome.body)
        for comment_id in outcome.remove:
            github.delete_comment(number, comment_id)
        if outcome.oldest_id != posted_id and issue.url:
            result.comment_url = f"{issue.url}#issuecomment-{outcome.oldest_id}"
    except (CannotPublish, SetupError):
        result.annotations.append(DUPLICATES_UNKNOWN_NOTICE)


def _edit_comment(effect: EditComment, github: IssueTracker, result: PublishResult) -> None:
    number = effect.issue_number
    try:
        result.comment_url = github.edit_comment(number, effect.comment_id, effect.body)[1]
    except NoSuchComment as missing:
        # Another run removed it as a duplicate, or somebody deleted it.
        try:
            comments = find_our_comments(github.fetch_issue(number))
        except (CannotPublish, SetupError):
            raise missing from None
        other = next((one.comment_id for one in comments if one.comment_id != effect.comment_id), None)
        if other is not None:
            result.comment_url = github.edit_comment(number, other, effect.body)[1]
        else:
            _post_comment(PostComment(issue_number=number, body=effect.body), github, result)


def _suggest(effect: SuggestChanges, github: IssueTracker, result: PublishResult) -> None:
    # A preview that GitHub may change or withdraw: a failure becomes a notice, and fails nothing.
    try:
        github.suggest(effect.issue_number, effect.suggestions)
    except (CannotPublish, SetupError) as error:
        notice = f"GitHub did not confirm what was suggested: {describe_suggestions(effect.suggestions)}. {error}"
        result.annotations.append(("notice", notice))
