"""The phrases: the same set in every language, in that language, and as the rules of the comment want them."""

import re
from string import Formatter

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

from triage.graph.open_gap import MAX_GAP_CHARS
from triage.issue.reporter_language import detect_reporter_language, list_detectable_languages
from triage.issue.reporter_phrases import Phrases, get_phrases, list_languages

ENGLISH = get_phrases("en")
TEXTS = [name for name in Phrases.model_fields if name != "name"]
QUESTIONS = [name for name in TEXTS if name.startswith("ask_")]
MAX_CHARS = 200
"""Of a question in the comment."""
TEN = {"en", "zh-Hans", "zh-Hant", "es", "pt", "fr", "de", "ru", "ja", "ko", "it"}


def placeholders(text: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(text) if name]


def test_the_most_common_languages_are_there() -> None:
    assert set(list_languages()) >= TEN


@pytest.mark.parametrize("language", list_languages())
def test_every_language_is_one_that_is_detected(language: str) -> None:
    assert language in list_detectable_languages()


@pytest.mark.parametrize("language", list_languages())
def test_placeholders_are_the_same_in_all_languages(language: str) -> None:
    phrases = get_phrases(language)
    for name in TEXTS:
        assert placeholders(getattr(phrases, name)) == placeholders(getattr(ENGLISH, name)), name


def test_every_detectable_language_leads_to_phrases() -> None:
    for language in list_detectable_languages():
        phrases = get_phrases(language)
        assert all(getattr(phrases, name).strip() for name in TEXTS)
        assert (phrases == ENGLISH) == (language not in set(list_languages()) - {"en"})


@pytest.mark.parametrize("language", ["", "de-AT", "../en", "zh", "EN"])
def test_an_unknown_code_leads_to_english(language: str) -> None:
    assert get_phrases(language) == ENGLISH


@pytest.fixture(scope="module")
def detector() -> LanguageIdentifier:
    """Knows our languages only, and so also those of a short phrase."""
    detector = LanguageIdentifier.from_model_file(MODEL_FILE)
    detector.set_languages({language[:2] for language in list_languages()})
    return detector


@pytest.mark.parametrize("language", list_languages())
def test_each_phrase_is_in_its_language(language: str, detector: LanguageIdentifier) -> None:
    phrases = get_phrases(language)
    texts = [re.sub(r"\{\w+\}", "", getattr(phrases, name)) for name in TEXTS]
    for text in texts:
        assert detector.classify(text)[0] == language[:2], text
    assert detect_reporter_language("", " ".join(texts)) == language  # with the script


@pytest.mark.parametrize("language", list_languages())
def test_questions_are_short_and_without_lectures(language: str) -> None:
    phrases = get_phrases(language)
    for name in QUESTIONS:
        text = getattr(phrases, name)
        longest = text.format(project="p" * 40, label="x" * 120, message="m" * 80, gap="g" * MAX_GAP_CHARS)
        assert len(longest) <= MAX_CHARS, name
        assert len(re.findall(r"[.!?。！？](?:\s|$|(?=\w))", text)) <= 2, name
        assert "!" not in text
        assert "\n" not in text
        assert text == text.strip()


@pytest.mark.parametrize("language", list_languages())
def test_markdown_is_left_to_the_page(language: str) -> None:
    for name in TEXTS:
        assert not re.search(r"[*_`<>#\[\]|$@]|https?:", getattr(get_phrases(language), name)), name
