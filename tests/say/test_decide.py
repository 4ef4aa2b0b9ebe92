"""What is said about which report, and what of it is worth a comment."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from testing import factories
from testing.each_row import each_row
from tests.say.sample_reports import (
    CHANGES,
    CLI,
    DATES,
    FEATURE,
    FULL,
    PAST,
    QUESTIONS,
    READER,
    RULES_STEPS,
    SIMILAR,
    UNSAID,
    change_report,
    span,
)
from triage.domain.code import (
    FileChange,
    LastChange,
    LaterChange,
    LaterFix,
    LeadRule,
    Place,
    PlaceSign,
    QuotedLine,
    RegressionWindow,
)
from triage.domain.issue import FailingPackage
from triage.domain.past_issues import SimilarIssue
from triage.domain.report import RunReport
from triage.domain.statement import (
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
from triage.say.decide import list_asked, list_comment_statements

SIGNS: dict[LeadRule, PlaceSign] = {
    "frame": "trace",
    "message": "message",
    "log line": "message",
    "quoted code": "quote",
    "used": "quote",
    "place": "place",
    "name": "name",
    "qualified name": "name",
}


def place(rule: LeadRule, path: str = READER, probability: float = 0.6, text: str = "row %d has no date") -> Place:
    lines = span(path, 70, 76)
    return Place(sign=SIGNS[rule], rule=rule, span=lines, line=73, text=text, probability=probability)


WINDOW = RegressionWindow(worked_in="v0.7", broken_in="v0.8", commits=CHANGES, total=7, is_sure=True)
FURTHER = WINDOW.model_copy(update={"commits": [], "further": CHANGES, "is_sure": False})
BLAMED = RegressionWindow(worked_in="9999999999^", broken_in="9999999999", commits=CHANGES[:1], total=1, is_sure=True)
NAMED_FIX = LaterFix(
    version="v0.8", commit=FileChange(commit="9" * 40, date="2026-10-03", subject="Fix"), is_named_by_report=True
)
LATER = LaterChange(**PAST.later_fix.model_dump(exclude={"is_named_by_report"})) if PAST.later_fix else None
OPEN = SIMILAR[0].model_copy(update={"state": "open"})
LAST = LastChange(commit=FileChange(commit="9" * 40, date="2026-10-03", subject="Read profiles"))
CAME_WITH_IT = LAST.model_copy(update={"is_reported": True})
PACKAGE = FailingPackage(
    name="python-dateutil", language="Python", error="ParserError: Unknown string format", is_declared=True
)
PULL = SimilarIssue(number=390, is_pull_request=True, title="Read day-first dates", score=0.9, is_probably_same=True)
MERGED = PULL.model_copy(update={"state": "closed", "ended": "merged"})
MERGED_FIX = LaterFix(
    version="v0.8", commit=FileChange(commit="9" * 40, date="2026-10-03", subject="Read day-first dates (#390)")
)
DOCUMENTED = QuotedLine(span=span("docs/import.md", 12, 12), quote="`--since` leaves out what is older.")
PATH, NAME, TRACE, MESSAGE = place("place"), place("name"), place("frame"), place("message")
UNSURE = {"kind": None, "kind_probability": None}
"""Of a kind that nobody is sure of."""
ASKS = {"missing_information": QUESTIONS}


@each_row(
    ("report", "changes", "rules"),
    [
        (UNSAID, {}, "files"),
        (UNSAID, {"likely_files": []}, ""),
        (FEATURE, {"best_place": TRACE, "regression_window": WINDOW, "suspects": FULL.suspects, "why": "So."}, "analysis"),
        # security alone
        (FULL, {"security": True, "possible_duplicate": OPEN, **ASKS}, "security!"),
        (FULL, {"security": True, "issue": FULL.issue.model_copy(update={"by_member": True}), **ASKS}, "security"),
        # known
        (UNSAID, {"possible_duplicate": SIMILAR[0], **ASKS}, "duplicate! files question!"),
        (UNSAID, {"possible_duplicate": OPEN, **ASKS}, "duplicate! files"),
        (FEATURE, {"possible_duplicate": OPEN}, "duplicate!"),
        (UNSAID, {"similar_issues": [PULL], **ASKS}, "duplicate! files"),
        (UNSAID, {"similar_issues": [MERGED], **ASKS}, "duplicate! files question!"),
        (UNSAID, {"possible_duplicate": SIMILAR[0], "similar_issues": [PULL]}, "duplicate! duplicate! files"),
        (UNSAID, {"similar_issues": [MERGED], "later_fix": MERGED_FIX}, "fixed! files"),
        # fixed
        (UNSAID, {"later_fix": PAST.later_fix, **ASKS}, "fixed! files"),
        (UNSAID, {"later_fix": PAST.later_fix, **UNSURE, **ASKS}, "fixed files question!"),
        (UNSAID, {"later_fix": NAMED_FIX, **UNSURE, **ASKS}, "fixed! files"),
        (UNSAID, {"regression_window": WINDOW, "later_fix": PAST.later_fix}, "fixed! regression! files"),
        (UNSAID, {"best_place": PATH, "later_change": LATER, "later_fix": PAST.later_fix}, "fixed! found files"),
        (FEATURE, {"later_fix": PAST.later_fix}, ""),
        # documented
        (FEATURE, {"documented": DOCUMENTED}, "documented!"),
        (FEATURE, {"documented": DOCUMENTED, "kind": "question", **ASKS}, "documented!"),
        (FEATURE, {"documented": DOCUMENTED, "kind": "question", "kind_by_model": True, "why": "So."}, "documented!"),
        (FEATURE, {"documented": DOCUMENTED, "possible_duplicate": OPEN}, "duplicate!"),
        (FEATURE, {"documented": DOCUMENTED, "possible_duplicate": SIMILAR[0]}, "duplicate! documented!"),
        (UNSAID, {"documented": DOCUMENTED}, "files"),
        # changed
        (UNSAID, {"regression_window": WINDOW}, "regression! files"),
        (UNSAID, {"regression_window": WINDOW, **UNSURE}, "regression files"),
        (UNSAID, {"regression_window": WINDOW.model_copy(update={"is_sure": False})}, "regression files"),
        (UNSAID, {"regression_window": FURTHER}, "files"),
        (UNSAID, {"regression_window": BLAMED}, "regression files"),
        (UNSAID, {"regression_window": BLAMED.model_copy(update={"commits": []})}, "files"),
        (UNSAID, {"regression_window": WINDOW, **ASKS}, "regression! files question!"),
        # not ours
        (UNSAID, {"failing_package": PACKAGE, **ASKS}, "elsewhere!"),
        (UNSAID, {"failing_package": PACKAGE, "best_place": TRACE}, "found! files"),
        # a place
        (UNSAID, {"best_place": TRACE, **ASKS}, "found! files"),
        (UNSAID, {"best_place": TRACE, "likely_files": UNSAID.likely_files[1:]}, "found!"),
        (UNSAID, {"best_place": NAME, **UNSURE}, "found files"),
        (UNSAID, {"best_place": NAME}, "found! files"),
        (UNSAID, {"best_place": place("name", "shop/till.py", text="Till"), "later_change": LATER}, "files"),
        (UNSAID, {"best_place": place("qualified name", "shop/till.py", text="shop.till.Total")}, "files"),
        (UNSAID, {"best_place": place("name", probability=0.2)}, "files"),
        (UNSAID, {"best_place": place("frame", probability=0.0)}, "found! files"),
        (UNSAID, {"best_place": place("log line"), **UNSURE}, "found files"),
        (UNSAID, {"best_place": place("quoted code"), **UNSURE}, "found files"),
        (UNSAID, {"best_place": place("quoted code")}, "found! files"),
        (UNSAID, {"best_place": MESSAGE, **UNSURE}, "found! files"),
        (UNSAID, {"best_place": place("used", probability=0.0), **UNSURE}, "found! files"),
        (UNSAID, {"best_place": TRACE, **UNSURE}, "found! files"),
        (UNSAID, {"best_place": PATH, "other_places": [place("message", CLI)], **UNSURE}, "found! files"),
        (UNSAID, {"best_place": TRACE.model_copy(update={"is_linked": True}), **ASKS}, "found files question!"),
        (UNSAID, {"best_place": TRACE.model_copy(update={"is_here": False}), **ASKS}, "found files question!"),
        (UNSAID, {"best_place": TRACE.model_copy(update={"is_here": False, "function": "pay"}), **ASKS}, "found! files"),
        # the report has the path already
        (UNSAID, {"best_place": PATH, **ASKS}, "found files question!"),
        (UNSAID, {"best_place": PATH, "last_change": LAST}, "found files"),
        (UNSAID, {"best_place": PATH, "last_change": CAME_WITH_IT}, "found! files"),
        (UNSAID, {"best_place": PATH, "last_change": CAME_WITH_IT, **UNSURE}, "found files"),
        (UNSAID, {"best_place": PATH, "later_change": PAST.later_change}, "found! files"),
        (UNSAID, {"best_place": PATH, "last_change": LAST, "regression_window": FURTHER}, "found! files"),
        (UNSAID, {"best_place": PATH, "last_change": CAME_WITH_IT, "regression_window": BLAMED}, "regression found files"),
        # a cause
        (FULL, {"best_place": TRACE, **ASKS}, "analysis! found!"),
        (FULL, {"best_place": TRACE, "verdict": "UNCERTAIN"}, "found! analysis!"),
        (FULL, {"failing_package": PACKAGE}, "elsewhere! analysis!"),
        (FULL, {"confidence": 0.39, **ASKS}, "analysis question!"),
        (FULL, {"verdict": None}, "analysis!"),
        (FULL, {"kind": "question", "kind_by_model": True, "best_place": TRACE, "why": ""}, "found! files"),
        (FULL, {"why": " "}, "files"),
        (FULL, {"best_place": NAME, "why": ""}, "found! files"),
        # a question
        (UNSAID, ASKS, "files question!"),
        (UNSAID, {"kind": "not_actionable", **ASKS}, "question!"),
    ],
)  # fmt: skip
def test_what_is_said_and_what_of_it_speaks(report: RunReport, changes: dict[str, Any], rules: str):
    said = change_report(report, **changes).statements
    assert " ".join(one.rule + "!" * one.speaks for one in said) == rules


def test_likely_files_are_shown_below_a_place_and_to_who_asks():
    def shows(**changes: Any) -> bool:
        return any(one.rule == "files" for one in list_comment_statements(change_report(UNSAID, **changes)))

    assert not shows()
    assert not shows(regression_window=WINDOW, comment_reason="regression")
    assert not shows(comment_reason="update")
    assert shows(comment_reason="asked")
    assert shows(comment_reason="always")
    assert shows(best_place=PATH)
    unsure = change_report(UNSAID, best_place=TRACE, last_change=CAME_WITH_IT, **UNSURE)
    assert [one.rule for one in list_comment_statements(unsure)] == ["found"]
    assert isinstance(unsure.statements[0], FoundPlaces)
    assert unsure.statements[0].last_change is None, "whether it is a bug is not known"


def test_where_a_feature_would_go_is_shown_to_who_asks():
    def list_rules(**changes: Any) -> list[str]:
        return [one.rule for one in list_comment_statements(change_report(FEATURE, why="So.", **changes))]

    assert list_rules(comment_reason="asked") == list_rules(comment_reason="always") == ["analysis"]
    assert list_rules(comment_reason="duplicate", possible_duplicate=OPEN) == ["duplicate"]
    assert list_rules(comment_reason="asked", documented=DOCUMENTED) == ["documented"]


def test_a_file_that_is_told_is_not_told_again():
    report = change_report(UNSAID, best_place=place("frame", DATES), other_places=[place("message", CLI)])
    likely = next(one for one in report.statements if isinstance(one, LikelyFiles))
    assert [one.path for one in likely.files] == [READER]


def test_what_is_missing_beside_an_answer_is_not_asked():
    assert list_asked(change_report(UNSAID, **ASKS)) == QUESTIONS
    assert list_asked(change_report(UNSAID, best_place=TRACE, **ASKS)) == []


def test_what_decides_between_two_causes_is_asked_beside_a_probable_one():
    critique = factories.critique("UNCERTAIN", questions_for_reporter=[QUESTIONS[0].question])
    report = change_report(UNSAID, best_place=TRACE, critique=critique, **ASKS)
    assert list_asked(report) == [], "nobody names a cause"
    said: dict[str, Any] = {
        "kind": "bug",
        "why": "So.",
        "verdict": "UNCERTAIN",
        "similar_issues": [],
        "possible_duplicate": None,
    }
    assert list_asked(change_report(FULL, critique=critique, **said | ASKS)) == QUESTIONS[:1]


@each_row(
    ("changes", "is_said"),
    [
        ({}, False),
        ({"owners": ["ana"]}, True),
        ({"other_places": [place("message", "src/new.py")]}, True),
        ({"best_place": place("frame", FULL.suspects[0].path)}, True),  # other lines of the file
    ],
)
def test_a_place_that_a_cause_names_is_not_said_once_more(changes: dict[str, Any], is_said: bool):
    suspect = FULL.suspects[0]
    assert suspect.span
    lines = {"span": suspect.span, "line": suspect.span.start}
    named = place("frame", suspect.path).model_copy(update=lines)
    sure = {"kind": "bug", "why": "So.", "verdict": "CONFIRMED", "best_place": named}
    report = change_report(
        FULL, regression_window=None, last_change=None, **{"owners": [], "other_places": []} | sure | changes
    )
    assert any(isinstance(one, FoundPlaces) for one in report.statements)
    assert any(isinstance(one, FoundPlaces) for one in list_comment_statements(report)) is is_said


def test_a_comment_asks_at_most_three_questions():
    further = [QUESTIONS[0].model_copy(update={"question": f"Which {name} do you use?"}) for name in ("till", "cart")]
    assert list_asked(change_report(UNSAID, missing_information=[*QUESTIONS, *further])) == [*QUESTIONS, further[0]]


def test_commits_that_may_have_broken_it_are_no_addition_to_a_mere_question():
    def shows(**changes: Any) -> bool:
        report = change_report(UNSAID, **UNSURE, regression_window=WINDOW, **changes)
        return any(isinstance(one, ChangedBetween) for one in list_comment_statements(report))

    assert not shows(missing_information=QUESTIONS)
    assert shows(missing_information=QUESTIONS, comment_reason="asked")
    assert shows(best_place=TRACE)


@each_row("why", ["", "`99999999` broke it."])
def test_the_commits_that_the_explanation_names_are_told(why: str):
    report = change_report(FULL, regression_window=FURTHER, why=why or "So.", verdict="UNCERTAIN")
    shown = [change for one in report.statements if isinstance(one, ChangedBetween) for change in one.commits]
    assert shown == (CHANGES[:1] if why else [])


def list_facts(one: Statement) -> Iterator[Any]:
    """The facts of a statement, as a report has them."""
    match one:
        case SecurityNotice():
            yield one.policy
        case KnownIssue():
            yield one.issue
        case FixedSince():
            yield one.fix
        case ChangedBetween():
            yield from (one.worked_in, one.broken_in, one.total, *one.commits)
        case NotOurs() | Documented():
            yield one.package if isinstance(one, NotOurs) else one.line
        case Cause():
            yield from (one.why, one.summary, one.place, one.check)
        case FoundPlaces():
            yield from one.places
        case LikelyFiles():
            yield from one.files
        case OpenQuestions():
            yield from one.questions


def collect_facts(report: RunReport) -> list[Any]:
    window = report.regression_window
    commits = [window.worked_in, window.broken_in, window.total, *window.commits, *window.further] if window else []
    facts = [
        report.later_fix,
        report.best_place,
        *report.other_places,
        report.failing_package,
        report.possible_duplicate,
        report.documented,
        *commits,
    ]
    texts = [report.security_policy, report.why, report.summary, report.check, "" if not report.suspects else None]
    return [*facts, *texts, *report.suspects, *report.likely_files, *report.missing_information, None]


PLACES = [place(rule, path) for rule, path in product(SIGNS, (READER, DATES))]


@given(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["bug", "bug", "bug", "feature_request", "question", "not_actionable"]),
            "kind_probability": st.sampled_from([None, 0.9]),
            "security": st.sampled_from([False, False, False, True]),
            "possible_duplicate": st.sampled_from([None, SIMILAR[0], OPEN]),
            "regression_window": st.sampled_from([None, WINDOW, FURTHER, BLAMED]),
            "later_fix": st.sampled_from([None, PAST.later_fix, NAMED_FIX]),
            "failing_package": st.sampled_from([None, PACKAGE]),
            "documented": st.sampled_from([None, DOCUMENTED]),
            "best_place": st.sampled_from([None, *PLACES]),
            "other_places": st.lists(st.sampled_from(PLACES), max_size=2),
            "last_change": st.sampled_from([None, LAST, CAME_WITH_IT]),
            "suspects": st.sampled_from([[], FULL.suspects]),
            "likely_files": st.sampled_from([[], FULL.likely_files]),
            "why": st.sampled_from(["", FULL.why]),
            "verdict": st.sampled_from([None, "CONFIRMED", "UNCERTAIN", "CHALLENGED"]),
            "missing_information": st.sampled_from([[], QUESTIONS]),
            "steps": st.sampled_from([RULES_STEPS, FULL.steps]),
        }
    )
)
def test_nothing_speaks_without_a_fact_of_the_report(fields: dict[str, Any]):
    report = change_report(FULL, **fields)
    known = collect_facts(report)
    for one in report.statements:
        facts = list(list_facts(one))
        assert facts, one.rule
        assert [fact for fact in facts if fact not in known] == [], one.rule
    assert len({one.rule for one in report.statements}) == len(report.statements), "each thing is said once"
