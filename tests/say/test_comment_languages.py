"""The comment has two parts: the reporter's in the reporter's language, the maintainers' in English."""

import re

import pytest

from testing.each_row import each_row
from tests.read import native_reports
from tests.say.rendering import render_comment
from tests.say.sample_reports import RULES
from triage.domain.findings import MissingInformation
from triage.domain.issue import Issue
from triage.domain.report import RunReport
from triage.read.questions import MAX_QUESTIONS, find_missing_information
from triage.read.read_issue import read_issue
from triage.read.reporter_language import PHRASES, detect_reporter_language, get_phrases
from triage.say.hidden_state import CommentState

FORM = """
name: Bug
body:
- type: textarea
  attributes: {label: What happened?}
- type: input
  attributes: {label: Ledger version}
  validations: {required: true}
"""
TEMPLATE = "---\nname: Bug\n---\n**Version**\n"


def report_on(issue: Issue, *forms: str) -> RunReport:
    parsed = read_issue(issue)
    questions = find_missing_information(parsed, forms, RULES.repository)
    return RULES.model_copy(update={"language": parsed.language, "missing_information": questions})


def visible(report: RunReport) -> str:
    return re.split("<details>|<sub>", render_comment(report).partition("\n")[2])[0].strip()


def split_parts(report: RunReport) -> tuple[str, str]:
    """The reporter's part and the rest of the visible comment."""
    phrases = get_phrases(report.language)
    before, thanks, after = visible(report).partition(f"**{phrases.thanks}**")
    asked, answer, rest = after.partition(phrases.how_to_answer)
    assert thanks
    assert answer
    return f"{thanks}{asked}{answer}", f"{before}{rest}"


@pytest.mark.parametrize("language", sorted(PHRASES))
def test_the_comment_reads_in_each_language_as_in_its_golden_file(golden, language):
    golden(
        f"tests/golden/comment_in_{language}.md", visible(report_on(native_reports.VAGUE[language], TEMPLATE)) + "\n"
    )


@each_row("language", sorted(set(PHRASES) - {"en"}))
@each_row("reports", [native_reports.VAGUE, native_reports.IN_ENGLISH_FORM])
def test_no_part_mixes_languages(language, reports):
    ours, theirs = split_parts(report_on(reports[language]))
    lines = [line.removeprefix("- ").replace("ledger", "") for line in ours.splitlines() if line]
    assert 3 <= len(lines) <= 2 + MAX_QUESTIONS
    assert detect_reporter_language("", "\n".join(lines)) == language
    english = get_phrases("en").model_dump().values()
    assert not [line for line in lines if line.strip("*") in english]
    for line in theirs.splitlines():
        assert detect_reporter_language("", line) == "en", line


def test_names_of_project_and_form_stay_as_they_are():
    body = f"### What happened?\n\n{native_reports.VAGUE['ja'].body}\n\n### Ledger version\n\n_No response_"
    asked = [item.question for item in report_on(Issue(title="起動しません", body=body), FORM).missing_information]
    assert "「Ledger version」を書き加えていただけますか？プロジェクトのフォームで求められている項目です。" in asked
    asked = [item.question for item in report_on(native_reports.VAGUE["de"], TEMPLATE).missing_information]
    assert "Um welche Version von ledger geht es? In der Meldung habe ich sie nicht gefunden." in asked


@pytest.mark.parametrize("language", ["de", "zh-Hans"])
def test_who_shows_a_picture_is_asked_for_the_text_in_their_language(language):
    asked = [item.question for item in report_on(native_reports.WITH_PICTURE[language]).missing_information]
    assert get_phrases(language).ask_text_of_picture in asked


@each_row("language", sorted(PHRASES))
def test_a_security_report_is_redirected_in_two_languages(language):
    shown = visible(RULES.model_copy(update={"language": language, "security": True}))
    ours, _, theirs = shown.partition("\n\n")
    assert ours == get_phrases(language).security
    assert theirs.startswith("Maintainers: ")


def test_thanks_for_answers_are_in_the_reporters_language():
    first = report_on(native_reports.VAGUE["ko"])
    answered = first.model_copy(update={"missing_information": []})
    assert get_phrases("ko").answered in render_comment(answered, CommentState().with_report(first, ""))


def test_reasons_are_for_maintainers():
    asked: list[MissingInformation] = report_on(native_reports.VAGUE["fr"]).missing_information
    assert asked
    assert all(detect_reporter_language("", item.reason.partition("“")[0]) == "en" for item in asked)
