"""Finds what a maintainer would really have to ask: at most three questions, each with its reason.

Of 155 reports that were read by hand, four needed a question. So what a report shows counts for more than what it
leaves out: who can run the example, or reads the trace, needs neither the version nor what was expected. Questions are
in the language of the report; reasons are for maintainers.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from triage.domain.findings import MissingInformation, MissingKind
from triage.domain.issue import ParsedIssue, ReportFacts, Section
from triage.issue.issue_forms import (
    FormField,
    classify_field,
    drop_template_text,
    find_answer,
    find_bug_form,
    find_used_forms,
    is_unanswered,
    parse_forms,
)
from triage.issue.kind.issue_kind import read_kind
from triage.issue.questions.vague_reports import (
    MANY_WORDS,
    count_own_words,
    drop_silent_logs,
    extract_own_words,
    has_picture_for_error,
    has_telling_title,
    is_reproducible,
    is_vague,
    lacks_failure,
    leaves_error_to_picture,
    links_to_source,
    may_be_a_wish,
    shows_pictures,
)
from triage.issue.report_facts import find_facts
from triage.issue.reporter_language import Phrases, get_phrases
from triage.issue.text_signs import (
    EXPECTATION,
    INTERMITTENT,
    OBSERVATION,
    find_crash_words,
    has_code,
    has_error,
)
from triage.issue.versions.project_version import has_any_version

MAX_QUESTIONS = 3
_STATEMENT_WORDS = 12
"""Who writes more says what happens; it may only be unclear why that is wrong."""
_MAX_QUOTE_CHARS = 80
_PLATFORM_BOUND = re.compile(
    r"\b(?:only (?:on|in|under|with) (?:windows|linux|mac\w*|os ?x|ios|android|arm\w*|docker|wsl\w*|chrome|"
    r"firefox|safari|edge|my|some|certain)|(?:works?|fine|ok) on (?:another|other|a different|one|some) "
    r"(?:machines?|laptops?|computers?|phones?|devices?|browsers?|systems?)|on my (?:machine|pc|laptop|computer)|"
    r"platform[- ](?:specific|dependent))\b",
    re.I,
)
_FREQUENCY = re.compile(
    r"\b(?:\d+ ?%|\d+ (?:out of|of|in) \d+|(?:once|twice|\d+ times|\w+ times) (?:a|an|per|every|each|in|out of)|"
    r"every (?:\d+|few|couple|other|second|third|hour|day|night|week)|(?:about|roughly|around) (?:half|one in|a "
    r"third|\d+))",
    re.I,
)

_NEW_VERSION = re.compile(
    r"\b(?:newest|latest|last|recent|current) (?:\w+ ){0,2}(?:version|release|update)\b"
    r"|\b(?:after|since) (?:\w+ ){0,2}(?:updat|upgrad)\w+",
    re.I,
)
_ERRORS = re.compile(r"\b(?:\w+ )?errors\b|\ban error\b|\berror (?:occurs|appears|is shown)\b", re.I)


@dataclass(frozen=True)
class _Report:
    parsed: ParsedIssue
    phrases: Phrases
    facts: ReportFacts
    project: str
    """The name without its owner, empty when unknown."""
    text: str
    can_be_seen: bool
    is_vague: bool
    leaves_steps_open: bool
    """Whether there is a section for the steps, and it says nothing."""
    asks_for_version: bool
    """Whether the project's forms ask for a version; a hosted service has none. True without forms."""


def find_missing_information(parsed: ParsedIssue, forms: Sequence[str], project: str = "") -> list[MissingInformation]:
    """Questions to the reporter of a bug, the most useful first. Empty for a complete report, and for other issues.

    `forms` are the texts of the repository's issue templates: what the used one requires is asked for, with its label.
    `project` is `owner/name`.
    """
    if read_kind(parsed).kind in ("feature_request", "question") or may_be_a_wish(parsed):
        return []
    parsed = drop_template_text(parsed, forms)
    report = _read_report(drop_silent_logs(parsed), forms, project)
    known_forms = parse_forms(forms)
    used = find_used_forms(known_forms, parsed) or ([find_bug_form(known_forms)] if report.is_vague else [])
    form = used[0].fields if used else []
    asked = [] if not lacks_failure(parsed) else [_ask_log_lines(report)]
    asked += [
        MissingInformation(
            kind=field.kind,
            question=report.phrases.ask_field.format(label=field.label),
            reason=_FIELD_REASONS[field.kind],
        )
        for field in form
        if _is_needed(field, report)
    ]
    known = {question.kind for question in asked}
    known |= {field.kind for field in form if find_answer(field, parsed.sections)}
    for kind, check in _CHECKS.items():
        if kind not in known and (question := check(report)) is not None:
            asked.append(question)
            known.add(kind)
    return sorted(asked, key=lambda question: _ORDER.index(question.kind))[:MAX_QUESTIONS]


def _read_report(parsed: ParsedIssue, forms: Sequence[str], project: str) -> _Report:
    facts = find_facts(parsed, project)
    leaves_steps_open = _leaves_steps_open(parsed.sections)
    can_be_seen = is_reproducible(parsed, shows_steps=not leaves_steps_open)
    is_open = not can_be_seen and not _compares_versions(facts)
    return _Report(
        parsed,
        get_phrases(parsed.language),
        facts,
        project.rpartition("/")[2] if "/" in project else "",  # else the name of a folder
        text=f"{parsed.title}\n{extract_own_words(parsed)}",
        can_be_seen=can_be_seen,
        is_vague=is_open and (is_vague(parsed) or (leaves_steps_open and not has_error(parsed))),
        leaves_steps_open=leaves_steps_open,
        asks_for_version=not forms or any("version" in form.casefold() for form in forms),
    )


def _leaves_steps_open(sections: Sequence[Section]) -> bool:
    steps = [section.text for section in sections if classify_field(section.heading) == "reproduction"]
    return bool(steps) and all(map(is_unanswered, steps))


def _compares_versions(facts: ReportFacts) -> bool:
    """Whether the report names the version that works and the one that does not: the changes are between them."""
    return facts.regression is not None and bool(facts.regression.worked_in and facts.regression.broken_in)


def _is_needed(field: FormField, report: _Report) -> bool:
    """Return whether a field that the form requires is empty, and nothing else in the report answers it.

    A Markdown template requires nothing; what it asks for is left to the checks. Of what a form does not require, the
    steps are needed where nothing else shows them, and the version where the report speaks of a new one.
    """
    answer = find_answer(field, report.parsed.sections)
    is_open = answer is not None and report.is_vague and field.kind == "reproduction"
    is_new = answer is not None and field.kind == "version" and _NEW_VERSION.search(report.text) is not None
    if answer or not (field.required or is_open or is_new):
        return False
    match field.kind:
        case "version":
            return report.facts.version is None and not has_any_version(report.parsed)
        case "environment":
            return not report.facts.environment
        case "reproduction":
            return not report.can_be_seen
        case "other" | "configuration":  # who sees an error or runs code can do without
            return not has_error(report.parsed) and not has_code(report.parsed)
        case "expected":  # a picture may be the answer: it leaves no text
            return EXPECTATION.search(report.text) is None and not shows_pictures(report.parsed)
        case "error_output":
            return not has_error(report.parsed)
        case "actual":
            return OBSERVATION.search(report.text) is None and not shows_pictures(report.parsed)
    return True


def _ask_log_lines(report: _Report) -> MissingInformation:
    return MissingInformation(
        kind="error_output",
        question=report.phrases.ask_log_lines,
        reason="The log in the report does not show what fails.",
    )


def _ask_error_output(report: _Report) -> MissingInformation | None:
    parsed = report.parsed
    if parsed.stack_traces or links_to_source(parsed):
        return None
    shows_code = has_code(parsed)
    if has_picture_for_error(parsed) or (
        not shows_code and leaves_error_to_picture(parsed, can_be_seen=report.can_be_seen)
    ):
        return MissingInformation(
            kind="error_output",
            question=report.phrases.ask_text_of_picture,
            reason="As text it can be searched for in the code.",
        )
    if shows_code:
        return None
    crash = find_crash_words(report.text)
    if report.leaves_steps_open and report.is_vague and not crash:
        crash = words[0] if (words := _ERRORS.search(report.text)) else ""
    if "following" in crash or not report.is_vague:
        return None
    if not crash and report.facts.regression and not report.facts.version and not parsed.error_messages:
        return MissingInformation(
            kind="error_output",
            question=report.phrases.ask_log,
            reason="It may say what is different now.",
        )
    if not crash:
        return None
    if parsed.error_messages:
        if count_own_words(parsed) > MANY_WORDS:
            return None
        return MissingInformation(
            kind="error_output",
            question=report.phrases.ask_whole_output.format(message=_short(parsed.error_messages[0])),
            reason="The message alone does not say where in the code it came from.",
        )
    return MissingInformation(
        kind="error_output",
        question=report.phrases.ask_error,
        reason=f"The report says “{_short(crash)}”, but shows neither the message nor where it came from.",
    )


def _ask_reproduction(report: _Report) -> MissingInformation | None:
    if not report.is_vague:
        return None
    intermittent = INTERMITTENT.search(report.text)
    if intermittent is None:
        return MissingInformation(
            kind="reproduction",
            question=report.phrases.ask_steps,
            reason=f"The report describes {_subject(report.parsed)}, but not how somebody else can see it.",
        )
    if _FREQUENCY.search(report.text):
        return None
    return MissingInformation(
        kind="reproduction",
        question=report.phrases.ask_circumstances,
        reason=f"The report says “{intermittent[0]}”, so exact steps may not exist; the circumstances narrow it down.",
    )


def _ask_version(report: _Report) -> MissingInformation | None:
    project, phrases = report.project, report.phrases
    is_told = report.facts.version or has_any_version(report.parsed)
    if is_told or not report.is_vague or not report.asks_for_version:
        return None
    if report.facts.regression is not None:
        return MissingInformation(
            kind="version",
            question=phrases.ask_two_versions_of.format(project=project) if project else phrases.ask_two_versions,
            reason="The changes between the two versions are where to look.",
        )
    return MissingInformation(
        kind="version",
        question=phrases.ask_version_of.format(project=project) if project else phrases.ask_version,
        reason="It tells which code ran, and whether the problem is already fixed.",
    )


def _ask_environment(report: _Report) -> MissingInformation | None:
    bound = _PLATFORM_BOUND.search(report.text)
    if bound is None or report.facts.environment or report.parsed.stack_traces:
        return None
    return MissingInformation(
        kind="environment",
        question=report.phrases.ask_platform,
        reason=f"The report says “{_short(bound[0])}”, so the platform matters.",
    )


def _ask_expected(report: _Report) -> MissingInformation | None:
    if _says_enough(report) or report.facts.expectation or OBSERVATION.search(report.text) or report.leaves_steps_open:
        return None
    if count_own_words(report.parsed) < _STATEMENT_WORDS:
        return None
    return MissingInformation(
        kind="expected",
        question=report.phrases.ask_expected,
        reason=f"Without it, {_subject(report.parsed)} could also be meant that way.",
    )


def _ask_actual(report: _Report) -> MissingInformation | None:
    if _says_enough(report) or OBSERVATION.search(report.text) or has_telling_title(report.parsed):
        return None
    if count_own_words(report.parsed) >= _STATEMENT_WORDS:
        return None
    return MissingInformation(
        kind="actual",
        question=report.phrases.ask_actual,
        reason="The report does not say what goes wrong.",
    )


def _says_enough(report: _Report) -> bool:
    """Return whether an error, code or a longer text shows what is meant; also for other languages than English."""
    return (
        not report.is_vague
        or report.parsed.language != "en"
        or has_error(report.parsed)
        or report.facts.regression is not None
        or find_crash_words(report.text) != ""
        or count_own_words(report.parsed) > MANY_WORDS
    )


_CHECKS: dict[MissingKind, Callable[[_Report], MissingInformation | None]] = {
    "reproduction": _ask_reproduction,
    "error_output": _ask_error_output,
    "version": _ask_version,
    "environment": _ask_environment,
    "actual": _ask_actual,
    "expected": _ask_expected,
}
_ORDER: tuple[MissingKind, ...] = (*_CHECKS, "configuration", "other")
_FIELD_REASONS: dict[MissingKind, str] = {
    "reproduction": "Without steps or code nobody else can see the problem.",
    "error_output": "The message and the trace name the place in the code.",
    "version": "It tells which code ran, and whether the problem is already fixed.",
    "actual": "The report does not say what goes wrong.",
    "expected": "It tells a bug from behaviour that is meant.",
    "environment": "The project's form asks for it, as the answer may depend on it.",
    "configuration": "The same code behaves differently under another configuration.",
    "other": "The project's form requires it.",
}


def _subject(parsed: ParsedIssue) -> str:
    title = _short(parsed.title.strip(" .:!?"))
    return f"“{title}”" if title else "a problem"


def _short(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) <= _MAX_QUOTE_CHARS else words[: _MAX_QUOTE_CHARS - 1].rsplit(" ", 1)[0] + " …"
