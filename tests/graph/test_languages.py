"""Which language models are asked to write in."""

import asyncio
from typing import Any

from testing import factories
from testing.fakes import FakeCodebase, FakeModel, fake_services
from tests.read import native_reports
from triage.domain.report import RunReport
from triage.graph.run_graph import run_graph

README = (
    "# Bibliothek\n\nDiese Bibliothek liest und schreibt Kalender. Sie läuft überall, wo es eine Kommandozeile gibt.\n"
)
SENTENCE = "Questions to the reporter: {}. All else: {}."


async def run(language: str, **files: str) -> tuple[RunReport, dict[str, str]]:
    """The report, and the data of every prompt by what was asked for."""
    model = FakeModel(factories.answers())
    codebase = FakeCodebase(factories.FILES | {name.replace("_", "."): text for name, text in files.items()})
    native = native_reports.VAGUE[language]
    issue = factories.issue(title=native.title, body=native.body)
    given = fake_services(codebase=codebase, model=model)
    report = await run_graph(issue, factories.repository(), given, asyncio.Event())
    return report, {name: _read_data(prompt) for name, prompt in model.asked}


def _read_data(prompt: Any) -> str:
    messages = prompt if isinstance(prompt, list) else list(prompt.to_messages())
    return str(messages[1].text)


async def test_questions_are_in_the_reporters_language_and_the_rest_in_that_of_the_readme():
    report, prompts = await run("zh-Hant", README_md=README)
    assert report.language == "zh-Hant"
    assert {"InvestigatorFinding", "CodebaseFinding", "CritiqueFinding", "TicketDraft"} <= prompts.keys()
    for name, data in prompts.items():
        assert SENTENCE.format("Traditional Chinese", "German") in data, name


async def test_the_rest_is_in_english_without_a_readme():
    _, prompts = await run("ko", docs_md=README)
    assert all(SENTENCE.format("Korean", "English") in data for data in prompts.values())


async def test_english_need_not_be_said():
    report, prompts = await run("en", README_md="# Shop\n\nThis is a library for a shop, and it is easy to use.\n")
    assert report.language == "en"
    assert not any("languages" in data for data in prompts.values())


async def test_rules_ask_in_the_reporters_language():
    issue = factories.issue(title=native_reports.VAGUE["it"].title, body=native_reports.VAGUE["it"].body)
    given = fake_services(codebase=FakeCodebase(factories.FILES | {"README.md": README}))
    report = await run_graph(issue, factories.repository(), given, asyncio.Event())
    assert report.language == "it"
    assert report.missing_information[0].question.startswith("Che cosa hai fatto esattamente")
