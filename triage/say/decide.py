"""Decides what is said about an issue. Nothing else does: comment, pages, outputs and memory show this list.

What is concluded (known, changed, not ours) or a fact (a trace, a message) is worth a comment. Words that a report and
a file share never are, nor what the report says itself.
"""

import re
from collections.abc import Iterator, Sequence

from triage.domain.code import LaterFix, LeadRule, PathChange, Place, Span
from triage.domain.effect import CommentMode
from triage.domain.findings import MissingInformation
from triage.domain.past_issues import SimilarIssue
from triage.domain.report import CommentReason, RunReport
from triage.domain.statement import (
    SUBJECTS,
    Cause,
    ChangedBetween,
    Documented,
    FixedSince,
    FoundPlaces,
    KnownIssue,
    LikelyFiles,
    NotOurs,
    OpenQuestions,
    SecurityNotice,
    Statement,
)
from triage.read.other_issues import find_referenced_issues
from triage.read.questions import MAX_QUESTIONS
from triage.say.wording import LOW_CONFIDENCE

MAX_LIKELY = 3
"""Files that share words with the report: of 174 fixed bugs in Python, 129 had a file of the fix among three."""
_FAILED: frozenset[LeadRule] = frozenset({"executed", "frame", "message", "used"})
"""What failed, in the report's own words: a fact whatever the issue is, and wherever the ranking has the file."""
_NAMED: frozenset[LeadRule] = frozenset({"log line", "quoted code", "qualified name", "name"})
"""What a report may show for any reason: said of a bug if the file is likely by other words too."""
MIN_NAMED_CHANCE = 0.3


def decide(report: RunReport) -> list[Statement]:
    """Return what is said, in the order in which it is printed. The first that speaks is why there is a comment.

    A statement is a class; its `rule` is the name in reports, and `SUBJECTS` what people write who call it wrong.
    """
    if report.security:  # a member knows how the project wants to hear of it
        return [SecurityNotice(policy=report.security_policy, speaks=not report.issue.by_member)]
    # A kind that nobody is sure of is no bug: then only what failed, and where, is a fact.
    is_bug = report.kind == "bug"
    fix = report.later_fix if report.may_be_bug_by_rules else None
    known = list(_list_known(report, fix))
    said: list[Statement] = [KnownIssue(issue=one) for one in known]
    if report.may_be_bug_by_rules:
        if fix:
            said.append(FixedSince(speaks=is_bug or fix.is_named_by_report, fix=fix))
        said += _decide_change(report, is_bug=is_bug)
        said += _decide_place(report, is_bug=is_bug)
    if report.documented and report.kind not in ("bug", None) and not any(one.state == "open" for one in known):
        is_question = report.kind == "question"
        said = [one for one in said if one.speaks]  # else an answer is all that is wanted
        said.append(Documented(line=report.documented, is_question=is_question, answer=report.why))
    elif report.kind == "feature_request" and (cause := _decide_cause(report)):
        said.append(cause)
    answers = FixedSince | Cause | FoundPlaces | NotOurs | Documented
    is_answered = any(isinstance(one, answers) and one.speaks for one in said)
    questions = report.missing_information
    if is_answered:  # what decides between two causes is asked all the same
        is_explained = any(isinstance(one, Cause) and one.speaks for one in said)
        deciding = report.critique.questions_for_reporter if report.critique and is_explained else []
        questions = [one for one in questions if one.question in deciding]
    if questions and not any(one.state == "open" for one in known):
        said.append(OpenQuestions(questions=questions[:MAX_QUESTIONS]))
    return [one for one in said if SUBJECTS.get(one.rule) not in report.wrong_subjects]


def list_comment_statements(report: RunReport) -> list[Statement]:
    """Return the statements of the comment: all of them for who asks, or wants a comment always.

    For others, not where a feature would go and no mere suspicion; likely files only below a bug's place, and commits
    that may have broken it not beside questions alone.
    """
    shows_unsure = report.comment_reason in ("asked", "always")
    has_place = report.kind == "bug" and any(isinstance(one, FoundPlaces | Cause) for one in report.statements)
    shown = [one for one in report.statements if shows_unsure or has_place or not isinstance(one, LikelyFiles)]
    speaking = [one for one in shown if one.speaks]
    asks_only = bool(speaking) and all(isinstance(one, OpenQuestions) for one in speaking)
    doubtful = Cause | ChangedBetween if asks_only else Cause
    shown = [one for one in shown if shows_unsure or one.speaks or not isinstance(one, doubtful)]
    if not shown or not isinstance(shown[0], Cause):
        return shown
    spans = [*(one.span for one in report.suspects), *(one.span for one in report.named_places)]
    explained = [one for one in spans if one]
    return [one for one in shown if not isinstance(one, FoundPlaces) or _is_news_beside(one, explained)]


def _is_news_beside(found: FoundPlaces, explained: Sequence[Span]) -> bool:
    """Return whether a fact says something beside an explanation that names these lines."""

    def is_named(place: Place) -> bool:
        line = place.line or place.span.start
        return any(one.path == place.span.path and one.start <= line <= one.end for one in explained)

    return not all(map(is_named, found.places)) or bool(found.later_change or found.last_change or found.owners)


def list_asked(report: RunReport) -> list[MissingInformation]:
    """Return what the reporter is asked; not what is missing beside an answer."""
    return [missing for one in report.statements if isinstance(one, OpenQuestions) for missing in one.questions]


def select_sure_places(places: Sequence[Place]) -> list[Place]:
    """Return the places that are said: what failed, and what is named in a file that is likely by other words too.

    A file that is called as what the report names is no news.
    """
    sure = [one for one in places if one.rule not in _NAMED or one.probability >= MIN_NAMED_CHANCE]
    return [one for one in sure if not _is_named_alike(one)]


def _list_known(report: RunReport, fix: LaterFix | None) -> Iterator[SimilarIssue]:
    """Yield the issue that this one repeats, and the pull requests that are for it."""
    if report.possible_duplicate:
        yield report.possible_duplicate
    # The commit of a merged pull request has its number.
    of_fix = find_referenced_issues(fix.commit.subject, report.repository) if fix else set()
    named = (one for one in report.similar_issues if one.is_probably_same and one.is_pull_request)
    yield from (one for one in named if one.number not in of_fix)


def _decide_change(report: RunReport, *, is_bug: bool) -> Iterator[ChangedBetween]:
    """Yield the commits between the version that worked and the other, if any of them is worth a look."""
    window = report.regression_window
    explained = [change for change in window.further if change.commit[:7] in report.why] if window else []
    if window is None or not (window.commits or explained):
        return
    yield ChangedBetween(
        # The commit that the report blames is nothing new for its reader.
        speaks=is_bug and window.is_sure and not window.is_blamed_commit,
        worked_in=window.worked_in,
        broken_in=window.broken_in,
        is_blamed=window.is_blamed_commit,
        total=window.total,
        commits=[*window.commits, *explained],
    )


def _decide_place(report: RunReport, *, is_bug: bool) -> Iterator[NotOurs | Cause | FoundPlaces | LikelyFiles]:
    """Yield the package in which a trace ends; else the place, a model's cause, and likely files."""
    cause = _decide_cause(report) if report.kind in ("bug", None) else None
    found = _decide_found_places(report, is_bug=is_bug)
    failing = report.failing_package
    if failing and not (found and found.places[0].sign == "trace"):
        reports = [page for page in report.external_references if "/issues/" in page.url]
        yield NotOurs(package=failing, reports=reports if failing.is_declared else [])
        yield from (one for one in (cause,) if one)
        return  # whatever else leads to code of ours
    # A model's explanation comes first once a critic has confirmed it; it never takes the place of a fact.
    in_order = [cause, found] if cause and cause.is_confirmed else [found, cause]
    yield from (one for one in in_order if one)
    places = found.places if found else []
    named = {one.span.path for one in places}
    others = [one for one in report.likely_files[:MAX_LIKELY] if one.path not in named]
    if others and not report.why.strip():
        yield LikelyFiles(files=others)


def _decide_cause(report: RunReport) -> Cause | None:
    """Return a model's explanation; None if there is none."""
    if not report.why.strip():
        return None
    paths = list(dict.fromkeys(one.path for one in report.suspects))
    is_request = report.kind == "feature_request"
    return Cause(
        speaks=report.confidence >= LOW_CONFIDENCE and not is_request,
        is_request=is_request,
        is_confirmed=report.verdict == "CONFIRMED",
        severity=report.severity if report.severity_reason and not is_request else None,
        severity_reason=report.severity_reason,
        summary=report.summary,
        place=report.suspects[0] if report.suspects else None,
        touches=paths if len(paths) > 1 else [],
        why=report.why,
        fix_idea=report.fix_idea,
        check=report.check,
    )


def _decide_found_places(report: RunReport, *, is_bug: bool) -> FoundPlaces | None:
    """Return the sure places; None without any.

    They speak if something failed there, and of a bug also if the report names the code, or if the lines changed since.
    """
    places = select_sure_places([report.best_place, *report.other_places]) if report.best_place else []
    if not places:
        return None
    fix, later = report.later_fix, report.later_change
    later = None if fix and later and fix.commit == later.commit else later  # it is said above
    last = report.last_change if is_bug and _is_news(report) else None
    speaking = _FAILED if not is_bug else {*_FAILED, *_NAMED}
    return FoundPlaces(
        # The report has a path that it names itself, or its trace: only what became of its lines is news.
        speaks=any(one.rule in speaking and not one.is_linked and (one.is_here or one.function) for one in places)
        or (is_bug and places[0].sign != "name" and bool(later or last)),
        places=places,
        later_change=later,
        last_change=None if later else last,
        owners=report.owners,
    )


def _is_named_alike(place: Place) -> bool:
    """Return whether the file is called as what the report names, as `TypeToken.java` for `TypeToken`."""
    names = re.split(r"\W+", place.text.replace("_", "").casefold()) if place.sign == "name" else []
    stem = place.span.path.rpartition("/")[2].partition(".")[0]
    return re.sub(r"[\W_]", "", stem).casefold() in names


def _is_news(report: RunReport) -> bool:
    """Return whether the last change of the lines came with the reporter's version, or after the one that worked.

    Of fifteen bugs that were played by hand, the last change brought the fault in seven: else it is a rename or a move.
    """
    last, window = report.last_change, report.regression_window
    if last is None:
        return False
    further: list[PathChange] = window.further if window else []
    commit = last.commit.commit
    is_named = any(change.commit == commit for change in (window.commits if window else []))
    return not is_named and (last.is_reported or any(change.commit == commit for change in further))


NOTHING_TO_SAY = "Nothing sure enough to say: no comment (comment: always writes one)."


SKILL_NEEDS_APPROVAL = (
    "The skill `{skill}` requires approval, so nothing was written to the issue: a comment that says `/triage`, by "
    "somebody with write access, writes it."
)


def decide_comment(
    report: RunReport,
    mode: CommentMode,
    *,
    is_asked: bool = False,
    has_comment: bool = False,
    asked_with_write_access: bool = False,
) -> CommentReason | None:
    """Return why the issue gets a comment; None if the report stays on the page of the job.

    With `auto` that is the first statement that speaks. `is_asked` says that a person asked for this run, and
    `has_comment` that a comment of ours stands on the issue. It is brought up to date even if nothing is sure any more:
    what it said may be wrong now. With a skill that requires approval, nothing is written unless
    `asked_with_write_access`: somebody with write access asked for this run.
    """
    if mode == "never" or (find_unapproved_skill(report) and not asked_with_write_access):
        return None
    if speaking := next((one for one in report.statements if one.speaks), None):
        return speaking.rule
    if is_asked or mode == "always":
        return "asked" if is_asked else "always"
    return "update" if has_comment else None


def find_unapproved_skill(report: RunReport) -> str:
    """Return the id of a skill that applies and requires approval; empty without one."""
    return next((skill.id for skill in report.skills if skill.requires_approval), "")
