"""Classifies an issue. In doubt it is a bug: a bug that is called a question is lost."""

import re
from collections.abc import Sequence

from triage.domain.findings import Kind
from triage.domain.issue import Reading
from triage.reading.text_signs import has_error, searchable_text

_BUG_LABEL = re.compile(r"(?i)\b(?:bug|defect|regression|crash|type[-:/ ]*bug|kind/bug)\b")
_FEATURE_LABEL = re.compile(
    r"(?i)\b(?:enhancement|feature|feature[- ]request|improvement|proposal|rfc|wish(?:list)?)\b"
)
_QUESTION_LABEL = re.compile(r"(?i)^(?:type[:/ -]*)?(?:question|support|help|usage|discussion)$")
_FEATURE_TITLE = re.compile(
    r"(?i)^\W*(?:feature\b|feature[- ]request|enhancement|proposal|rfc|feat\b|idea|suggestion|wish(?:list)?|"
    r"request\b|\[?feature\]?|(?:please )?(?:add|allow|implement|introduce|provide|support|expose|make it "
    r"possible|enable|option to|ability to)\b)"
)
_FEATURE_WORDS = re.compile(
    r"(?i)\b(?:feature request|(?:it )?would be (?:\w+ ){0,2}(?:nice|great|useful|helpful|good|cool|handy|"
    r"awesome) (?:to|if)|"
    r"(?:i|we) (?:would|'d) (?:like|love) (?:to (?:be able|have|see|propose|suggest|request)|a\b|an\b)|i "
    r"(?:propose|suggest)\b|"
    r"describe the solution you'd like|is your feature request|proposed (?:feature|solution)|could you (?:please "
    r")?(?:add|support|implement))"
)
_FEATURE_SECTION = re.compile(
    r"(?i)solution you'd like|feature (?:request|description)|proposed (?:solution|feature)|alternatives "
    r"(?:you've )?considered|motivation|use case|^problem$"
)
_QUESTION_TITLE = re.compile(
    r"(?i)^\W*(?:\[?question\]?\b|how (?:do|can|to|should|would)\b|what (?:is|are|does)\b|where (?:is|can|do)\b|"
    r"which\b|"
    r"can (?:i|we|you|someone|somebody)\b|is (?:it|there) (?:possible|any|a way)\b|should i\b|does anyone|help\b)"
)
_BUG_WORDS = re.compile(
    r"(?i)\b(?:bug|crash\w*|broken?|breaks|regression|segfault\w*|incorrect\w*|wrong\w*|fail(?:s|ed|ing|ure)?|"
    r"hangs?|freez\w+|leak\w*|"
    r"error|exception|traceback|throws|raises|no longer works?|(?:does|do|did|is|are|was)(?:n't| not) (?!support|"
    r"possible|yet)\w+|unexpected\w*|corrupt\w*|inconsistent\w*)\b"
)
_BUG_SECTION = re.compile(
    r"(?i)describe the bug|bug (?:summary|report|description)|steps to reproduce|to reproduce|actual (?:outcome|"
    r"behaviou?r|result)|current behaviou?r"
)
_EMPTY_TITLE = re.compile(
    r"(?i)^\W*(?:test(?:ing)?|hi|hello|hey|asdf\w*|qwerty?|foo|bar|issue|bug|help|none|title|a+|x+|\d*)[\W\d]*$"
)
_SPAM = re.compile(
    r"(?i)\b(?:buy now|casino|viagra|crypto (?:airdrop|giveaway)|whatsapp (?:me|number|group)|telegram (?:group|"
    r"channel)|seo services?|earn money|"
    r"loan offer|customer (?:care|support) (?:phone )?number|click here to (?:claim|win)|free followers|betting site)\b"
)


def classify_issue(reading: Reading, labels: Sequence[str]) -> Kind:
    if _is_not_actionable(reading):
        return "not_actionable"
    if any(_BUG_LABEL.search(label) for label in labels):
        return "bug"
    if any(_FEATURE_LABEL.search(label) for label in labels):
        return "feature_request"
    if reading.traces or _has_section(reading, _BUG_SECTION):
        return "bug"
    if _is_feature(reading):
        return "feature_request"
    return "question" if _is_question(reading, labels) else "bug"


def _is_feature(reading: Reading) -> bool:
    if re.match(r"(?i)\W*(?:feature|enhancement|proposal|rfc|wish)", reading.title):
        return True
    if has_error(reading) or _BUG_WORDS.search(reading.title):
        return False
    text = searchable_text(reading)[:3_000]
    title = re.sub(r"^\s*(?:\[[^\]]{1,40}\]:?|[\w./-]{1,30}:)\s*", "", reading.title)  # without `[Feature]:` or `area:`
    title_asks = _FEATURE_TITLE.search(title) is not None
    asks = len(_FEATURE_WORDS.findall(text)) + 2 * _has_section(reading, _FEATURE_SECTION) + 2 * title_asks
    return asks >= 2 and asks > len(_BUG_WORDS.findall(text))


def _is_question(reading: Reading, labels: Sequence[str]) -> bool:
    if has_error(reading) or _BUG_WORDS.search(reading.title):
        return False
    if any(_QUESTION_LABEL.search(label) for label in labels):
        return True
    asks = _QUESTION_TITLE.search(reading.title) is not None
    return asks and len(_BUG_WORDS.findall(searchable_text(reading)[:3_000])) <= 1


def _is_not_actionable(reading: Reading) -> bool:
    text = f"{reading.title} {reading.prose}"
    if _SPAM.search(text[:5_000]) and not reading.code and not reading.traces and not reading.error_messages:
        return True
    has_answers = any(section.text.strip() for section in reading.sections)
    body_words = [] if reading.sections and not has_answers else re.findall(r"\w{2,}", reading.prose)
    if reading.code or reading.links or len(body_words) > 3:
        return False
    return _EMPTY_TITLE.match(reading.title) is not None or not re.search(r"\w{2}", reading.title)


def _has_section(reading: Reading, heading: re.Pattern[str]) -> bool:
    return any(heading.search(section.heading) and section.text.strip() for section in reading.sections)
