"""Suggestions on an issue in GitHub's own panel, which a person accepts or declines. GitHub calls it a public preview.

They are written with GraphQL: its mutations add labels and assignees, where the REST API replaces all that the issue
has; and a server that does not know suggestions refuses a mutation that names their types, before it acts. What the
names mean stands in GitHub's GraphQL reference, issues: `addLabelsToLabelable`, `Issue.pendingSuggestions`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import Field

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
    issue(number: $number) {
      id
      issueType { id name }
      labels(first: 100) { nodes { id name } }
      assignees(first: 100) { nodes { id login } }%(pending)s
    }%(asked)s
  }
}"""
_PENDING = """
      pendingSuggestions {
        ... on PendingLabelSuggestion { label { id name } }
        ... on PendingTypeSuggestion { issueType { id name } }
        ... on PendingAssigneeSuggestion { assignee { ... on User { id login } } }
      }"""
_PARTS: dict[SuggestionKind, tuple[str, str, str, str]] = {
    "label": (
        "labelId",
        "labels",
        "[LabelUpdateInput!]!",
        "addLabelsToLabelable(input: {labelableId: $issue, labels: $labels})",
    ),
    "type": (
        "issueTypeId",
        "type",
        "IssueTypeUpdateInput!",
        "updateIssue(input: {id: $issue, issueType: $type})",
    ),
    "assignee": (
        "actorId",
        "assignees",
        "[AssigneeUpdateInput!]!",
        "addAssigneesToAssignable(input: {assignableId: $issue, assignees: $assignees})",
    ),
}
"""The field that names the target, the variable, its type, and the mutation."""


class Target(Response):
    """What a suggestion is about: a label, an issue type or a user."""

    id: str = ""
    name: str = ""
    login: str = ""
    is_enabled: bool = Field(True, alias="isEnabled")


class TargetList(Response):
    nodes: NodeList[Target | None] | None = None

    @property
    def all(self) -> list[Target]:
        return [target for target in self.nodes or [] if target]


class PendingSuggestion(Response):
    """A suggestion by anybody. One of the fields is set; none if it is about something else."""

    label: Target | None = None
    type: Target | None = Field(None, alias="issueType")
    assignee: Target | None = None


class SuggestionIssue(Response):
    id: str
    type: Target | None = Field(None, alias="issueType")
    labels: TargetList | None = None
    assignees: TargetList | None = None
    pending: NodeList[PendingSuggestion | None] = Field([], alias="pendingSuggestions")
    """Not asked for where GitHub has no suggestions."""


class SuggestionsResponse(Response):
    """The parts of a repository that suggestions need, from GraphQL. GitHub leaves out what it does not show."""

    issue: SuggestionIssue
    issue_types: TargetList | None = Field(None, alias="issueTypes")

    @property
    def types(self) -> list[Target]:
        return self.issue_types.all if self.issue_types else []

    @property
    def taken(self) -> list[tuple[SuggestionKind, Target]]:
        """Returns what the issue has, and what is suggested on it."""
        issue = self.issue
        pending = [one for one in issue.pending if one]
        named: list[tuple[SuggestionKind, list[Target | None]]] = [
            ("label", [*(issue.labels.all if issue.labels else []), *(one.label for one in pending)]),
            ("type", [issue.type, *(one.type for one in pending)]),
            ("assignee", [*(issue.assignees.all if issue.assignees else []), *(one.assignee for one in pending)]),
        ]
        return [(kind, target) for kind, targets in named for target in targets if target]


@dataclass(frozen=True)
class _Shown:
    """What GitHub shows of an issue, and of what could be suggested on it."""

    issue_id: str
    targets: Mapping[str, Target]
    """By `Suggestion.key`."""
    taken: frozenset[str]
    """Keys of what is on the issue, or suggested by anybody."""


@dataclass
class Suggestions:
    """The suggestions on one repository's issues. Every failure is a `GitHubError`."""

    client: "GitHubClient"
    slug: str
    reread_seconds: float
    _shown: dict[int, _Shown] = field(default_factory=dict)
    """By issue, what GitHub showed last."""

    def fetch_options(self, number: int, labels: Sequence[str], logins: Sequence[str]) -> SuggestionOptions:
        """Returns what could be changed. Raises GitHubError if GitHub does not say."""
        can_suggest = True
        try:
            shown = self._fetch(number, labels, logins)
        except GitHubError as error:
            if error.kind is not ErrorKind.INVALID:
                raise
            can_suggest = False  # this server has no suggestions
            shown = self._fetch(number, labels, logins, pending="")
        free = shown.targets.keys() - shown.taken
        settled = {key.partition(":")[0] for key in shown.taken}
        types = [target.name for key, target in shown.targets.items() if key.startswith("type:")]
        assignees = [login for login in logins if _key("assignee", login) in free]
        return SuggestionOptions(
            can_suggest=can_suggest,
            labels=[name for name in labels if _key("label", name) in free],
            types=[] if "type" in settled else types,
            assignees=[] if "assignee" in settled else assignees,
        )

    def write(self, number: int, suggestions: Sequence[Suggestion]) -> list[Suggestion]:
        """Suggests what is not there yet, and returns what is not there afterwards.

        A write whose answer is lost is sent again only if GitHub does not show its effect.
        """
        shown = self._shown.get(number) or self._read_back(number, suggestions, 1)
        for _ in range(MAX_WRITES):
            missing = [one for one in suggestions if one.key in shown.targets.keys() - shown.taken]
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
        for attempt in range(reads):
            sleep_unless_abandoned(self.reread_seconds * attempt)
            shown = self._fetch(number, labels, logins)
            if all(one.key in shown.taken for one in suggestions):
                break
        return shown

    def _fetch(self, number: int, labels: Sequence[str], logins: Sequence[str], pending: str = _PENDING) -> _Shown:
        owner, _, name = self.slug.partition("/")
        wanted = {f"label{place}": label for place, label in enumerate(labels)}
        users = {f"login{place}": login for place, login in enumerate(logins)}
        asked = [f"\n    {alias}: label(name: ${alias}) {{ id name }}" for alias in wanted]
        asked += [
            f"\n    {alias}: assignableUsers(query: ${alias}, first: 20) {{ nodes {{ id login }} }}" for alias in users
        ]
        declared = "".join(f", ${alias}: String!" for alias in [*wanted, *users])
        document = _QUERY % {"variables": declared, "asked": "".join(asked), "pending": pending}
        data = self.client.query(document, {"owner": owner, "name": name, "number": number, **wanted, **users})
        repository = data.get("repository") or {}
        response = parse_response(SuggestionsResponse, repository)
        found = [_pair("label", parse_response(Target, repository[alias])) for alias in wanted if repository.get(alias)]
        found += [_pair("type", target) for target in response.types if target.is_enabled]
        for alias in users:
            listed = parse_response(TargetList, repository.get(alias) or {})
            found += [_pair("assignee", target) for target in listed.all]
        taken = [_pair(kind, target)[0] for kind, target in response.taken]
        shown = _Shown(response.issue.id, dict(found), frozenset(taken))
        self._shown[number] = shown
        return shown


def _key(kind: SuggestionKind, name: str) -> str:
    return f"{kind}:{name.casefold()}"


def _pair(kind: SuggestionKind, target: Target) -> tuple[str, Target]:
    return _key(kind, target.login if kind == "assignee" else target.name), target


def _build_mutation(shown: _Shown, suggestions: Sequence[Suggestion]) -> tuple[str, dict[str, Any]]:
    """Returns one document for all suggestions, and its variables. Only what is suggested is in it."""
    variables: dict[str, Any] = {"issue": shown.issue_id}
    declared = mutations = ""
    for kind, (id_field, variable, declaration, mutation) in _PARTS.items():
        inputs = [
            {
                id_field: shown.targets[one.key].id,
                "rationale": one.rationale,
                "confidence": one.confidence,
                "suggest": True,
            }
            for one in suggestions
            if one.kind == kind
        ]
        if inputs:
            variables[variable] = inputs[0] if kind == "type" else inputs
            declared += f", ${variable}: {declaration}"
            mutations += f"\n  {mutation} {{ clientMutationId }}"
    return f"mutation($issue: ID!{declared}) {{{mutations}\n}}", variables
