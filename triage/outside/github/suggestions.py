"""Suggestions on an issue in GitHub's own panel, which a person accepts or declines. GitHub calls it a public preview.

They are written with GraphQL: a server that does not know suggestions refuses a mutation that names their types, before
it acts. What the names mean stands in GitHub's GraphQL reference, issues: `addLabelsToLabelable`,
`IssueStateUpdateInput`, `Issue.pendingSuggestions`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import Field

from triage.domain.effect import Suggestion, SuggestionKind, SuggestionOptions
from triage.outside.github.issue_nodes import Nodes, Response, list_nodes, parse_response
from triage.outside.github.repository_connection import PREVIEWS, RepositoryConnection

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
_CLOSE_REASONS = {"as completed": "COMPLETED", "as not planned": "NOT_PLANNED"}
_DUPLICATE = "as duplicate of #"


class Target(Response):
    """What a suggestion is about: a label, an issue type or an issue."""

    id: str = ""
    name: str = ""
    number: int = 0
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

    def list_offers(self) -> "Iterator[_Offer]":
        """Yield what could be suggested without asking for it by name."""
        for kind in list_nodes(self.issue_types):
            if kind.is_enabled:
                yield _Offer("type", kind.name, {"issueTypeId": kind.id})
        for name, reason in _CLOSE_REASONS.items():
            yield _Offer("close", name, {"value": "CLOSED", "stateReason": reason})


class _Offer(NamedTuple):
    kind: SuggestionKind
    name: str
    ids: dict[str, str]
    """The fields of the mutation's input that name it."""


@dataclass
class Suggestions:
    """The suggestions on one repository's issues. Every failure is a `GitHubError`."""

    connection: RepositoryConnection
    _offers: dict[int, tuple[str, Mapping[str, _Offer]]] = field(default_factory=dict)
    """By issue, its id and what could be suggested, by `Suggestion.key`, as GitHub showed it last."""

    def fetch_options(self, number: int, labels: Sequence[str], original: int = 0) -> SuggestionOptions:
        """Return what could be changed. Raises GitHubError if GitHub does not say, or has no suggestions."""
        owner, _, name = self.connection.slug.partition("/")
        wanted = {f"label{place}": label for place, label in enumerate(labels)}
        asked = [f"\n    {alias}: label(name: ${alias}) {{ id name }}" for alias in wanted]
        asked += [f"\n    original: issue(number: {original}) {{ id number }}"] if original else []
        declared = "".join(f", ${alias}: String!" for alias in wanted)
        document = _QUERY % {"variables": declared, "asked": "".join(asked)}
        given = {"owner": owner, "name": name, "number": number, **wanted}
        repository = self.connection.query(document, given, PREVIEWS).get("repository") or {}
        response = parse_response(SuggestionsResponse, repository)
        issue, offers = response.issue, [*_list_asked(repository, [*wanted]), *response.list_offers()]
        by_key = {_key(offer.kind, offer.name): offer for offer in offers}
        self._offers[number] = issue.id, by_key
        pending = [one for one in issue.pending if one]
        taken = {
            label.name.casefold() for label in (*list_nodes(issue.labels), *(one.label for one in pending)) if label
        }
        has_type = issue.type or any(one.type for one in pending)
        return SuggestionOptions(
            labels=[name for name in labels if _key("label", name) in by_key and name.casefold() not in taken],
            types=[] if has_type else [offer.name for offer in offers if offer.kind == "type"],
            can_close=issue.state != "CLOSED" and not any(one.state_reason for one in pending),
            original=original if _key("close", f"{_DUPLICATE}{original}") in by_key else 0,
        )

    def write(self, number: int, suggestions: Sequence[Suggestion]) -> None:
        """Suggest, once, what `fetch_options` has found free on the issue."""
        self.connection.mutate(*_build_mutation(*self._offers[number], suggestions))


def _list_asked(repository: Mapping[str, Any], labels: Sequence[str]) -> Iterator[_Offer]:
    """Yield what was asked for by name; `labels` are the aliases in the answer."""
    for alias in labels:
        if repository.get(alias):
            label = parse_response(Target, repository[alias])
            yield _Offer("label", label.name, {"labelId": label.id})
    if repository.get("original"):
        issue = parse_response(Target, repository["original"])
        ids = {"value": "CLOSED", "stateReason": "DUPLICATE", "duplicateIssueId": issue.id}
        yield _Offer("close", f"{_DUPLICATE}{issue.number}", ids)


def _key(kind: SuggestionKind, name: str) -> str:
    return f"{kind}:{name.casefold()}"


def _build_mutation(
    issue_id: str, offers: Mapping[str, _Offer], suggestions: Sequence[Suggestion]
) -> tuple[str, dict[str, Any]]:
    """Return one document for all suggestions, and its variables. Only what is suggested is in it."""
    variables: dict[str, Any] = {"issue": issue_id}
    declared = mutations = ""
    for place, (declaration, mutation, value) in enumerate(_list_mutations(offers, suggestions)):
        declared += f", $input{place}: {declaration}"
        mutations += f"\n  write{place}: {mutation % f'$input{place}'} {{ clientMutationId }}"
        variables[f"input{place}"] = value
    return f"mutation($issue: ID!{declared}) {{{mutations}\n}}", variables


def _list_mutations(offers: Mapping[str, _Offer], suggestions: Sequence[Suggestion]) -> Iterator[tuple[str, str, Any]]:
    inputs = [
        (one.kind, {**offers[one.key].ids, "rationale": one.rationale, "confidence": one.confidence, "suggest": True})
        for one in suggestions
    ]
    if labels := [value for kind, value in inputs if kind == "label"]:
        yield *_LABELS, labels
    for kind, value in inputs:
        if kind in _SINGLE:
            yield *_SINGLE[kind], value
