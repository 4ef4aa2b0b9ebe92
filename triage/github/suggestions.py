"""Suggestions on an issue in GitHub's own panel, which a person accepts or declines. GitHub calls it a public preview.

They are written with GraphQL: its mutations add labels and assignees, where the REST API replaces all that the issue
has; and a server that does not know suggestions refuses a mutation that names their types, before it acts. What the
names mean stands in GitHub's GraphQL reference, issues: `addLabelsToLabelable`, `IssueStateUpdateInput`,
`IssueFieldCreateOrUpdateInput`, `Issue.pendingSuggestions`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import AliasChoices, Field

from triage.base.threads import sleep_unless_abandoned
from triage.domain.effect import Suggestion, SuggestionKind, SuggestionOptions
from triage.github.github_errors import ErrorKind, GitHubError
from triage.github.graphql import NodeList
from triage.github.responses import Response, parse_response

if TYPE_CHECKING:
    from triage.github.github_client import GitHubClient

MAX_READS = 3
"""Reads of an issue that does not show yet what was just suggested."""
MAX_WRITES = 2
_QUERY = """query($owner: String!, $name: String!, $number: Int!%(variables)s) {
  repository(owner: $owner, name: $name) {
    issueTypes(first: 100) { nodes { id name isEnabled } }
    issueFields(first: 50) { nodes { ... on IssueFieldSingleSelect { id name options { id name } } } }
    issue(number: $number) {
      id
      state
      issueType { id name }
      labels(first: 100) { nodes { id name } }
      assignees(first: 100) { nodes { id login } }
      issueFieldValues(first: 50) {
        nodes { ... on IssueFieldSingleSelectValue { name field { ... on IssueFieldSingleSelect { name } } } }
      }
      pendingSuggestions {
        ... on PendingLabelSuggestion { label { id name } }
        ... on PendingTypeSuggestion { issueType { id name } }
        ... on PendingAssigneeSuggestion { assignee { ... on User { id login } } }
        ... on PendingCloseSuggestion { stateReason duplicateOf { ... on Issue { number } } }
        ... on PendingFieldSuggestion { issueField { ... on IssueFieldSingleSelect { name } } suggestedValue }
      }
    }%(asked)s
  }
}"""
_LISTS: dict[SuggestionKind, tuple[str, str]] = {
    "label": ("[LabelUpdateInput!]!", "addLabelsToLabelable(input: {labelableId: $issue, labels: %s})"),
    "assignee": (
        "[AssigneeUpdateInput!]!",
        "addAssigneesToAssignable(input: {assignableId: $issue, assignees: %s})",
    ),
}
"""The type of a variable with all suggestions of a kind, and the mutation that takes it."""
_SINGLE: dict[SuggestionKind, tuple[str, str]] = {
    "type": ("IssueTypeUpdateInput!", "updateIssue(input: {id: $issue, issueType: %s})"),
    "close": ("IssueStateUpdateInput!", "updateIssue(input: {id: $issue, stateInput: %s})"),
    "field": ("IssueFieldCreateOrUpdateInput!", "updateIssueFieldValue(input: {issueId: $issue, issueField: %s})"),
}
"""The same of kinds that a mutation suggests one at a time."""
_CLOSE_REASONS = {"as completed": "COMPLETED", "as not planned": "NOT_PLANNED"}
_DUPLICATE = "as duplicate of #"


class Target(Response):
    """What a suggestion is about: a label, an issue type, a user, an issue, or a field of the organisation."""

    id: str = ""
    name: str = ""
    login: str = ""
    number: int = 0
    is_enabled: bool = Field(True, alias="isEnabled")
    options: "list[Target | None]" = Field(default_factory=list)
    """Of a field of which one option is chosen."""


class TargetList(Response):
    nodes: NodeList[Target | None] | None = None

    @property
    def all(self) -> list[Target]:
        return [target for target in self.nodes or [] if target]


class FieldValue(Response):
    """An option that an issue has, or that somebody suggested; without `field` for a field of another type."""

    name: str = Field("", validation_alias=AliasChoices("name", "suggestedValue"))
    field: Target | None = Field(None, validation_alias=AliasChoices("field", "issueField"))


class FieldValueList(Response):
    nodes: NodeList[FieldValue | None] | None = None


class PendingSuggestion(FieldValue):
    """A suggestion by anybody. What it is not about is empty."""

    label: Target | None = None
    type: Target | None = Field(None, alias="issueType")
    assignee: Target | None = None
    state_reason: str = Field("", alias="stateReason")
    duplicate_of: Target | None = Field(None, alias="duplicateOf")


class SuggestionIssue(Response):
    id: str
    state: str = ""
    type: Target | None = Field(None, alias="issueType")
    labels: TargetList | None = None
    assignees: TargetList | None = None
    values: FieldValueList | None = Field(None, alias="issueFieldValues")
    pending: NodeList[PendingSuggestion | None] = Field([], alias="pendingSuggestions")

    def list_taken(self) -> Iterator[str]:
        """Yield keys of what the issue has, and of what is suggested on it."""
        pending = [one for one in self.pending if one]
        labels = [*(self.labels.all if self.labels else []), *(one.label for one in pending)]
        types = [self.type, *(one.type for one in pending)]
        users = [*(self.assignees.all if self.assignees else []), *(one.assignee for one in pending)]
        yield from (_key("label", label.name) for label in labels if label)
        yield from (_key("type", one.name) for one in types if one)
        yield from (_key("assignee", user.login) for user in users if user)
        yield from (_key("close", _name_close(one)) for one in pending if one.state_reason)
        if self.state == "CLOSED":
            yield _key("close", "")
        values = [*((self.values.nodes or []) if self.values else []), *pending]
        yield from (_key("field", f"{one.field.name}: {one.name}") for one in values if one and one.field)


class SuggestionsResponse(Response):
    """The parts of a repository that suggestions need, from GraphQL. GitHub leaves out what it does not show."""

    issue: SuggestionIssue
    issue_types: TargetList | None = Field(None, alias="issueTypes")
    issue_fields: TargetList | None = Field(None, alias="issueFields")

    def list_offers(self) -> "Iterator[_Offer]":
        """Yield what could be suggested without asking for it by name."""
        for kind in self.issue_types.all if self.issue_types else []:
            if kind.is_enabled:
                yield _Offer("type", kind.name, {"issueTypeId": kind.id})
        for one in self.issue_fields.all if self.issue_fields else []:
            for option in filter(None, one.options):
                ids = {"fieldId": one.id, "singleSelectOptionId": option.id}
                yield _Offer("field", f"{one.name}: {option.name}", ids)
        for name, reason in _CLOSE_REASONS.items():
            yield _Offer("close", name, {"value": "CLOSED", "stateReason": reason})


class _Offer(NamedTuple):
    kind: SuggestionKind
    name: str
    ids: dict[str, str]
    """The fields of the mutation's input that name it."""


@dataclass(frozen=True)
class _Shown:
    """What GitHub shows of an issue, and of what could be suggested on it."""

    issue_id: str
    offers: Mapping[str, _Offer]
    """By `Suggestion.key`."""
    taken: frozenset[str]
    """Keys of what is on the issue, or suggested by anybody."""

    def names(self, kind: SuggestionKind) -> list[str]:
        return [offer.name for offer in self.offers.values() if offer.kind == kind]

    def is_settled(self, start: str) -> bool:
        """Return whether the issue has something whose key begins so, or somebody suggested it."""
        return any(key.startswith(start) for key in self.taken)


@dataclass
class Suggestions:
    """The suggestions on one repository's issues. Every failure is a `GitHubError`."""

    client: "GitHubClient"
    slug: str
    reread_seconds: float
    _shown: dict[int, _Shown] = field(default_factory=dict)
    """By issue, what GitHub showed last."""

    def fetch_options(
        self, number: int, labels: Sequence[str], logins: Sequence[str], original: int = 0
    ) -> SuggestionOptions:
        """Return what could be changed. Raises GitHubError if GitHub does not say, or has no suggestions."""
        shown = self._fetch(number, labels, logins, original)
        free = shown.offers.keys() - shown.taken
        return SuggestionOptions(
            labels=[name for name in labels if _key("label", name) in free],
            types=[] if shown.is_settled("type:") else shown.names("type"),
            assignees=[] if shown.is_settled("assignee:") else [one for one in logins if _key("assignee", one) in free],
            can_close=not shown.is_settled("close:"),
            original=original if _key("close", f"{_DUPLICATE}{original}") in free else 0,
            fields=[one for one in shown.names("field") if not shown.is_settled(_key("field", one.partition(": ")[0]))],
        )

    def write(self, number: int, suggestions: Sequence[Suggestion]) -> list[Suggestion]:
        """Suggests what is not there yet, and returns what is not there afterwards.

        A write whose answer is lost is sent again only if GitHub does not show its effect.
        """
        shown = self._shown.get(number) or self._read_back(number, suggestions, 1)
        for _ in range(MAX_WRITES):
            missing = [one for one in suggestions if one.key in shown.offers.keys() - shown.taken]
            if not missing:
                break
            is_lost = False
            try:
                self.client.mutate(*_build_mutation(shown, missing))
            except GitHubError as error:
                if error.kind is not ErrorKind.UNKNOWN_OUTCOME:
                    raise
                is_lost = True
            shown = self._read_back(number, suggestions, MAX_READS)
            if not is_lost:
                break
        return [one for one in suggestions if one.key not in shown.taken]

    def _read_back(self, number: int, suggestions: Sequence[Suggestion], reads: int) -> _Shown:
        # A list may not show yet what was just written.
        labels = [one.name for one in suggestions if one.kind == "label"]
        logins = [one.name for one in suggestions if one.kind == "assignee"]
        closes = [one.name for one in suggestions if one.kind == "close" and one.name.startswith(_DUPLICATE)]
        original = int(closes[0].removeprefix(_DUPLICATE)) if closes else 0
        for attempt in range(reads):
            sleep_unless_abandoned(self.reread_seconds * attempt)
            shown = self._fetch(number, labels, logins, original)
            if all(one.key in shown.taken for one in suggestions):
                break
        return shown

    def _fetch(self, number: int, labels: Sequence[str], logins: Sequence[str], original: int = 0) -> _Shown:
        owner, _, name = self.slug.partition("/")
        wanted = {f"label{place}": label for place, label in enumerate(labels)}
        users = {f"login{place}": login for place, login in enumerate(logins)}
        asked = [f"\n    {alias}: label(name: ${alias}) {{ id name }}" for alias in wanted]
        asked += [
            f"\n    {alias}: assignableUsers(query: ${alias}, first: 20) {{ nodes {{ id login }} }}" for alias in users
        ]
        asked += [f"\n    original: issue(number: {original}) {{ id number }}"] if original else []
        declared = "".join(f", ${alias}: String!" for alias in [*wanted, *users])
        document = _QUERY % {"variables": declared, "asked": "".join(asked)}
        data = self.client.query(document, {"owner": owner, "name": name, "number": number, **wanted, **users})
        repository = data.get("repository") or {}
        response = parse_response(SuggestionsResponse, repository)
        offers = [*_list_asked(repository, [*wanted], [*users]), *response.list_offers()]
        by_key = {_key(offer.kind, offer.name): offer for offer in offers}
        shown = _Shown(response.issue.id, by_key, frozenset(response.issue.list_taken()))
        self._shown[number] = shown
        return shown


def _list_asked(repository: Mapping[str, Any], labels: Sequence[str], users: Sequence[str]) -> Iterator[_Offer]:
    """Yield what was asked for by name; `labels` and `users` are the aliases in the answer."""
    for alias in labels:
        if repository.get(alias):
            label = parse_response(Target, repository[alias])
            yield _Offer("label", label.name, {"labelId": label.id})
    for alias in users:
        for user in parse_response(TargetList, repository.get(alias) or {}).all:
            yield _Offer("assignee", user.login, {"actorId": user.id})
    if repository.get("original"):
        issue = parse_response(Target, repository["original"])
        ids = {"value": "CLOSED", "stateReason": "DUPLICATE", "duplicateIssueId": issue.id}
        yield _Offer("close", f"{_DUPLICATE}{issue.number}", ids)


def _key(kind: SuggestionKind, name: str) -> str:
    return f"{kind}:{name.casefold()}"


def _name_close(pending: PendingSuggestion) -> str:
    if pending.duplicate_of:
        return f"{_DUPLICATE}{pending.duplicate_of.number}"
    return next((name for name, reason in _CLOSE_REASONS.items() if reason == pending.state_reason), "")


def _build_mutation(shown: _Shown, suggestions: Sequence[Suggestion]) -> tuple[str, dict[str, Any]]:
    """Return one document for all suggestions, and its variables. Only what is suggested is in it."""
    variables: dict[str, Any] = {"issue": shown.issue_id}
    declared = mutations = ""
    for place, (declaration, mutation, value) in enumerate(_list_mutations(shown, suggestions)):
        declared += f", $input{place}: {declaration}"
        mutations += f"\n  write{place}: {mutation % f'$input{place}'} {{ clientMutationId }}"
        variables[f"input{place}"] = value
    return f"mutation($issue: ID!{declared}) {{{mutations}\n}}", variables


def _list_mutations(shown: _Shown, suggestions: Sequence[Suggestion]) -> Iterator[tuple[str, str, Any]]:
    inputs = [
        (
            one.kind,
            {
                **shown.offers[one.key].ids,
                "rationale": one.rationale,
                "confidence": one.confidence,
                "suggest": True,
            },
        )
        for one in suggestions
    ]
    for kind, parts in _LISTS.items():
        if together := [value for of, value in inputs if of == kind]:
            yield *parts, together
    for kind, value in inputs:
        if kind in _SINGLE:
            yield *_SINGLE[kind], value
