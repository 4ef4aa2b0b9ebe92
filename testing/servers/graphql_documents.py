"""Reads and executes the GraphQL documents of tests: fields with aliases and arguments, fragments on types, variables."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_TOKENS = re.compile(r"\.\.\.|[$!:(){}\[\]=]|\w+")


class Refused(Exception):
    """The server does not know something in the document: nothing of it was executed."""


@dataclass
class Selection:
    """A field; or with `on`, the fields of a fragment."""

    name: str = ""
    alias: str = ""
    on: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    selections: "list[Selection]" = field(default_factory=list)


@dataclass
class Document:
    operation: str
    variables: dict[str, str]
    """Types by name."""
    selections: list[Selection]


def parse_document(text: str, given: Mapping[str, Any]) -> Document:
    """Returns a document with the values of its variables in place."""
    return _Parser(_TOKENS.findall(text), given).document()


@dataclass
class _Parser:
    tokens: list[str]
    given: Mapping[str, Any]
    spreads: list[Selection] = field(default_factory=list)
    """Of named fragments, which stand behind the operation."""

    def take(self, *expected: str) -> str:
        token = self.tokens.pop(0)
        assert not expected or token in expected, f"{token!r} instead of {expected}"
        return token

    def document(self) -> Document:
        operation = self.take("query", "mutation") if self.tokens[0] != "{" else "query"
        variables = dict(self.variables()) if self.tokens[0] == "(" else {}
        assert set(self.given) == set(variables), "variables that are declared, and no others"
        document = Document(operation, variables, list(self.selections()))
        fragments = dict(iter(self.fragment, None)) if self.tokens else {}
        for spread in self.spreads:
            spread.on, spread.selections = fragments[spread.name]
        assert not self.tokens
        return document

    def fragment(self) -> tuple[str, tuple[str, list[Selection]]] | None:
        if not self.tokens:
            return None
        self.take("fragment")
        name = self.take()
        self.take("on")
        return name, (self.take(), list(self.selections()))

    def variables(self) -> Iterator[tuple[str, str]]:
        self.take("(")
        while self.tokens[0] != ")":
            self.take("$")
            name, kind = self.take(), ""
            self.take(":")
            while self.tokens[0] not in ("$", ")"):
                kind += self.take()
            yield name, kind
        self.take(")")

    def selections(self) -> Iterator[Selection]:
        self.take("{")
        while self.tokens[0] != "}":
            if self.tokens[0] == "...":
                self.take()
                if self.tokens[0] == "on":
                    self.take()
                    yield Selection(on=self.take(), selections=list(self.selections()))
                else:
                    self.spreads.append(Selection(self.take()))
                    yield self.spreads[-1]
                continue
            alias = name = self.take()
            if self.tokens[0] == ":":
                self.take()
                name = self.take()
            arguments = self.value("(", ")") if self.tokens[0] == "(" else {}
            inner = list(self.selections()) if self.tokens[0] == "{" else []
            yield Selection(name, alias, "", arguments, inner)
        self.take("}")

    def value(self, opening: str = "{", closing: str = "}") -> Any:
        if self.tokens[0] == "$":
            self.take()
            return self.given[self.take()]
        if self.tokens[0] == "[":
            return list(self.items())
        if self.tokens[0] != opening:
            word = self.take()
            return int(word) if word.isdigit() else {"true": True, "false": False}.get(word, word)
        self.take()
        fields = {}
        while self.tokens[0] != closing:
            name = self.take()
            self.take(":")
            fields[name] = self.value()
        self.take()
        return fields

    def items(self) -> Iterator[Any]:
        self.take("[")
        while self.tokens[0] != "]":
            yield self.value()
        self.take("]")


Schema = Mapping[str, Mapping[str, str]]
"""By type: its fields, with the type of their values; empty for scalars."""


def check_fields(selections: list[Selection], on: str, schema: Schema) -> None:
    """Raises Refused for a field or a type that the schema lacks, as GitHub does before it executes anything."""
    for chosen in selections:
        if chosen.on:
            if chosen.on not in schema:
                raise Refused(f"No such type {chosen.on}, so it can't be a fragment condition")
            check_fields(chosen.selections, chosen.on, schema)
        elif chosen.name not in schema[on]:
            raise Refused(f"Field '{chosen.name}' doesn't exist on type '{on}'")
        elif inner := schema[on][chosen.name]:
            assert chosen.selections, f"{chosen.name} needs fields"
            check_fields(chosen.selections, inner, schema)
        else:
            assert not chosen.selections, f"{chosen.name} has no fields"


def select(value: Any, selections: list[Selection]) -> Any:
    """Returns the chosen fields. A value is a dict, with its type in `__typename`, or called with the arguments."""
    if isinstance(value, list):
        return [select(item, selections) for item in value]
    if value is None or not selections:
        return value
    chosen: dict[str, Any] = {}
    for one in selections:
        if one.on:
            chosen |= select(value, one.selections) if value["__typename"] == one.on else {}
            continue
        found: Any = value[one.name]
        resolved = found(**one.arguments) if isinstance(found, Callable) else found  # type: ignore[arg-type]
        chosen[one.alias] = select(resolved, one.selections)
    return chosen
