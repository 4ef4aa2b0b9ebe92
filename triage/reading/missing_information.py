"""Finds what a maintainer would have to ask: at most four questions, each with its reason."""

import re
from collections.abc import Callable, Sequence

from triage.domain.findings import MissingInformation, MissingKind
from triage.domain.issue import Reading
from triage.reading.issue_forms import FormField, find_answer, find_used_form, parse_forms
from triage.reading.issue_kind import classify_issue
from triage.reading.text_signs import (
    EXPECTATION,
    IMPERATIVE,
    INTERMITTENT,
    NUMBERED,
    OBSERVATION,
    SOURCE_LINK,
    STEPS,
    find_crash_words,
    has_code,
    has_error,
    is_english,
    searchable_text,
)
from triage.reading.versions import MOVING_VERSION, is_platform_version

_MAX_QUESTIONS = 4
_MANY_WORDS = 40
"""Longer prose says what happened, whatever words it uses."""
_MAX_QUOTE_CHARS = 80
_PLATFORM_BOUND = re.compile(
    r"\b(?:only (?:on|in|under|with) (?:windows|linux|mac\w*|os ?x|ios|android|arm\w*|docker|wsl\w*|chrome|"
    r"firefox|safari|edge|ci\b|my|some|certain)|"
    r"(?:works?|fine|ok) on (?:my|another|other|a different|one|some|linux|windows|mac\w*)|(?:my|some|another|"
    r"other|different|certain|old|new) (?:machines?|laptops?|computers?|phones?|devices?|browsers?|servers?|"
    r"platforms?)|"
    r"on my (?:machine|mac|pc|system)|but (?:not )?(?:on|in) (?:windows|linux|mac\w*|ci\b|docker|production)|"
    r"platform[- ](?:specific|dependent))\b",
    re.I,
)
_FREQUENCY = re.compile(
    r"\b(?:\d+ ?%|\d+ (?:out of|of|in) \d+|(?:once|twice|\d+ times|\w+ times) (?:a|an|per|every|each|in|out of)|"
    r"every (?:\d+|few|couple|other|second|third|hour|day|night|week)|"
    r"(?:about|roughly|around) (?:half|one in|a third|\d+))",
    re.I,
)
_CONFIGURED = re.compile(
    r"\b(?:with|in|using|from) (?:my|our|the following|this|a custom) (?:\w+ )?(?:config\w*|settings?|setup)\b", re.I
)
_SYSTEM = re.compile(
    r"\b(?:windows|win(?:10|11|32|64)|linux|mac ?os(?: ?x)?|os ?x|darwin|ubuntu|debian|fedora|arch|alpine|ios|"
    r"android|chrome|firefox|safari|edge)\b",
    re.I,
)


def find_missing_information(reading: Reading, forms: Sequence[str]) -> list[MissingInformation]:
    """Questions to the reporter of a bug, the most useful first. Empty for a complete report, and for other issues.

    `forms` are the texts of the repository's issue templates. A question of the used template keeps its label.
    """
    if classify_issue(reading, []) in ("feature_request", "question"):
        return []
    form = find_used_form(parse_forms(forms), reading.sections)
    asked = [
        MissingInformation(
            kind=field.kind,
            question=f"Could you fill in “{field.label}”? It is empty in the report.",
            reason=_FIELD_REASONS[field.kind],
        )
        for field in form
        if _is_needed(field, reading)
    ]
    known = {question.kind for question in asked}
    known |= {field.kind for field in form if find_answer(field, reading.sections)}
    for kind, check in () if _requests_change(reading) else _CHECKS.items():
        if kind not in known and (question := check(reading)) is not None:
            asked.append(question)
            known.add(kind)
    return sorted(asked, key=lambda question: _ORDER.index(question.kind))[:_MAX_QUESTIONS]


def _requests_change(reading: Reading) -> bool:
    """Whether the title names the change and nothing failed: then steps and versions would not help."""
    return (
        IMPERATIVE.search(reading.title) is not None and not has_error(reading) and bool(reading.prose or reading.code)
    )


def _is_needed(field: FormField, reading: Reading) -> bool:
    text = find_answer(field, reading.sections)
    if text or (text is None and not field.required) or _is_answered_elsewhere(field.kind, reading):
        return False
    return field.required or field.kind in ("reproduction", "actual", "version")


def _is_answered_elsewhere(kind: MissingKind, reading: Reading) -> bool:
    if kind not in _CHECKS or _CHECKS[kind](reading) is not None:
        return False
    return kind != "expected" or EXPECTATION.search(searchable_text(reading)) is not None


def _ask_reproduction(reading: Reading) -> MissingInformation | None:
    text = searchable_text(reading)
    intermittent = INTERMITTENT.search(text)
    if intermittent:
        if _FREQUENCY.search(text) or reading.code:
            return None
        return MissingInformation(
            kind="reproduction",
            question="How often does it happen, and what is going on then (load, timing, several things at "
            "once, how long it had run)?",
            reason=f"The report says “{intermittent[0]}”, so exact steps may not exist; the circumstances narrow it "
            f"down.",
        )
    if _has_steps(reading):
        return None
    return MissingInformation(
        kind="reproduction",
        question="What are the steps, or the smallest piece of code or input, that show the problem?",
        reason=f"The report describes {_subject(reading)}, but nothing in it can be run or clicked through.",
    )


def _has_steps(reading: Reading) -> bool:
    if has_code(reading) or reading.traces or len(NUMBERED.findall(reading.prose)) >= 2 or _links_to_source(reading):
        return True
    if any(len(section.text) > 15 and re.search(r"(?i)repro|steps", section.heading) for section in reading.sections):
        return True
    described = len(STEPS.findall(reading.prose[:20_000])) + ("`" in reading.prose) + (len(reading.identifiers) >= 2)
    return described >= 2 and len(reading.prose.split()) > 25


def _ask_error_output(reading: Reading) -> MissingInformation | None:
    crash = find_crash_words(searchable_text(reading))
    if not crash or "following" in crash or reading.traces or has_code(reading) or _links_to_source(reading):
        return None
    if reading.error_messages:
        if len(reading.prose.split()) > _MANY_WORDS:
            return None
        return MissingInformation(
            kind="error_output",
            question=f"Could you paste the whole output around “{_short(reading.error_messages[0])}”, with the stack "
            f"trace if there is one?",
            reason="The message alone does not say where in the code it came from.",
        )
    return MissingInformation(
        kind="error_output",
        question="Could you paste the full error message and stack trace as text?",
        reason=f"The report says “{_short(crash)}”, but shows neither the message nor where it came from.",
    )


def _ask_version(reading: Reading) -> MissingInformation | None:
    if any(not is_platform_version(version) for version in reading.versions):
        return None
    if _names_source_state(reading) or _links_to_source(reading):
        return None
    platform = f" ({reading.versions[0]} is named, but not the release of this project)" if reading.versions else ""
    return MissingInformation(
        kind="version",
        question="Which version or commit of this project do you use?",
        reason=f"It tells which code ran, and whether the problem is already fixed{platform}.",
    )


def _names_source_state(reading: Reading) -> bool:
    sections = [section for section in reading.sections if "version" in section.heading.lower()]
    if any(re.search(r"\w{2}", section.text) for section in sections):
        return True
    return MOVING_VERSION.search(f"{reading.text[:20_000]} {' '.join(reading.links[:50])}") is not None


def _ask_expected(reading: Reading) -> MissingInformation | None:
    text = searchable_text(reading)
    if (
        _shows_enough(reading)
        or EXPECTATION.search(text)
        or find_crash_words(text)
        or OBSERVATION.search(reading.title)
    ):
        return None
    return MissingInformation(
        kind="expected",
        question="What did you expect to happen instead?",
        reason=f"Without it, {_subject(reading)} could also be meant that way.",
    )


def _ask_actual(reading: Reading) -> MissingInformation | None:
    if _shows_enough(reading) or OBSERVATION.search(searchable_text(reading)):
        return None
    return MissingInformation(
        kind="actual",
        question="What happens exactly: what do you see, word for word?",
        reason="The report does not say what goes wrong.",
    )


def _shows_enough(reading: Reading) -> bool:
    """Whether an error, code or a longer text shows what is meant; also for other languages than English."""
    return (
        not is_english(reading) or has_error(reading) or has_code(reading) or len(reading.prose.split()) > _MANY_WORDS
    )


def _ask_environment(reading: Reading) -> MissingInformation | None:
    bound = _PLATFORM_BOUND.search(searchable_text(reading))
    if bound is None or _names_system(reading):
        return None
    return MissingInformation(
        kind="environment",
        question="Which operating system, runtime or browser is it, and on which does it work?",
        reason=f"“{_short(bound[0])}” suggests that it depends on the machine.",
    )


def _ask_configuration(reading: Reading) -> MissingInformation | None:
    mention = _CONFIGURED.search(searchable_text(reading))
    if mention is None or reading.code:
        return None
    return MissingInformation(
        kind="configuration",
        question="Could you show the part of the configuration that matters here (without secrets)?",
        reason=f"The report says “{_short(mention[0])}”, but does not show it.",
    )


_CHECKS: dict[MissingKind, Callable[[Reading], MissingInformation | None]] = {
    "reproduction": _ask_reproduction,
    "error_output": _ask_error_output,
    "version": _ask_version,
    "actual": _ask_actual,
    "expected": _ask_expected,
    "environment": _ask_environment,
    "configuration": _ask_configuration,
}
_ORDER: tuple[MissingKind, ...] = (*_CHECKS, "other")
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


def _links_to_source(reading: Reading) -> bool:
    return any(SOURCE_LINK.search(link) for link in reading.links)


def _names_system(reading: Reading) -> bool:
    heading = re.compile(r"(?i)\bos\b|system|environment|platform|browser")
    sections = [section.text[:300] for section in reading.sections if heading.search(section.heading)]
    if _SYSTEM.search(" ".join([*reading.versions, *sections])):
        return True
    return re.search(r"(?i)\b(?:windows|ubuntu|mac ?os|debian|fedora|android|ios) \d", reading.body) is not None


def _subject(reading: Reading) -> str:
    title = _short(reading.title.strip(" .:!?"))
    return f"“{title}”" if title else "a problem"


def _short(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) <= _MAX_QUOTE_CHARS else words[: _MAX_QUOTE_CHARS - 1].rsplit(" ", 1)[0] + " …"
