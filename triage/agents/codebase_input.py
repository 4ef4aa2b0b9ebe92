"""What the codebase search starts with, by a model and by rules."""

from triage.domain.agent_input import AgentInput
from triage.domain.code import SearchQuery
from triage.domain.value import Value
from triage.issue.code_names import find_identifiers


class CodebaseSearchInput(Value):
    repository: str
    keywords: list[str]
    hypothesis: str
    affected_areas: list[str]
    issue: str
    """Visible text of the issue. Keywords alone find only half of the right files."""


def build_search_input(agent_input: AgentInput) -> CodebaseSearchInput:
    """Return what the search starts with. In later rounds the keywords include the names in the critic's gaps."""
    investigation = agent_input.investigation
    return CodebaseSearchInput(
        repository=agent_input.repository.slug,
        keywords=[*(investigation.keywords_for_search if investigation else []), *agent_input.search_terms],
        hypothesis=agent_input.hypothesis,
        affected_areas=investigation.affected_areas if investigation else [],
        issue=agent_input.parsed.text,
    )


def build_query(agent_input: AgentInput) -> SearchQuery:
    """Return the query of the ranking: the issue, with words that only the agents use.

    These words are the investigator's keywords, and the names in gaps, hypothesis and affected areas.
    """
    search_input = build_search_input(agent_input)
    keywords = agent_input.investigation.keywords_for_search if agent_input.investigation else []
    names = find_identifiers(
        "", "\n".join([*agent_input.search_terms, search_input.hypothesis, *search_input.affected_areas]), []
    )
    issue = search_input.issue.lower()
    new = [word for word in dict.fromkeys([*keywords, *names]) if word.lower() not in issue]
    return SearchQuery(parsed=agent_input.parsed, keywords=new)
