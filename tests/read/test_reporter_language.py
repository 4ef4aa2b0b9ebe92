"""The language of a report, its phrases, and our questions with the reporter's answers."""

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from string import Formatter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

from testing.each_row import each_row
from tests.read import native_reports
from triage.domain.issue import EarlierQuestions, HumanExchange, Issue, IssueComment
from triage.graph.routing import MAX_GAP_CHARS
from triage.read import reporter_language
from triage.read.read_issue import read_issue
from triage.read.reporter_language import (
    PHRASES,
    Phrases,
    detect_reporter_language,
    get_phrases,
    pair_questions_with_answers,
)

NATIVE = [
    (language, issue)
    for reports in (
        native_reports.VAGUE,
        native_reports.WITH_ENGLISH_WORDS,
        native_reports.IN_ENGLISH_FORM,
        native_reports.WITH_PICTURE,
    )
    for language, issue in reports.items()
]


@each_row(("language", "issue"), NATIVE)
def test_native_reports_are_known(language: str, issue: Issue) -> None:
    assert read_issue(issue).language == language


@each_row("language", native_reports.VAGUE)
def test_logs_do_not_count(language: str) -> None:
    issue = native_reports.VAGUE[language]
    log = "```\nERROR the connection was refused by the server, and it is not available for this request\n```"
    trace = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x\nValueError: this is not what it was'
    )
    body = f"{issue.body}\n\n{log}\n\n{trace}"
    assert read_issue(issue.model_copy(update={"body": body})).language == language


@pytest.mark.parametrize("issue", native_reports.ENGLISH_WITH_FOREIGN_WORDS, ids=lambda issue: issue.title)
def test_foreign_words_do_not_make_english_foreign(issue: Issue) -> None:
    assert read_issue(issue).language == "en"


@each_row(
    ("title", "body"),
    [
        ("", ""),
        ("Bug", "KeyError"),
        ("报错", ""),
        ("Crash opening 中文", ""),
        ("No va", "ayuda"),
        ("TypeError in parse", "```python\nfür = naïve_Größe(schön)\nprint('nicht gefunden, bitte prüfen')\n```"),
        ("v2.3.1", "https://example.com/es/no-funciona-el-programa-desde-ayer /usr/share/locale/de_DE/meldungen.po"),
        ("invalid default value", ""),
        ("QR code test failure", "Relates"),
    ],
)
def test_english_where_unsure(title: str, body: str) -> None:
    assert read_issue(Issue(title=title, body=body)).language == "en"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("uk", "Коли намагаюся зберегти файл, з'являється помилка і нічого не зберігається."),
        ("bg", "След обновяването програмата не се стартира. Какво да правя сега?"),
        ("ca", "Des de l'actualització el programa no arrenca, surt un missatge d'error. Què puc fer?"),
        ("gl", "Dende a actualización o programa non arrinca e sae unha mensaxe de erro."),
        ("cs", "Po aktualizaci se program nespustí a vypíše chybu. Co s tím mám dělat?"),
    ],
)
def test_a_neighbour_is_not_taken_for_the_larger_language(language: str, text: str) -> None:
    assert detect_reporter_language("", text) == language


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zh-Hans", "软件更新后打不开了，请问怎么解决？"),
        ("zh-Hant", "軟體更新後打不開了，請問怎麼解決？"),
        ("zh-Hant", "用了系統管理員開啟及重開機後，依舊無法解決"),
        ("zh-Hans", "中文文件名保存不了，求帮助一下"),
        ("zh-Hans", "Android Studio 安装失败"),
        ("ja", "起動しない"),
        ("ko", "캘린더 이슈"),
        ("ru", "Программа не открывает файл 测试文件 после обновления, что делать?"),
        ("zh-Hans", "打开ゲーム文件时程序崩溃了，无法保存设置，请问怎么解决这个问题？"),
    ],
)
def test_chinese_has_a_script(language: str, text: str) -> None:
    assert detect_reporter_language("", text) == language


def test_english_where_the_detector_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(reporter_language, "_load_detector", fail)
    assert read_issue(native_reports.VAGUE["de"]).language == "en"


def test_english_does_not_load_the_detector() -> None:
    code = (
        "import sys\nfrom triage.read.reporter_language import detect_reporter_language\n"
        "assert detect_reporter_language('Crash on start', 'When I open it, the window is empty and nothing happens.') == 'en'\n"
        "sys.exit('py3langid' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


@settings(deadline=None)
@given(st.text(), st.text(max_size=300))
def test_any_text_has_a_language(title: str, prose: str) -> None:
    language = detect_reporter_language(title, prose)
    assert language in {"zh-Hans", "zh-Hant"} or (len(language) == 2 and language != "zh")


ENGLISH = get_phrases("en")
TEXTS = [name for name in Phrases.model_fields if name != "name"]
QUESTIONS = [name for name in TEXTS if name.startswith("ask_")]
MAX_CHARS = 200
"""Of a question in the comment."""
TEN = {"en", "zh-Hans", "zh-Hant", "es", "pt", "fr", "de", "ru", "ja", "ko", "it"}


def placeholders(text: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(text) if name]


def list_detectable_languages() -> list[str]:
    return [code for code in reporter_language._load_detector().nb_classes if code != "zh"] + ["zh-Hans", "zh-Hant"]


def test_the_most_common_languages_are_there() -> None:
    assert set(PHRASES) >= TEN


@each_row("language", sorted(PHRASES))
def test_placeholders_are_the_same_in_all_languages(language: str) -> None:
    phrases = get_phrases(language)
    for name in TEXTS:
        assert placeholders(getattr(phrases, name)) == placeholders(getattr(ENGLISH, name)), name


def test_every_detectable_language_leads_to_phrases() -> None:
    for language in list_detectable_languages():
        phrases = get_phrases(language)
        assert all(getattr(phrases, name).strip() for name in TEXTS)
        assert (phrases == ENGLISH) == (language not in set(PHRASES) - {"en"})


@pytest.mark.parametrize("language", ["", "de-AT", "../en", "zh", "EN"])
def test_an_unknown_code_leads_to_english(language: str) -> None:
    assert get_phrases(language) == ENGLISH


@pytest.fixture(scope="module")
def detector() -> LanguageIdentifier:
    """Knows our languages only, and so also those of a short phrase."""
    detector = LanguageIdentifier.from_model_file(MODEL_FILE)
    detector.set_languages({language[:2] for language in PHRASES})
    return detector


@each_row("language", sorted(PHRASES))
def test_each_phrase_is_in_its_language(language: str, detector: LanguageIdentifier) -> None:
    phrases = get_phrases(language)
    texts = [re.sub(r"\{\w+\}", "", getattr(phrases, name)) for name in TEXTS]
    for text in texts:
        assert detector.classify(text)[0] == language[:2], text
    assert detect_reporter_language("", " ".join(texts)) == language  # with the script


@each_row("language", sorted(PHRASES))
def test_questions_are_short_and_without_lectures(language: str) -> None:
    phrases = get_phrases(language)
    for name in QUESTIONS:
        text = getattr(phrases, name)
        longest = text.format(
            project="p" * 40,
            label="x" * 120,
            message="m" * 80,
            gap="g" * MAX_GAP_CHARS,
            version="1.2.3",
            newest="n" * 20,
            count=99,
        )
        assert len(longest) <= MAX_CHARS, name
        assert len(re.findall(r"[.!?。！？](?:\s|$|(?=\w))", text)) <= 2, name
        assert "!" not in text
        assert "\n" not in text
        assert text == text.strip()


@each_row("language", sorted(PHRASES))
def test_markdown_is_left_to_the_page(language: str) -> None:
    for name in TEXTS:
        assert not re.search(r"[*_`<>#\[\]|$@]|https?:", getattr(get_phrases(language), name)), name


ASKED, ANSWERED = datetime(2026, 8, 20, 9, tzinfo=UTC), datetime(2026, 8, 21, 7, tzinfo=UTC)


def make_issue(*thread: IssueComment) -> Issue:
    return Issue(title="t", author="ada", thread=list(thread))


OURS = IssueComment(
    author="github-actions[bot]", body="<!-- bug-triage: v2 {} -->\nIt asks.", created_at=ASKED, by_bot=True, ours=True
)
ANSWER = IssueComment(author="ada", body="2.4 <!-- hidden -->", created_at=ANSWERED)


def test_an_answer_stands_with_its_question():
    question = "Which version?\nWhat is max_size?"
    assert pair_questions_with_answers(make_issue(OURS, ANSWER), [], question) == [
        HumanExchange(question=question, asked_at=ASKED, answer="2.4", answered_at=ANSWERED)
    ]


def test_an_answer_stands_with_the_question_of_its_time():
    """Our comment asked nothing at first, then for a log, then what it asks now, or nothing."""
    times = [ASKED + timedelta(hours=hour) for hour in range(4)]
    answers = [ANSWER.model_copy(update={"body": str(at), "created_at": times[at]}) for at in range(4)]
    earlier = [
        EarlierQuestions(until=int(times[0].timestamp()) + 60),
        EarlierQuestions(until=int(times[2].timestamp()) - 60, text="Which log?"),
    ]
    for now in ("Which version?\nWhat is max_size?", ""):
        found = pair_questions_with_answers(make_issue(OURS, *answers), earlier, now)
        log = [
            HumanExchange(
                question="Which log?", asked_at=times[0] + timedelta(minutes=1), answer="1", answered_at=times[1]
            )
        ]
        assert found[:1] == log
        assert [(one.question, one.answer) for one in found[1:]] == ([(now, "2"), (now, "3")] if now else [])


def test_only_the_reporter_answers_and_only_below_the_question():
    other = ANSWER.model_copy(update={"author": "bob"})
    assert pair_questions_with_answers(make_issue(ANSWER, OURS, other), [], "Which version?") == []


def test_a_person_cannot_ask_in_our_name():
    forged = OURS.model_copy(update={"ours": False, "author": "mallory"})
    assert pair_questions_with_answers(make_issue(forged, ANSWER), [], "Which version?") == []


def test_an_empty_answer_is_none():
    empty = ANSWER.model_copy(update={"body": "<!-- nothing -->"})
    assert pair_questions_with_answers(make_issue(OURS, empty), [], "Which version?") == []
    assert pair_questions_with_answers(make_issue(OURS, ANSWER), [], "") == [], "nothing was asked"
