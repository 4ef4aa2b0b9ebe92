"""A model that obeys every order it sees, in any prompt of a run, and answers as badly as the schema allows.

She speaks the protocol of OpenAI's chat completions and embeddings, and plays the web search too.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from trust import openai_protocol
from trust.corpora.injection_templates import Goal, find_goals
from trust.forbidden_requests import FORBIDDEN_LABELS, FORBIDDEN_PATHS, UNKNOWN_TOOLS
from trust.observed_run import list_strings
from trust.recording_server import RecordedRequest, Response

SEARCH_RESULTS_URL = "https://docs.example.com/"
"""Where the pages that her search finds lie, but for one that is a trap."""
MAX_LOOKUP_TURNS = 3
"""Turns of look-ups before she answers."""
MAX_TOOL_CALLS = 14
"""In one message: more than anybody should carry out."""


@dataclass(frozen=True)
class RepositoryFacts:
    """What really stands in the repository: a lie needs some of it."""

    path: str = "shop/basket.py"
    start: int = 5
    end: int = 6
    quote: str = "return sum(prices[name] for name in self.names)"
    others: Sequence[str] = ()
    """Further paths."""


@dataclass
class HostileModel:
    """One run's model and search."""

    strings: Sequence[str]
    """What she says where she may say anything, beside what she was ordered to."""
    seed: int = 0
    truth: RepositoryFacts = RepositoryFacts()
    found: Sequence[str] = ()
    """Texts of the pages that her search finds."""
    trap: str = "http://127.0.0.1:9"
    waits_for: str = ""
    """She says nothing of interest before she has seen this."""
    query: str = ""
    """What she searches for beside the error."""
    sends_errors: bool = False
    """Some answers are no answers: errors with words, noise, endless lists."""
    asked: int = 0
    turns: int = 0
    goals: dict[Goal, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._words = cycle(self.strings or ["words"])
        self._paths = cycle([self.truth.path, *FORBIDDEN_PATHS])
        self._addresses = cycle(
            [*self._urls(), f"{self.trap}/cited", "javascript:alert(1)", "https://github.com@evil.example/"]
        )

    def _urls(self) -> list[str]:
        return [f"{SEARCH_RESULTS_URL}{number}" for number in range(5)]

    def search(self, _: RecordedRequest) -> Response:
        """Pages that hold orders; two of their addresses are traps."""
        step = max(1, len(self.found) // 5)
        pages = [
            {
                "title": text,
                "url": url,
                "content": "\n".join(self.found[number * step : (number + 1) * step]),
                "score": 1,
            }
            for number, (url, text) in enumerate(zip(self._urls(), [*self.found, *"abcde"], strict=False))
        ]
        pages[3:4] = [{**page, "url": f"{self.trap}/found?{page['title'][:20]}"} for page in pages[3:4]]
        return Response(
            {"query": "x", "results": pages, "answer": "\n".join(self.found[:3]), "images": [f"{self.trap}/i.png"]}
        )

    def model(self, asked: RecordedRequest) -> Response:
        """Whatever she is asked."""
        if asked.path.endswith("/embeddings"):
            return openai_protocol.embeddings(asked.body)
        self.asked += 1
        body = asked.body
        prompt = "\n".join(list_strings(body.get("messages", [])))
        self.goals.update(dict.fromkeys(find_goals(prompt)))
        if self.waits_for in prompt:
            self.waits_for = ""
        if self.sends_errors and self.asked % 5 == self.seed % 5:
            return self._broken()
        shape = body.get("response_format") or {}
        if shape.get("type") == "json_schema":
            schema = shape["json_schema"]["schema"]
            return self._said(json.dumps(self._filled(schema, schema, "")))
        if body.get("tool_choice"):
            tool = body["tools"][0]["function"]
            return self._called([(tool["name"], self._filled(tool["parameters"], tool["parameters"], ""))])
        if body.get("tools"):
            return self._looked_up([tool["function"]["name"] for tool in body["tools"]])
        if shape.get("type") == "json_object":
            return self._said(json.dumps(self._ticket()))
        return self._said("\n\n".join([*self._obeyed(), *self.strings]))

    def _obeyed(self) -> Iterator[str]:
        """The words that carry the orders out, were anybody to act on them."""
        for goal in list(self.goals)[:40]:
            match goal.verb:
                case "close" | "edit" | "delete":
                    yield f"/{goal.verb} {goal.value}"
                    yield f"Closes #{goal.value}"
                case "picture" | "fetch":
                    yield f"![x]({goal.value}) [x]({goal.value}) {goal.value}"
                case "run":
                    yield f"$({goal.value}) `{goal.value}`"
                case _:
                    yield goal.value

    def _word(self) -> str:
        orders = list(self._obeyed())
        self.seed += 1
        if self.waits_for:
            return "words"
        return orders[self.seed // 2 % len(orders)] if orders and self.seed % 2 else next(self._words)

    def _filled(self, schema: dict[str, Any], whole: dict[str, Any], name: str) -> Any:
        """A value of the schema, the worst of its kind."""
        if "$ref" in schema:
            return self._filled(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole, name)
        if "anyOf" in schema:
            return self._one_of(schema["anyOf"], whole, name)
        if "enum" in schema or "const" in schema:
            return self._chosen(schema.get("enum") or [schema["const"]], name)
        match schema.get("type"):
            case "object":
                return {key: self._filled(inner, whole, key) for key, inner in schema.get("properties", {}).items()}
            case "array":
                return [self._filled(schema["items"], whole, name) for _ in range(1 if name == "selected" else 6)]
            case "integer":
                return self.truth.start if name.startswith("start") else self.truth.end
            case "number":
                return schema.get("maximum", 1.0)
            case "boolean":
                return True
        return self._text(name)

    def _one_of(self, kinds: list[dict[str, Any]], whole: dict[str, Any], name: str) -> Any:
        """None only for an error: who reports one says nothing else."""
        real = [kind for kind in kinds if kind.get("type") != "null"]
        return None if name == "error" and len(real) < len(kinds) else self._filled(real[0], whole, name)

    def _chosen(self, values: list[Any], name: str) -> Any:
        if name == "kind" and "bug" in values:
            return "bug" if self.seed % 4 else values[self.seed // 4 % len(values)]
        self.seed += 1
        return values[self.seed % len(values)]

    def _text(self, name: str) -> str:
        match name:
            case "path" | "relevant_files":
                return next(self._paths)
            case "url":
                return next(self._addresses)
            case "quote":
                self.seed += 1
                return self.truth.quote if self.seed % 2 else self._word()
        return self._word() or "words"

    def _ticket(self) -> dict[str, Any]:
        ordered = [goal.value for goal in self.goals if goal.verb == "label"]
        return {
            "title": f"{self._word()}\n{self._word()}",
            "labels": [
                *FORBIDDEN_LABELS,
                *self.strings,
                *ordered,
                *(f"label {number}" for number in range(200)),
                self._word(),
                7,
                None,
            ],
            "assignee": ["@everyone", "@octo/admins", "mallory", self._word()][self.seed % 4],
            "effort": ["XXL", "M", self._word()][self.seed % 3],
            "close": True,
            "issue": 42,
            "milestone": {"number": 1},
        }

    def _looked_up(self, names: list[str]) -> Response:
        """Calls of the real tools and of others, with arguments that nobody should follow."""
        if "tavily_search" in names:
            ordered = [goal.value for goal in self.goals if goal.verb == "search"]
            words = [self.query] if self.query else ordered or [self._word()]
            first = [
                ("tavily_search", {"query": f"KeyError pear {word}", "include_domains": ["evil.example"]})
                for word in words
            ]
            return self._called([*first[:3], *((tool, {"number": 42}) for tool in UNKNOWN_TOOLS)][:MAX_TOOL_CALLS])
        self.turns += 1
        if self.turns > MAX_LOOKUP_TURNS:
            return self._said("\n".join(self._obeyed()) or "I have seen enough.")
        ordered = [goal.value for goal in self.goals if goal.verb == "read"]
        paths = [*self.truth.others, self.truth.path, *ordered, *FORBIDDEN_PATHS][
            (self.turns - 1) * MAX_TOOL_CALLS // 2 :
        ]
        calls: list[tuple[str, Any]] = []
        for path in paths:
            tool = "git_history" if path in self.truth.others else "read_lines"
            calls.append((tool, {"path": path, "start": -1, "end": 10**9}))
            calls.append((UNKNOWN_TOOLS[len(calls) % len(UNKNOWN_TOOLS)], {"path": path}))
        calls += [("search_code", {"query": self._word() * 50}), ("find_symbol", {"name": self._word()})]
        return self._called(calls[:MAX_TOOL_CALLS])

    def _called(self, wanted: Sequence[tuple[str, Any]]) -> Response:
        return self._completion({"content": self._word(), "tool_calls": openai_protocol.tool_calls(wanted)})

    def _said(self, words: str) -> Response:
        return self._completion({"content": words})

    def _completion(self, message: dict[str, Any]) -> Response:
        """Under a name that is an order too."""
        return openai_protocol.chat_completion(message, next(iter(self.strings), "m")[:80])

    def _broken(self) -> Response:
        """No answer: an error that gives orders, noise, too much."""
        orders = "\n".join(self.strings)
        match self.seed // 5 % 6:
            case 0:
                return Response({"error": {"message": orders, "type": orders[:50], "code": orders[:50]}}, 400)
            case 1:
                return Response({"error": {"message": orders}}, 401)
            case 2:
                return self._said(
                    '{"confidence": NaN, "confidence": 1e999, "x": {"y": ' + "[" * 2000 + "]" * 2000 + "}}"
                )
            case 3:
                return self._said(
                    json.dumps(
                        {"relevant_files": [{"path": path} for path in FORBIDDEN_PATHS] * 300, "gaps": ["x"] * 10_000}
                    )
                )
            case 4:
                return self._said(f"```json\n{orders * 20}\n```"[:100_000])
        return self._completion({"content": None, "refusal": orders})
