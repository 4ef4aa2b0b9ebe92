"""Judges whether somebody else could see the problem that a report describes, or would have to guess."""

import re

from triage.domain.issue import ParsedIssue
from triage.issue.kind.issue_kind import read_kind
from triage.issue.text_signs import (
    FAILURE,
    IMPERATIVE,
    NUMBERED,
    OBSERVATION,
    SOURCE_LINK,
    STEPS,
    count_words,
    find_crash_words,
    has_code,
    has_error,
)

MANY_WORDS = 40
"""Longer prose says what happened, whatever words it uses."""
_FEW_WORDS = 25
_FEWEST_WORDS = 6
_TELLING_WORDS = 12
_FOREIGN_WORDS = 18
_STEP_WORDS = 8
_STEPS_WORDS = 18
_TITLE_WORDS = 6
_MAX_LINKS = 50
_MAX_CHARS = 20_000
_STEPS_HEADING = re.compile(r"(?i)repro|\bsteps\b|command used|how to trigger")
_SANDBOXES = re.compile(
    r"(?:codesandbox|stackblitz|codepen|jsfiddle|jsbin|plnkr|replit|godbolt|gist\.|colab\.|play\.|playground|"
    r"cirrus-ci|travis-ci|circleci|appveyor|dev\.azure|buildkite|pastebin|paste\.|bpa\.st|asciinema)",
    re.I,
)
"""Sites with code that runs, or with the log of a build."""
_PICTURE = re.compile(r"^https://[^/]+$")
"""Of a picture only the origin is read, and nothing of it is in the text."""
_ACTION_LINE = re.compile(
    r"^[ \t]{0,8}[-*+•>]{0,2}[ \t]{0,4}(?:then |and |now )?(?:click|tap|open|close|go to|goto|search|scroll|press|"
    r"select|choose|enter|type|run|create|add|remove|delete|start|launch|navigate|install|drag|drop|hover|resize|import|"
    r"export|switch|enable|disable|set|upload|download|log ?in|sign in|visit|reload|refresh|save|build|call|"
    r"execute)\b ?\S",
    re.I | re.M,
)
"""A step without a number."""
_CONTRAST = re.compile(
    r"^\W{0,8}expected\b[^\n]{0,40}:.{0,1000}?^\W{0,8}actual\b"
    r"|\b(?:fine|ok|okay|correct(?:ly)?|works?|right)\b[^.\n]{0,20}, but (?:on|in|with|for)\b"
    r"|\b[a-z]{3,20}ing\b[^.\n]{0,60}\bcauses\b",
    re.I | re.M | re.S,
)
"""What is right next to what is wrong, or what leads to it."""
_NO_ANSWER = re.compile(r"(?i)^[\W_]*(?:no response|n/?a|none)[\W_]*$")
_CODE_SPAN = re.compile(r"`([^`\n]{2,200})`")
_TROUBLE = re.compile(r"(?i)\b(?:errors?|exception|fail\w*|crash\w*|log|output|message|warning)\b")
_PICTURED = re.compile(
    r"(?i)\b(?:errors?|message|warning|log|output|crash)\W{1,3}(?:\w{1,20}\W{1,3}){0,4}"
    r"(?:below|attached|above|screen ?shot|picture|image)"
    r"|\b(?:screen ?shot|\w{0,2}snap ?shot|picture|image|here is|here['’]s)\W{1,3}(?:\w{1,20}\W{1,3}){0,3}"
    r"(?:error|message|warning|log|output|crash)\b|\b(?:some|following|occurs?) errors?\b"
)
_ERROR_WORDS = re.compile(r"(?i)\b(?:errors?|exceptions?|warnings?|crash\w*)\b")
_RESULT_HEADING = re.compile(r"(?i)current behav|actual|what happen|error|output|observed|describe the (?:bug|issue)")
_LOG_LINES = 20
_LOG_LINE = re.compile(
    r"\W{0,3}(?:\d{4}[-/]\d\d[-/]\d\d|\d{1,2}[-/]\d{1,2}[-/]\d{2,4} |\d\d:\d\d:\d\d|[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:|"
    r"\d+\.\d{3,6}\]|(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR)\b|[a-z]+\d*: |--? |\w+(?:\[\d+\])?: )",
)
_FAILED = re.compile(
    r"(?i)\b(?:(?<!\b0 )(?<!\bno )errors?(?!: 0)|fail(?:ed|ure)|fatal|exception|panic|traceback)\b|\*\*\* "
)
_SEE_LOG = re.compile(
    r"(?i)\b(?:see|in|check|attach\w*|here)\b.{0,30}\blogs?\b|\blogs?\b.{0,20}\b(?:attach|below|here)"
)
_ATTACHED = re.compile(r"/files/\d+/\S+\.(?:log|txt|zip|gz)$", re.I)
_TAG = re.compile(r"^\s*(?:\[[^\]]{1,40}\]:?|[\w./ -]{1,30}:)\s*")
_GENERAL = re.compile(
    r"(?i)\b(?:(?:is|are|does|do|it)(?:n['’]?t| not) work\w*|not working|doesnt work|won['’]?t work|crash\w*|"
    r"broken|errors?|exceptions?|problems?|issues?|bugs?|help|fail\w*|hangs?|freez\w+|slow\w*|any ?more)\b"
)
"""Words that could stand above any report."""
_TEMPLATE_LINE = re.compile(r"#|\s*[-*+] \[[ xX]\]")
_LINK = re.compile(r"https?://\S{1,500}")
_POINTER = re.compile(r"(?<![\w/])#\d+\b|https?://")


def is_reproducible(parsed: ParsedIssue, *, shows_steps: bool = True) -> bool:
    """Return whether a maintainer can run it, click through it, or read where it fails.

    `shows_steps` is false where the section for the steps is empty: then words such as `when I …` are no steps.
    """
    if has_code(parsed) or parsed.stack_traces or links_to_source(parsed) or _has_steps_section(parsed):
        return True
    prose = extract_own_words(parsed)
    if len(NUMBERED.findall(prose)) >= 2 or len(_ACTION_LINE.findall(prose)) >= 2:
        return True
    if not shows_steps:
        return False
    described = len(STEPS.findall(prose)) + ("`" in prose) + (len(parsed.identifiers) >= 2)
    return described >= 2 and count_own_words(parsed) > _STEPS_WORDS


def is_vague(parsed: ParsedIssue) -> bool:
    """Return whether a report that is not reproducible also leaves open what goes wrong where."""
    if _requests_change(parsed) or _shows_error_of_title(parsed):
        return False
    words, prose = count_own_words(parsed), extract_own_words(parsed)
    named = {*parsed.identifiers, *parsed.paths, *_CODE_SPAN.findall(prose)}
    pointers = len(named) + len(_POINTER.findall(prose))
    if has_telling_title(parsed) and (words > _FEWEST_WORDS or pointers):
        return False
    if _CONTRAST.search(prose) or (words > MANY_WORDS and shows_pictures(parsed)):
        return False
    if parsed.language != "en":
        return words < _FOREIGN_WORDS and not pointers  # the words of this module cannot tell
    tells = _tells_cause_and_effect(parsed)
    if tells and words >= _TELLING_WORDS and not find_crash_words(f"{parsed.title}\n{prose}"):
        return False
    if words < _FEW_WORDS and not pointers:
        return True
    return words < 2 * MANY_WORDS and pointers < 2 and not tells


def extract_own_words(parsed: ParsedIssue) -> str:
    """Return prose without headings and checklists, which come from templates, and without answers that are none."""
    lines = parsed.prose[:_MAX_CHARS].split("\n")
    return "\n".join(line for line in lines if not _TEMPLATE_LINE.match(line) and not _NO_ANSWER.match(line))


def count_own_words(parsed: ParsedIssue) -> int:
    return count_words(_LINK.sub("", extract_own_words(parsed)))


def links_to_source(parsed: ParsedIssue) -> bool:
    """Return whether a link leads to code, to a change, to an example that runs, or to the log of a build."""
    return any(SOURCE_LINK.search(link) or _SANDBOXES.search(link) for link in parsed.links[:_MAX_LINKS])


def shows_pictures(parsed: ParsedIssue) -> bool:
    prose = parsed.prose[:_MAX_CHARS]
    return any(_PICTURE.match(link) and link.partition("//")[2] not in prose for link in parsed.links[:_MAX_LINKS])


def leaves_error_to_picture(parsed: ParsedIssue, *, can_be_seen: bool) -> bool:
    """Return whether the text speaks of an error or an output that only a picture shows."""
    if parsed.error_messages or not shows_pictures(parsed):
        return False
    is_short = count_own_words(parsed) <= MANY_WORDS and not can_be_seen
    return (_TROUBLE if is_short else _PICTURED).search(f"{parsed.title}\n{extract_own_words(parsed)}") is not None


def has_picture_for_error(parsed: ParsedIssue) -> bool:
    """Return whether the title speaks of an error, and the section for what happens has only a picture."""
    if has_error(parsed) or not shows_pictures(parsed) or not _ERROR_WORDS.search(parsed.title):
        return False
    results = [section.text for section in parsed.sections if _RESULT_HEADING.search(section.heading)]
    return bool(results) and not any(re.search(r"\w", text) for text in results)


def lacks_failure(parsed: ParsedIssue) -> bool:
    """Return whether the report leaves what fails to a log, which does not show it or is a file that nobody opened."""
    if has_error(parsed) or count_own_words(parsed) > MANY_WORDS:
        return False
    prose = extract_own_words(parsed)
    is_attached = _SEE_LOG.search(prose) is not None and any(map(_ATTACHED.search, parsed.links[:_MAX_LINKS]))
    return is_attached or drop_silent_logs(parsed) != parsed


def drop_silent_logs(parsed: ParsedIssue) -> ParsedIssue:
    """Return the issue without the logs that show no failure: they are neither an example nor an error."""
    if has_error(parsed) or count_own_words(parsed) > MANY_WORDS:
        return parsed
    return parsed.model_copy(update={"code": [block for block in parsed.code if not _is_silent_log(block.text)]})


def _is_silent_log(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    is_log = len(lines) > _LOG_LINES and 2 * sum(bool(_LOG_LINE.match(line)) for line in lines) > len(lines)
    return is_log and not any(map(_FAILED.search, lines))


def may_be_a_wish(parsed: ParsedIssue) -> bool:
    """Return whether it is likelier a feature request than anything else, if not certainly, and nothing in it fails."""
    if read_kind(parsed).likeliest != "feature_request" or has_error(parsed) or parsed.language != "en":
        return False
    if count_own_words(parsed) < _FEWEST_WORDS:
        return False
    return not FAILURE.search(f"{parsed.title}\n{extract_own_words(parsed)}")


def _requests_change(parsed: ParsedIssue) -> bool:
    """Return whether the title names the change and nothing failed: then steps and versions would not help."""
    return IMPERATIVE.search(parsed.title) is not None and not has_error(parsed) and bool(parsed.prose or parsed.code)


def _shows_error_of_title(parsed: ParsedIssue) -> bool:
    """Return whether the title says what was done, and the text the message that came."""
    below = any(message not in parsed.title for message in parsed.error_messages)
    return below and count_words(_TAG.sub("", parsed.title)) >= _TITLE_WORDS


def has_telling_title(parsed: ParsedIssue) -> bool:
    """Return whether the title says what is wrong with what, so that a short text below it is enough."""
    title = _TAG.sub("", parsed.title)
    return count_words(title) >= _TITLE_WORDS and _GENERAL.search(title) is None


def _has_steps_section(parsed: ParsedIssue) -> bool:
    for section in parsed.sections:
        text = _LINK.sub("", section.text[:5_000])
        words = len(text.split())
        if not _STEPS_HEADING.search(section.heading) or words < 2:
            continue
        if NUMBERED.search(text) or "`" in text or words >= _FEW_WORDS:
            return True
        if words >= _STEP_WORDS and (STEPS.search(text) or _ACTION_LINE.search(text)):
            return True
    return False


def _tells_cause_and_effect(parsed: ParsedIssue) -> bool:
    text = f"{parsed.title}\n{extract_own_words(parsed)}"
    return STEPS.search(text) is not None and OBSERVATION.search(text) is not None
