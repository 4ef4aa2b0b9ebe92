"""What a run knows of itself: from its settings, the event and git. No agent and no cache has a say in it."""

from collections.abc import Sequence

from triage.domain.issue import Repository
from triage.domain.report import MAX_LABELS, RunReport
from triage.domain.value import Value


class TrustedFacts(Value):
    repository: Repository
    """`commit` is the one that git has indexed; `labels` are those that the project's settings allow."""
    run_url: str = ""


def overwrite_with_trusted_facts(report: RunReport, facts: TrustedFacts, number: int | None) -> RunReport:
    """Returns the report with everything that links and labels are made of as the run itself knows it."""
    repository = facts.repository
    is_on_server = number is not None and repository.server_url
    url = f"{repository.server_url}/{repository.slug}/issues/{number}" if is_on_server else ""
    return report.model_copy(
        update={
            "repository": repository.slug,
            "server_url": repository.server_url,
            "commit": repository.commit,
            "run_url": facts.run_url,
            "issue": report.issue.model_copy(update={"number": number, "url": url}),
            "ticket": report.ticket.model_copy(
                update={"labels": _select_allowed(report.ticket.labels, repository.labels)}
            ),
        }
    )


def _select_allowed(labels: Sequence[str], allowed: Sequence[str]) -> list[str]:
    by_name = {label.casefold(): label for label in allowed}
    return list(dict.fromkeys(by_name[name.casefold()] for name in labels if name.casefold() in by_name))[:MAX_LABELS]
