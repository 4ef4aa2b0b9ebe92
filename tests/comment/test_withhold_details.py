"""What is left of a report that must not be published."""

from tests.comment.sample_reports import FULL
from tests.comment.sample_runs import REFUSED, ROUNDS
from triage.comment.withhold_details import withhold_details
from triage.domain.report import RunReport


def test_no_word_of_the_issue_of_a_model_or_of_the_web_is_left():
    for report in (FULL, REFUSED, ROUNDS):
        published = withhold_details(report.model_copy(update={"security": True}), ["security", "bug"])
        text = published.model_dump_json()
        secrets = [
            report.summary,
            report.root_cause,
            report.why,
            report.fix_idea,
            report.check,
            report.issue.title,
            report.ticket.title,
            *report.reproduction,
        ]
        secrets += [suspect.path for suspect in report.suspects] + [page.url for page in report.external_references]
        secrets += [execution.arguments for step in report.steps for execution in step.tools]
        secrets += [decision.reason for decision in report.decisions if decision.origin == "model"]
        assert [words for words in secrets if words and words in text] == []
        assert (published.steps == []) == (report.steps == [])
        assert (published.usage, published.commit, published.run_url) == (report.usage, report.commit, report.run_url)
        assert published.ticket.labels == ["security"]


def test_a_new_field_is_withheld_until_somebody_decides():
    empty = withhold_details(FULL)
    published = {name for name in RunReport.model_fields if getattr(empty, name) == getattr(FULL, name) != ""}
    filled = {name for name in published if getattr(FULL, name) not in ([], None, {}, False)}
    assert filled <= {
        "schema_version", "triage_version", "request_id", "started_at", "seconds", "status", "engine", "repository",
        "server_url", "commit", "run_url", "kind", "language", "usage", "reused", "limits", "index", "steps",
        "decisions",
    }  # fmt: skip
