"""GitHub's suggestions on issues, as its GraphQL reference describes them, and a server that does not know them yet."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from testing.servers.github_api import SERVER_ERROR_TEXT, Answer, GitHubApi
from testing.servers.graphql_documents import Document, Refused, check_fields, parse_document, select

_MUTATIONS = {"addLabelsToLabelable": "Payload", "updateIssue": "Payload"}
_OLD: dict[str, dict[str, str]] = {
    "Query": {"repository": "Repository"},
    "Mutation": _MUTATIONS,
    "Payload": {"clientMutationId": ""},
    "Repository": {"issueTypes": "Types", "issue": "Issue", "label": "Label"},
    "Types": {"nodes": "Type"},
    "Type": {"id": "", "name": "", "isEnabled": ""},
    "Labels": {"nodes": "Label"},
    "Label": {"id": "", "name": ""},
    "Issue": {"id": "", "number": "", "state": "", "issueType": "Type", "labels": "Labels"},
}
_NEW: dict[str, dict[str, str]] = _OLD | {
    "Issue": _OLD["Issue"] | {"pendingSuggestions": "Pending"},
    "Pending": {},
    "PendingCloseSuggestion": {"stateReason": "", "duplicateOf": "Issue", "rationale": ""},
    "PendingLabelSuggestion": {"label": "Label", "rationale": ""},
    "PendingTypeSuggestion": {"issueType": "Type", "rationale": ""},
}
_INPUTS = {
    "LabelUpdateInput": "labelId",
    "IssueTypeUpdateInput": "issueTypeId",
    "IssueStateUpdateInput": "value",
}
_OF_INPUT = {"confidence", "rationale", "suggest"}


@dataclass
class SuggestingGitHub:
    """Answers GraphQL for issue 7 of a `GitHubApi`: set it as its `graphql`."""

    api: GitHubApi
    knows_suggestions: bool = True
    types: list[str] = field(default_factory=lambda: ["Task", "Bug", "Feature"])
    disabled_types: set[str] = field(default_factory=set)
    pending: list[dict[str, Any]] = field(default_factory=list)
    """Kind, name, rationale, confidence."""
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
            "issue": lambda number: self._issue(number) if number in self.api.issues else None,
            "label": self._label,
        }

    def _issue(self, number: int) -> dict[str, Any]:
        issue = self.api.issues[number]
        shown = self.pending if number == 7 else []
        return {
            "id": f"I_{number}",
            "number": number,
            "state": issue.get("state", "open").upper(),
            "issueType": self._type(issue["type"]) if issue.get("type") else None,
            "labels": lambda first: {"nodes": [self._label(one["name"]) for one in issue["labels"]]},
            "pendingSuggestions": [self._pending(**one) for one in shown],
        }

    def _pending(self, kind: str, name: str, rationale: str, confidence: str) -> dict[str, Any]:
        if kind == "close":
            reason, _, number = name.partition(" ")
            original = {"__typename": "Issue"} | self._issue(int(number)) if number else None
            return {"__typename": "PendingCloseSuggestion", "stateReason": reason, "duplicateOf": original}
        targets = {"label": self._label, "type": self._type}
        key = {"type": "issueType"}.get(kind, kind)
        typename = f"Pending{kind.capitalize()}Suggestion"
        return {"__typename": typename, "rationale": rationale, key: targets[kind](name) if kind in targets else None}

    def _label(self, name: str) -> dict[str, Any] | None:
        found = next((one for one in self.api.labels if one.casefold() == name.casefold()), None)
        return {"id": f"LA_{found}", "name": found} if found else None

    def _type(self, name: str) -> dict[str, Any]:
        return {"id": f"IT_{name}", "name": name, "isEnabled": name not in self.disabled_types}

    def _write(self, mutation: str, input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002 - the API's name
        rest = dict(input)
        assert rest.pop({"updateIssue": "id"}.get(mutation, "labelableId")) == "I_7"
        [(key, values)] = rest.items()
        if key == "stateInput":
            self._close(dict(values))
            return {"clientMutationId": None}
        kind, id_field = {"labels": ("label", "labelId"), "issueType": ("type", "issueTypeId")}[key]
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

    def _close(self, value: dict[str, Any]) -> None:
        # GitHub applies it at once without `suggest`: no document of ours may leave it out.
        assert value.pop("suggest") is True
        said = {name: value.pop(name) for name in ("rationale", "confidence")}
        original = value.pop("duplicateIssueId", "").removeprefix("I_")
        assert set(value) == {"value", "stateReason"}
        assert value["value"] == "CLOSED"
        assert (value["stateReason"] == "DUPLICATE") == bool(original)
        self.pending.append({"kind": "close", "name": f"{value['stateReason']} {original}".strip(), **said})

    def _apply(self, kind: str, name: str) -> None:
        issue = self.api.issues[7]
        if kind == "type":
            issue["type"] = name
        else:
            issue["labels"] = [*issue["labels"], {"name": name}]
