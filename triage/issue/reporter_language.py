"""Detects the language that a report is written in, by its prose."""

import re
from functools import cache
from typing import Any

from triage.base.word_set import word_set

UNSURE = "en"
MAX_CHARS = 4_000
_MIN_BYTES = 16
"""Of the words, in UTF-8, as the detector counts them. Five characters of Chinese, or three short words of Spanish."""
_MIN_PROBABILITY = 0.7
"""With both limits, of 2,129 reports in English, cut after two to sixteen words, one in 1,800 was taken for another
language. Of 90 in other languages, three in four were known by 24 bytes, and none was taken for a wrong one."""
_ENGLISH = word_set(
    "the is are was it to of and not this that with for when you from but be has have if after can does"
)
_ENGLISH_EVERY = 8
"""In English prose every third word is one of these. Where one in eight is, the detector need not be loaded."""
_SCRIPT_SHARE = 1 / 6
"""Of the bytes, in letters that are not Latin. From there on, Latin words are technical terms in another language."""
_TEMPLATE_LINE = re.compile(r"^[ \t]*(?:#|[-*+] \[[ xX]\]).*", re.M)
_QUOTED = re.compile(r"`[^`\n]*`|“[^“”\n]*”|\"[^\"\n]*\"|«[^«»\n]*»|「[^「」\n]*」")
_ASCII_RUN = re.compile(r"[!-~]+")
_CODE = re.compile(r"[/\\_@=<>{}()\[\]$#|0-9]|\w[.:]\w|[a-z][A-Z]")
_LATIN = "A-Za-z\u00aa-\u024f\u1e00-\u1eff"
_LATIN_WORD = re.compile(rf"[{_LATIN}]+(?:['’][{_LATIN}]+)?")
_OTHER_WORD = re.compile(rf"[^\W\d_{_LATIN}]+")


def detect_reporter_language(title: str, prose: str) -> str:
    """The language of the author's own words: an ISO 639-1 code, for Chinese with its script (`zh-Hans`, `zh-Hant`).

    Headings, checklists, quotes and names in code do not count. English if the text is too short or unclear.
    """
    text = _keep_own_words(title, prose)
    latin, other = _LATIN_WORD.findall(text), _OTHER_WORD.findall(text)
    other_bytes = _count_bytes(other)
    share = other_bytes / max(1, other_bytes + _count_bytes(latin))
    if share < 0.5 and sum(word.lower() in _ENGLISH for word in latin) * _ENGLISH_EVERY >= len(latin):
        return "en"
    words = other if share > _SCRIPT_SHARE else latin
    if _count_bytes(words) < _MIN_BYTES:
        return UNSURE
    try:
        language, probability = _load_detector().classify(" ".join(words))
    except OSError:  # it unpacks its model into a temporary file
        return UNSURE
    if probability < _MIN_PROBABILITY:
        return UNSURE
    return _add_script("".join(words)) if language == "zh" else str(language)


def list_detectable_languages() -> list[str]:
    """All codes that `detect_reporter_language` can return."""
    return [code for code in _load_detector().nb_classes if code != "zh"] + ["zh-Hans", "zh-Hant"]


def _keep_own_words(title: str, prose: str) -> str:
    lines = _TEMPLATE_LINE.sub("", prose[: 4 * MAX_CHARS])
    text = _QUOTED.sub(" ", f"{title}\n{lines}")
    return _ASCII_RUN.sub(_drop_code, text)[:MAX_CHARS]


def _drop_code(run: re.Match[str]) -> str:
    return " " if _CODE.search(run[0].strip("()[]\"'.,:;!?*")) else run[0]


def _count_bytes(words: list[str]) -> int:
    return sum(len(word.encode("utf-8", "replace")) for word in words)


def _add_script(text: str) -> str:
    """Traditional characters are in Big5 and not in GB 2312, simplified ones the other way round."""
    traditional = simplified = 0
    for character in text:
        in_big5, in_gb2312 = _can_encode(character, "big5"), _can_encode(character, "gb2312")
        traditional += in_big5 and not in_gb2312
        simplified += in_gb2312 and not in_big5
    return "zh-Hant" if traditional > simplified else "zh-Hans"


def _can_encode(character: str, encoding: str) -> bool:
    return character.encode(encoding, "ignore") != b""


@cache
def _load_detector() -> Any:  # the library has no types
    # 100 MB and half a second, which a report in English does not need.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

    detector = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    # Of the others most are neighbours of large languages, such as Wu Chinese or Aragonese.
    detector.set_languages([code for code in detector.labels if len(code) == 2])
    return detector
