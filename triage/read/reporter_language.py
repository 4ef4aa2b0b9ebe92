"""The reporter's language: which it is, its phrases (a file each in `phrases/`), and the answers to our questions."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any

from triage.base.text import word_set
from triage.domain.issue import EarlierQuestions, HumanExchange, Issue, IssueComment
from triage.domain.value import Value
from triage.read.visible_text.visible_text import extract_visible_page

UNSURE = "en"
MAX_CHARS = 4_000
_MIN_BYTES = 16
"""Of the words, in UTF-8, as the detector counts them. Three short words of Spanish."""
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
_OWN_LETTERS = {"ko": "[\uac00-\ud7a3]", "ja": "[\u3040-\u30ff]", "zh": "[\u4e00-\u9fff]"}
"""Of Japanese and Korean a third and more is their own; who writes another language may quote some."""
_MIN_LETTERS = 4
"""An English title may quote some."""
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
    own = {language: len(re.findall(letters, "".join(other))) for language, letters in _OWN_LETTERS.items()}
    letters = sum(own.values())  # of three bytes each
    if share > _SCRIPT_SHARE and letters >= _MIN_LETTERS and 6 * letters > other_bytes:
        language = next((one for one in ("ko", "ja") if 3 * own[one] >= letters), "zh")
        return _add_script("".join(other)) if language == "zh" else language
    if _count_bytes(words) < _MIN_BYTES:
        return UNSURE
    try:
        language, probability = _load_detector().classify(" ".join(words))
    except OSError:  # it unpacks its model into a temporary file
        return UNSURE
    if probability < _MIN_PROBABILITY:
        return UNSURE
    return str(language)


def _keep_own_words(title: str, prose: str) -> str:
    lines = _TEMPLATE_LINE.sub("", prose[: 4 * MAX_CHARS])
    text = _QUOTED.sub(" ", f"{title}\n{lines}")
    return _ASCII_RUN.sub(lambda run: " " if _CODE.search(run[0].strip("()[]\"'.,:;!?*")) else run[0], text)[:MAX_CHARS]


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


class Phrases(Value):
    """All phrases of one language. Words in braces are filled in: names, labels and messages as they are."""

    name: str
    """Of the language, in English."""
    thanks: str
    how_to_answer: str
    answered: str
    security: str
    ask_field: str
    ask_text_of_picture: str
    ask_error: str
    ask_steps: str
    ask_version: str
    ask_version_of: str
    ask_everything: str
    ask_wish: str
    ask_gap: str
    ask_difference: str
    ask_newer: str


PHRASES = {
    file.name.removesuffix(".json"): Phrases.model_validate_json(file.read_text(encoding="utf-8"))
    for file in (files("triage.read") / "phrases").iterdir()
    if file.name.endswith(".json")
}
"""Read at import, because an event loop must not wait for a disk."""


def get_phrases(language: str) -> Phrases:
    """Return the phrases of the language, the English ones for a language that has none."""
    return PHRASES.get(language, PHRASES["en"])


MAX_EXCHANGES = 10
MAX_ANSWER_CHARS = 4_000


def pair_questions_with_answers(issue: Issue, earlier: Sequence[EarlierQuestions], now: str) -> list[HumanExchange]:
    """Return each comment of the reporter below a comment of ours, with what that asked when it was answered.

    Oldest first. `earlier` is what our comment has asked before it was updated, and `now` what it asks since.
    """
    exchanges: list[HumanExchange] = []
    asking: IssueComment | None = None
    for comment in issue.thread:
        if comment.ours:
            asking = comment
        elif asking and comment.author == issue.author and not (comment.by_bot or comment.is_shortened):
            at = comment.created_at
            past = [one for one in earlier if at and at.timestamp() <= one.until]
            question = past[0].text if past else now
            since = [one.until for one in earlier if one not in past]
            asked_at = datetime.fromtimestamp(since[-1], UTC) if since else asking.created_at
            answer = extract_visible_page(comment.body).text[:MAX_ANSWER_CHARS] if question else ""
            exchanges.append(HumanExchange(question=question, asked_at=asked_at, answer=answer, answered_at=at))
    return [exchange for exchange in exchanges if exchange.answer.strip()][-MAX_EXCHANGES:]
