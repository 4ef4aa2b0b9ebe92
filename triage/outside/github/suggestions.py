"""Suggestions on an issue in GitHub's own panel, which a person accepts or declines. GitHub calls it a public preview.

They are written with GraphQL: a server that does not know suggestions refuses a mutation that names their types, before
it acts. What the names mean stands in GitHub's GraphQL reference, issues: `addLabelsToLabelable`,
`IssueStateUpdateInput`, `Issue.pendingSuggestions`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from triage.base.errors import GitHubUnavailable
from triage.domain.effect import Suggestion, SuggestionKind, SuggestionOptions
from triage.outside.github.github_errors import GitHubError, translate_write_errors
from triage.outside.github.issue_nodes import Nodes, Response, list_nodes, parse_response
from triage.outside.github.repository_connection import RepositoryConnection

_QUERY = """query($owner: String!, $name: String!, $number: Int!%(variables)s) {
  repository(owner: $owner, name: $name) {
    issueTypes(first: 100) { nodes { id name isEnabled } }
    issue(number: $number) {
      id
      state
      issueType { id name }
      labels(first: 100) { nodes { id name } }
      pendingSuggestions {
        ... on PendingLabelSuggestion { label { id name } }
        ... on PendingTypeSuggestion { issueType { id name } }
        ... on PendingCloseSuggestion { stateReason }
      }
    }%(asked)s
  }
}"""
_LABELS = ("[LabelUpdateInput!]!", "addLabelsToLabelable(input: {labelableId: $issue, labels: %s})")
"""The type of a variable with all labels, and the mutation that takes it."""
_SINGLE: dict[SuggestionKind, tuple[str, str]] = {
    "type": ("IssueTypeUpdateInput!", "updateIssue(input: {id: $issue, issueType: %s})"),
    "close": ("IssueStateUpdateInput!", "updateIssue(input: {id: $issue, stateInput: %s})"),
}
"""The same of kinds that a mutation suggests one at a time."""


class Target(Response):
    """What a suggestion is about: a label, an issue type or an issue."""

    id: str = ""
    name: str = ""
    is_enabled: bool = Field(True, alias="isEnabled")


class PendingSuggestion(Response):
    """A suggestion by anybody. What it is not about is empty."""

    label: Target | None = None
    type: Target | None = Field(None, alias="issueType")
    state_reason: str = Field("", alias="stateReason")


class SuggestionIssue(Response):
    id: str
    state: str = ""
    type: Target | None = Field(None, alias="issueType")
    labels: Nodes[Target] | None = None
    pending: list[PendingSuggestion | None] = Field([], alias="pendingSuggestions")


class SuggestionsResponse(Response):
    """The parts of a repository that suggestions need, from GraphQL. GitHub leaves out what it does not show."""

    issue: SuggestionIssue
    issue_types: Nodes[Target] | None = Field(None, alias="issueTypes")
    original: Target | None = None


_Offers = Mapping[str, dict[str, str]]
"""By `Suggestion.key`, the fields of the mutation's input that name it."""


@dataclass
class SuggestionClient(RepositoryConnection):
    """A repository on whose issues changes can be suggested."""

    _offers: dict[int, tuple[str, _Offers]] = field(default_factory=dict, init=False)
    """By issue, its id and what could be suggested, as GitHub showed it last."""

    def fetch_suggestion_options(
        self, number: int, labels: Sequence[str], original: int = 0
    ) -> SuggestionOptions | None:
        """What could be changed on the issue; none if GitHub does not say, or has no suggestions. Raises nothing.

        `original` is the number of the issue that this one may repeat, or 0.
        """
        with suppress(GitHubError, GitHubUnavailable):
            return self._fetch_options(number, labels, original)
        return None

    def _fetch_options(self, number: int, labels: Sequence[str], original: int) -> SuggestionOptions:
        """Return what could be changed, and remember the ids that a suggestion of it needs."""
        owner, _, name = self.slug.partition("/")
        wanted = {f"label{place}": label for place, label in enumerate(labels)}
        asked = [f"\n    {alias}: label(name: ${alias}) {{ id name }}" for alias in wanted]
        asked += [f"\n    original: issue(number: {original}) {{ id }}"] if original else []
        declared = "".join(f", ${alias}: String!" for alias in wanted)
        document = _QUERY % {"variables": declared, "asked": "".join(asked)}
        given = {"owner": owner, "name": name, "number": number, **wanted}
        repository = self.query(document, given).get("repository") or {}
        response = parse_response(SuggestionsResponse, repository)
        issue, types = response.issue, [one.name for one in list_nodes(response.issue_types) if one.is_enabled]
        offers = dict(_list_offers(response, original))
        for found in (parse_response(Target, repository[alias]) for alias in wanted if repository.get(alias)):
            offers[_key("label", found.name)] = {"labelId": found.id}
        self._offers[number] = issue.id, offers
        pending = [one for one in issue.pending if one]
        carried = [*list_nodes(issue.labels), *(one.label for one in pending)]
        taken = {label.name.casefold() for label in carried if label}
        has_type = issue.type or any(one.type for one in pending)
        return SuggestionOptions(
            labels=[name for name in labels if _key("label", name) in offers and name.casefold() not in taken],
            types=[] if has_type else types,
            can_close=issue.state != "CLOSED" and not any(one.state_reason for one in pending),
            original=original if response.original else 0,
        )

    def suggest(self, number: int, suggestions: Sequence[Suggestion]) -> None:
        """Suggest changes to an issue, once, of those that `fetch_suggestion_options` has returned for it."""
        with translate_write_errors(self.slug):
            self.mutate(*_build_mutation(*self._offers[number], suggestions))


def _list_offers(response: SuggestionsResponse, original: int) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield what could be suggested besides labels."""
    for kind in list_nodes(response.issue_types):
        yield _key("type", kind.name), {"issueTypeId": kind.id}
    if response.original:
        ids = {"value": "CLOSED", "stateReason": "DUPLICATE", "duplicateIssueId": response.original.id}
        yield _key("close", f"as duplicate of #{original}"), ids


def _key(kind: SuggestionKind, name: str) -> str:
    return f"{kind}:{name.casefold()}"


def _build_mutation(issue_id: str, offers: _Offers, suggestions: Sequence[Suggestion]) -> tuple[str, dict[str, Any]]:
    """Return one document for all suggestions, and its variables. Only what is suggested is in it."""
    variables: dict[str, Any] = {"issue": issue_id}
    declared = mutations = ""
    for place, (declaration, mutation, value) in enumerate(_list_mutations(offers, suggestions)):
        declared += f", $input{place}: {declaration}"
        mutations += f"\n  write{place}: {mutation % f'$input{place}'} {{ clientMutationId }}"
        variables[f"input{place}"] = value
    return f"mutation($issue: ID!{declared}) {{{mutations}\n}}", variables


def _list_mutations(offers: _Offers, suggestions: Sequence[Suggestion]) -> Iterator[tuple[str, str, Any]]:
    """Yield the type of an input in GraphQL, the mutation that takes it, and its value."""
    inputs = [
        (one.kind, {**offers[one.key], "rationale": one.rationale, "confidence": one.confidence, "suggest": True})
        for one in suggestions
    ]
    if labels := [value for kind, value in inputs if kind == "label"]:
        yield *_LABELS, labels
    for kind, value in inputs:
        if kind in _SINGLE:
            yield *_SINGLE[kind], value
