"""GitHub's suggestions on issues, as its GraphQL reference describes them, and a server that does not know them yet."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from testing.servers.github_api import SERVER_ERROR_TEXT, Answer, GitHubApi
from testing.servers.graphql_documents import Document, Refused, check_fields, parse_document, select

_MUTATIONS = {
    "addLabelsToLabelable": "Payload",
    "addAssigneesToAssignable": "Payload",
    "updateIssue": "Payload",
}
_OLD: dict[str, dict[str, str]] = {
    "Query": {"repository": "Repository"},
    "Mutation": _MUTATIONS,
    "Payload": {"clientMutationId": ""},
    "Repository": {"issueTypes": "Types", "issue": "Issue", "label": "Label", "assignableUsers": "Users"},
    "Types": {"nodes": "Type"},
    "Type": {"id": "", "name": "", "isEnabled": ""},
    "Labels": {"nodes": "Label"},
    "Label": {"id": "", "name": ""},
    "Users": {"nodes": "User"},
    "User": {"id": "", "login": ""},
    "Issue": {"id": "", "issueType": "Type", "labels": "Labels", "assignees": "Users"},
}
_NEW: dict[str, dict[str, str]] = _OLD | {
    "Issue": _OLD["Issue"] | {"pendingSuggestions": "Pending"},
    "Pending": {},
    "PendingLabelSuggestion": {"label": "Label", "rationale": ""},
    "PendingTypeSuggestion": {"issueType": "Type", "rationale": ""},
    "PendingAssigneeSuggestion": {"assignee": "Assignee", "rationale": ""},
    "Assignee": {},
}
_INPUTS = {
    "LabelUpdateInput": "labelId",
    "IssueTypeUpdateInput": "issueTypeId",
    "AssigneeUpdateInput": "actorId",
}
_OF_INPUT = {"confidence", "rationale", "suggest"}


@dataclass
class SuggestingGitHub:
    """Answers GraphQL for issue 7 of a `GitHubApi`: set it as its `graphql`."""

    api: GitHubApi
    knows_suggestions: bool = True
    types: list[str] = field(default_factory=lambda: ["Task", "Bug", "Feature"])
    disabled_types: set[str] = field(default_factory=set)
    users: list[str] = field(default_factory=lambda: ["mona", "octocat", "octocat-2"])
    """Who may be assigned."""
    pending: list[dict[str, Any]] = field(default_factory=list)
    """Kind, name, rationale, confidence."""
    hidden_reads: int = 0
    """Reads that do not show yet what is pending."""
    refuses_writes: bool = False
    documents: list[Document] = field(default_factory=list)

    def __call__(self, token: str, sent: dict[str, Any]) -> Answer:
        document = parse_document(sent["query"], sent.get("variables") or {})
        self.documents.append(document)
        schema = _NEW if self.knows_suggestions else _OLD
        try:
            check_fields(document.selections, document.operation.capitalize(), schema)
            self._check_variables(document)
        except Refused as unknown:
            return 200, {"errors": [{"message": f"{unknown} {SERVER_ERROR_TEXT}"}]}
        if document.operation == "mutation":
            if self.refuses_writes:
                error = {"type": "FORBIDDEN", "message": SERVER_ERROR_TEXT}
                return 200, {"data": {one.alias: None for one in document.selections}, "errors": [error]}
            writes = {name: partial(self._write, name) for name in _MUTATIONS}
            return 200, {"data": select(writes, document.selections)}
        self.hidden_reads -= 1
        return 200, {"data": select({"repository": self._repository}, document.selections)}

    def _check_variables(self, document: Document) -> None:
        for kind in document.variables.values():
            bare = kind.strip("[]!")
            if bare in _INPUTS and not self.knows_suggestions:
                raise Refused(f"{bare} isn't a defined input type")
            assert bare in {*_INPUTS, "String", "Int", "ID"}

    def _repository(self, owner: str, name: str) -> dict[str, Any] | None:
        if f"{owner}/{name}" != "octo/shop":
            return None
        return {
            "issueTypes": lambda first: {"nodes": [self._type(one) for one in self.types]} if self.types else None,
            "issue": lambda number: self._issue() if number == 7 else None,
            "label": self._label,
            "assignableUsers": lambda query, first: {
                "nodes": [self._user(one) for one in self.users if query.casefold() in one.casefold()][:first]
            },
        }

    def _issue(self) -> dict[str, Any]:
        issue = self.api.issues[7]
        shown = self.pending if self.hidden_reads < 0 else []
        return {
            "id": "I_7",
            "issueType": self._type(issue["type"]) if issue.get("type") else None,
            "labels": lambda first: {"nodes": [self._label(one["name"]) for one in issue["labels"]]},
            "assignees": lambda first: {"nodes": [self._user(one) for one in issue.get("assignees", [])]},
            "pendingSuggestions": [self._pending(**one) for one in shown],
        }

    def _pending(self, kind: str, name: str, rationale: str, confidence: str) -> dict[str, Any]:
        targets = {"label": self._label, "type": self._type, "assignee": self._user}
        key = {"type": "issueType"}.get(kind, kind)
        typename = f"Pending{kind.capitalize()}Suggestion"
        return {"__typename": typename, "rationale": rationale, key: targets[kind](name) if kind in targets else None}

    def _label(self, name: str) -> dict[str, Any] | None:
        found = next((one for one in self.api.labels if one.casefold() == name.casefold()), None)
        return {"id": f"LA_{found}", "name": found} if found else None

    def _type(self, name: str) -> dict[str, Any]:
        return {"id": f"IT_{name}", "name": name, "isEnabled": name not in self.disabled_types}

    def _user(self, login: str) -> dict[str, Any]:
        return {"__typename": "User", "id": f"U_{login}", "login": login}

    def _write(self, mutation: str, input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002 - the API's name
        rest = dict(input)
        assert (
            rest.pop({"updateIssue": "id"}.get(mutation) or next(key for key in rest if key.endswith("ableId")))
            == "I_7"
        )
        [(key, values)] = rest.items()
        kind, id_field = {
            "labels": ("label", "labelId"),
            "issueType": ("type", "issueTypeId"),
            "assignees": ("assignee", "actorId"),
        }[key]
        for value in values if isinstance(values, list) else [values]:
            assert set(value) <= _OF_INPUT | {id_field}
            assert len(value["rationale"]) <= 280
            assert value["confidence"] in ("LOW", "MEDIUM", "HIGH")
            name = value[id_field].partition("_")[2]
            if value.get("suggest"):
                row = {"kind": kind, "name": name, "rationale": value["rationale"], "confidence": value["confidence"]}
                self.pending.append(row)
            else:
                self._apply(kind, name)
        return {"clientMutationId": None}

    def _apply(self, kind: str, name: str) -> None:
        issue = self.api.issues[7]
        if kind == "type":
            issue["type"] = name
        elif kind == "label":
            issue["labels"] = [*issue["labels"], {"name": name}]
        else:
            issue["assignees"] = [*issue.get("assignees", []), name]
