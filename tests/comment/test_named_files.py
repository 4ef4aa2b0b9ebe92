"""Which files a comment names: what its headline says, and nothing that it only lists."""

import pytest

from tests.comment.sample_reports import CLI, DATES, FEATURE, FULL, LOW, READER, RULES, change_report, span, suspect
from triage.comment.named_files import NamedFiles, find_named_files
from triage.domain.code import FoundPlace

FOUND = FoundPlace(sign="trace", span=span(READER, 10, 20), probability=0.91)


def test_a_model_names_its_first_suspects():
    assert find_named_files(FULL) == NamedFiles([DATES, READER, CLI], "model", 0.86)


def test_rules_name_what_they_found_first():
    report = change_report(
        RULES, found=FOUND, suspects=[suspect(DATES), suspect(READER), suspect(CLI), suspect("a.py")]
    )
    assert find_named_files(report) == NamedFiles([READER, DATES, CLI], "trace", 0.91)


@pytest.mark.parametrize(
    "report",
    [
        change_report(RULES, found=None),
        change_report(LOW, found=None, steps=RULES.steps),
        FEATURE,
        change_report(security=True),
        change_report(suspects=[]),
    ],
)
def test_shared_words_questions_and_security_reports_name_nothing(report):
    assert find_named_files(report) is None
