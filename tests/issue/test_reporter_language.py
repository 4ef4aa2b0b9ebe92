"""The language of a report is that of its prose; English where unsure."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.issue import native_reports
from triage.domain.issue import Issue
from triage.issue import reporter_language
from triage.issue.read_issue import read_issue
from triage.issue.reporter_language import detect_reporter_language

NATIVE = [
    pytest.param(language, issue, id=f"{language}-{name}")
    for name, reports in [
        ("vague", native_reports.VAGUE),
        ("english-words", native_reports.WITH_ENGLISH_WORDS),
        ("english-form", native_reports.IN_ENGLISH_FORM),
        ("picture", native_reports.WITH_PICTURE),
    ]
    for language, issue in reports.items()
]


@pytest.mark.parametrize(("language", "issue"), NATIVE)
def test_native_reports_are_known(language: str, issue: Issue) -> None:
    assert read_issue(issue).language == language


@pytest.mark.parametrize("language", native_reports.VAGUE)
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


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("", ""),
        ("Bug", "KeyError"),
        ("报错", "求助"),
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
        "import sys\nfrom triage.issue.reporter_language import detect_reporter_language\n"
        "assert detect_reporter_language('Crash on start', 'When I open it, the window is empty and nothing happens.') == 'en'\n"
        "sys.exit('py3langid' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


@settings(deadline=None)
@given(st.text(), st.text(max_size=300))
def test_any_text_has_a_language(title: str, prose: str) -> None:
    language = detect_reporter_language(title, prose)
    assert language in {"zh-Hans", "zh-Hant"} or (len(language) == 2 and language != "zh")
