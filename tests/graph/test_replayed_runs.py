"""A whole run whose model cites what it was shown: real requests, a real index, and nothing that it knows is lost."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from testing import factories
from testing.apps import make_app
from testing.checkouts.git_repositories import commit
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion, serve_script
from triage.app.settings.inputs import Settings
from triage.domain.code import Span
from triage.domain.issue import Repository
from triage.domain.report import RunReport
from triage.domain.run import Outcome, Status
from triage.graph.run_graph import run_graph

STORE = '''"""Shelves on disk."""

from shelf.cache import Cache


class Store:
    def __init__(self, folder):
        self.folder = folder
        self.cache = Cache()

    def load(self, name):
        found = self.cache.get(name)
        if found is not None:
            return found
        text = (self.folder / name).read_text()
        self.cache.put(name, text)
        return text

    def save(self, name, text):
        (self.folder / name).write_text(text + "\\n")
'''
CACHE = """class Cache:
    def __init__(self):
        self.texts = {}

    def get(self, name):
        return self.texts.get(name)

    def put(self, name, text):
        self.texts[name] = text

    def forget(self, name):
        self.texts.pop(name, None)
"""
FILES = {
    "src/shelf/store.py": STORE,
    "src/shelf/cache.py": CACHE,
    "src/shelf/names.py": "def clean_name(name):\n    return name.strip()\n",
    "old/cache.py": "SIZE = 3\n",
}
ISSUE = "After `Store.save` a second `Store.load` of the same name returns the text as it was before.\n\nshelf 2.1\n"

INVESTIGATION = """Sure! Here is what the issue says:

```json
{"reasoning": "Store.load returns an old text after Store.save.",
 "hypothesis": "Store.save writes the file and leaves the old text in the cache.",
 "keywords_for_search": ["Store.save", "Cache"], "kind": "bug", "missing_information": [],
 "confidence": 0.7, "summary": "Store.load returns an old text.", "error": null}
```
Let me know if you need more."""

LOOK_UPS = [
    ("grep", '{"text": "self.texts"}'),
    ("functions.read_lines", '{"path": "src/shelf/cache.py", "start": "5", "end": 12}'),
    ("find_symbol", '{"name": "clean_name"}'),
]


def find_number(prompt: str, path: str, line: int) -> int:
    """Returns the number under which a line was shown."""
    shown = re.finditer(rf"\[(\d+)\] {re.escape(path)} (\d+)(?:-(\d+))?", prompt)
    return next(int(one[1]) for one in shown if int(one[2]) <= line <= int(one[3] or one[2]))


def make_finding(prompt: str) -> str:
    store, cache = (find_number(prompt, f"src/shelf/{name}.py", line) for name, line in (("store", 20), ("cache", 11)))
    return json.dumps(
        {
            "reasoning": "Store.load returns what Cache.get has. Store.save writes the file alone.",
            "places": [
                {"cite": f"[{store}:20]", "reason": "Nothing is forgotten here."},
                {"cite": f"{store}:12–14", "reason": "Returns it."},
                {"cite": f"{cache}:11-12", "reason": "What a fix would call."},
                {"cite": "99:1", "reason": "?"},
            ],
            "why": f"`Store.save` writes the file alone [{store}:20]. `Store.load` returns what `Cache.get` still has "
            f"[{store}:12-14, {cache}:6] and src/shelf/cache.py:700.",
            "fix_idea": f"Call `Cache.forget` [{cache}:11] in `Store.save`.",
            "check": "Save twice and load after each; the second text is expected.",
            "severity": "HIGH",
            "severity_reason": "wrong results",
            "confidence": 0.8,
            "summary": "`Store.load` returns an old text after `Store.save`.",
            "error": None,
        }
    )


CRITIQUE: dict[str, Any] = {
    "reasoning": "Nothing takes the old text out of the cache.",
    "verdict": "CONFIRMED",
    "gaps": [],
    "questions_for_reporter": [],
    "revised_hypothesis": None,
    "confidence": 0.8,
    "summary": "Nothing takes the old text out of the cache.",
    "error": None,
}
TICKET = {"labels": ["Bug", "regression"], "assignee": None, "effort": "s", "title": "Store.load is stale"}


def reply(request: ReceivedRequest) -> ScriptedReply:
    messages = request.body["messages"]
    if request.body.get("tools"):
        if all(message["role"] != "tool" for message in messages):
            return chat_completion("Let me look.", tool_calls=LOOK_UPS)
        prompt = "\n".join(message["content"] or "" for message in messages[1:])
        return chat_completion(tool_calls=[("CodebaseFinding", make_finding(prompt))])
    answers = {
        "InvestigatorFinding": INVESTIGATION,
        "CritiqueFinding": json.dumps(CRITIQUE),
        "TicketDraft": json.dumps(TICKET),
    }
    return chat_completion(answers[request.body["response_format"]["json_schema"]["name"]])


@pytest.fixture
async def replayed(tmp_path: Path) -> tuple[RunReport, list[ReceivedRequest]]:
    commit(tmp_path, FILES)
    repository = Repository(slug="acme/shelf", labels=["bug", "Regression", "question"])
    issue = factories.issue(title="Store.load returns an old text", body=ISSUE)
    with serve_script(reply) as server:
        settings = Settings(model_api_key="sk-test", model_base_url=f"{server.url}/v1")
        services = make_app(settings, tmp_path, repository.slug).open_services()
        report = await run_graph(issue, repository, services, asyncio.Event())
    return report, server.requests


async def test_nothing_that_a_model_cites_is_lost(replayed: tuple[RunReport, list[ReceivedRequest]]):
    report, requests = replayed

    assert report.status is Status.COMPLETE
    assert [(step.step, step.engine, step.error) for step in report.steps] == [
        ("read_and_index", "rules", None),
        *((step, "model", None) for step in ("investigator", "codebase_search", "critic", "writer")),
    ]
    assert len(requests) == 5, "nothing is asked twice: two turns of the search, three other agents"
    looked_up = sorted((tool.tool, tool.outcome) for step in report.steps for tool in step.tools)
    assert looked_up == [(name, Outcome.SUCCESS) for name in ("find_symbol", "grep", "read_lines")]

    assert (report.kind, report.verdict, report.severity) == ("bug", "CONFIRMED", "HIGH")
    assert [(suspect.path, suspect.span, suspect.symbol) for suspect in report.suspects] == [
        ("src/shelf/store.py", Span(path="src/shelf/store.py", start=20, end=20), "Store"),
        ("src/shelf/store.py", Span(path="src/shelf/store.py", start=12, end=14), "Store"),
        ("src/shelf/cache.py", Span(path="src/shelf/cache.py", start=11, end=12), "Cache"),
    ]
    assert (report.citations.verified, report.citations.total) == (3, 4)

    assert report.why.startswith("`Store.save` writes the file alone (`store.py:20`).")
    assert "(`store.py:12-14`, `cache.py:6`) and src/shelf/cache.py." in report.why
    assert report.fix_idea == "Call `Cache.forget` (`cache.py:11`) in `Store.save`."
    assert report.check.startswith("Save twice")
    assert report.ticket.labels == ["bug", "Regression"]
    assert (report.ticket.title, report.ticket.effort) == ("Store.load is stale", "S")


async def test_what_was_shown_is_referred_to(replayed: tuple[RunReport, list[ReceivedRequest]]):
    _, requests = replayed
    last = next(one for one in reversed(requests) if one.body.get("tools"))
    shown = "\n".join(message["content"] or "" for message in last.body["messages"][1:])
    assert shown.count("|     def forget(self, name):") == 1
    assert "(src/shelf/cache.py 5-12: see [2])" in shown
    assert "4 lines in 1 file have this text.\n(src/shelf/cache.py 1-12" in shown
