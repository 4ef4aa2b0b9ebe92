"""Judges whether somebody else could see the problem that a report describes, or would have to guess."""

import re

from triage.domain.issue import Reading
from triage.reading.text_signs import (
    IMPERATIVE,
    NUMBERED,
    OBSERVATION,
    SOURCE_LINK,
    STEPS,
    count_words,
    has_code,
    has_error,
    searchable_text,
)

MANY_WORDS = 40
"""Longer prose says what happened, whatever words it uses."""
_FEW_WORDS = 25
_FEWEST_WORDS = 6
_STEP_WORDS = 8
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
"""Of a picture only the origin is read."""
_TAG = re.compile(r"^\s*(?:\[[^\]]{1,40}\]:?|[\w./ -]{1,30}:)\s*")
_GENERAL = re.compile(
    r"(?i)\b(?:(?:is|are|does|do|it)(?:n['’]?t| not) work\w*|not working|doesnt work|won['’]?t work|crash\w*|"
    r"broken|errors?|exceptions?|problems?|issues?|bugs?|help|fail\w*|hangs?|freez\w+|slow\w*|any ?more)\b"
)
"""Words that could stand above any report."""
_LINK = re.compile(r"https?://\S{1,500}")
_POINTER = re.compile(r"(?<![\w/])#\d+\b|https?://")


def is_reproducible(reading: Reading) -> bool:
    """Whether a maintainer can run it, click through it, or read where it fails."""
    if has_code(reading) or reading.stack_traces or links_to_source(reading) or _has_steps_section(reading):
        return True
    prose = reading.prose[:_MAX_CHARS]
    if len(NUMBERED.findall(prose)) >= 2:
        return True
    described = len(STEPS.findall(prose)) + ("`" in prose) + (len(reading.identifiers) >= 2)
    return described >= 2 and count_own_words(reading) > _FEW_WORDS


def is_vague(reading: Reading) -> bool:
    """Whether a report that is not reproducible also leaves open what goes wrong where."""
    if _requests_change(reading):
        return False
    words = count_own_words(reading)
    pointers = len(reading.identifiers) + len(reading.paths) + len(_POINTER.findall(reading.prose[:_MAX_CHARS]))
    if _has_telling_title(reading) and (words > _FEWEST_WORDS or pointers):
        return False
    if words < _FEW_WORDS and not pointers:
        return True
    return words < 2 * MANY_WORDS and pointers < 2 and not _tells_cause_and_effect(reading)


def extract_own_words(reading: Reading) -> str:
    """Prose without headings, which come from templates."""
    return "\n".join(line for line in reading.prose[:_MAX_CHARS].split("\n") if not line.startswith("#"))


def count_own_words(reading: Reading) -> int:
    return count_words(_LINK.sub("", extract_own_words(reading)))


def links_to_source(reading: Reading) -> bool:
    """Whether a link leads to code, to a change, to an example that runs, or to the log of a build."""
    return any(SOURCE_LINK.search(link) or _SANDBOXES.search(link) for link in reading.links[:_MAX_LINKS])


def shows_pictures(reading: Reading) -> bool:
    return any(_PICTURE.match(link) for link in reading.links[:_MAX_LINKS])


def _requests_change(reading: Reading) -> bool:
    """Whether the title names the change and nothing failed: then steps and versions would not help."""
    return (
        IMPERATIVE.search(reading.title) is not None and not has_error(reading) and bool(reading.prose or reading.code)
    )


def _has_telling_title(reading: Reading) -> bool:
    """Whether the title says what is wrong with what, so that a short text below it is enough."""
    title = _TAG.sub("", reading.title)
    return count_words(title) >= _TITLE_WORDS and _GENERAL.search(title) is None


def _has_steps_section(reading: Reading) -> bool:
    for section in reading.sections:
        text = _LINK.sub("", section.text[:5_000])
        words = len(text.split())
        if not _STEPS_HEADING.search(section.heading) or words < 2:
            continue
        if NUMBERED.search(text) or "`" in text or words >= _FEW_WORDS:
            return True
        if words >= _STEP_WORDS and STEPS.search(text):
            return True
    return False


def _tells_cause_and_effect(reading: Reading) -> bool:
    text = searchable_text(reading)
    return STEPS.search(text) is not None and OBSERVATION.search(text) is not None
