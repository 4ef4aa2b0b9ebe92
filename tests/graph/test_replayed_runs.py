"""A whole run whose model is right and sloppy: real requests, a real index, and nothing that it knows is lost.

The answers have the forms of runs that were answered by hand, over a small repository of its own.
"""

import asyncio
import json
from pathlib import Path

import pytest

from testing import factories
from testing.apps import make_app
from testing.checkouts.git_repositories import commit
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion, serve_script
from triage.app.settings import Settings
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

INVESTIGATION = """<think>
A question? {"kind": "question"} No.
</think>
Sure! Here is what the issue says:

``` JSON {
  "summary": "Store.load returns an old text after Store.save.",
  "confidence": "0.7",
  "error": "",
  "hypothesis": "Store.save writes the file and leaves the old text in the cache.",
  "affected_areas": null,
  "keywords_for_search": ["Store.save"],
  "error_messages": "None",
  "kind": "bug",
  "reproduction": ["Save", "Load"],
  "versions": ["shelf 2.1", 3]
}```
Let me know if you need more."""

LOOK_UPS = [
    ("functions.grep", '{"pattern": "self.cache", "path": "src"}'),
    ("readLines", '{"file": "src/shelf/cache.py (Cache)", "lines": "5-12", "why": "what can be forgotten"}'),
    ("functions.find_symbol", '{"symbol": "Cache.put", "limit": "5"'),
]
FINDING = {
    "summary": "Store.save leaves the old text in the cache.",
    "confidence": "high",
    "reasoning": "Store.load returns what Cache.get has. Store.save writes the file alone.",
    "error": "N/A",
    "relevant_files": [
        {"path": "Store.save", "start_line": "2", "end_line": "3", "symbol": "def save(self, name, text)",
         "quote": "`20|  (self.folder / name).write_text( text + '\\n' )`", "relevance_reason": "Nothing is forgotten here."},
        {"path": "acme/shelf/src/shelf/store.py (Store.load)", "start_line": 12, "end_line": 14},
        {"note": "somewhere else too"},
        {"path": "cache.py", "symbol": "`Cache.forget`", "start_line": "L99", "relevance_reason": "What a fix would call."},
        {"path": "src/shelf/gone.py", "start_line": 1, "end_line": 2},
        {"path": "https://github.com/acme/shelf/blob/main/src/shelf/names.py#L1-L2"},
    ],
    "root_cause_location": "src/shelf/store.py",
}  # fmt: skip
CRITIQUE = {
    "verdict": "CONFIRMED",
    "confidence_adjustment": 0.05,
    "gaps": "No gaps.",
    "questions_for_reporter": ["None"],
    "revised_hypothesis": "null",
    "ready_for_report": "yes",
    "confidence": "8/10",
    "summary": "Nothing takes the old text out of the cache.",
    "error": "no error",
}
WHY = """## Root cause

- `Store.save` (`src/shelf/store.py:20`) writes the file **alone**.
- `Store.load` returns what `Cache.get` still has.

**Suggested fix** - Call `Cache.forget` in `Store.save`.
"""
REPORT = {
    "severity": "HIGH",
    "summary": "Store.load returns an old text after Store.save.",
    "root_cause": "Store.save forgets nothing.",
    "why": WHY,
    "fix_idea": "null",
    "check": "3. How to verify: Save twice and load after each; the second text is expected.",
    "next_steps": ["Look at other writers of the folder"],
    "title": "Store.load is stale after Store.save",
    "labels": ["Bug", "`regression`"],
    "effort": "s",
}


def reply(request: ReceivedRequest) -> ScriptedReply:
    """What the sloppy model answers: in the content where a call is asked for, by a call where content is."""
    wanted = request.body.get("response_format") or {}
    if request.body.get("tools"):
        is_first_turn = all(message["role"] != "tool" for message in request.body["messages"])
        answer = [("codebase_finding", json.dumps(FINDING))]
        return (
            chat_completion("Let me look.", tool_calls=LOOK_UPS)
            if is_first_turn
            else chat_completion(tool_calls=answer)
        )
    schema = wanted.get("json_schema", {}).get("name", "")
    answers = {
        "InvestigatorFinding": chat_completion(INVESTIGATION),
        "CritiqueFinding": chat_completion("My verdict:", tool_calls=[("critique", json.dumps(CRITIQUE))]),
        "TriageReport": chat_completion(f"~~~json\n{json.dumps({'report': REPORT})}\n~~~"),
    }
    return answers[schema]


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


async def test_nothing_that_a_sloppy_model_knows_is_lost(replayed: tuple[RunReport, list[ReceivedRequest]]):
    report, requests = replayed

    assert report.status is Status.COMPLETE
    assert [(step.step, step.engine, step.error) for step in report.steps] == [
        ("prepare", "rules", None),
        *((step, "model", None) for step in ("investigator", "codebase_search", "critic", "writer")),
    ]
    assert len(requests) == 5, "nothing is asked twice: two turns of the search, three other agents"
    looked_up = sorted((tool.tool, tool.outcome) for step in report.steps for tool in step.tools)
    assert looked_up == [(name, Outcome.SUCCESS) for name in ("find_symbol", "grep", "read_lines")]

    assert (report.kind, report.verdict, report.severity) == ("bug", "CONFIRMED", "HIGH")
    assert [(suspect.path, suspect.span, suspect.symbol) for suspect in report.suspects] == [
        ("src/shelf/store.py", Span(path="src/shelf/store.py", start=20, end=20), "save"),
        ("src/shelf/store.py", Span(path="src/shelf/store.py", start=12, end=14), "Store.load"),
        ("src/shelf/cache.py", Span(path="src/shelf/cache.py", start=11, end=12), "Cache.forget"),
        ("src/shelf/names.py", Span(path="src/shelf/names.py", start=1, end=2), None),
    ]

    assert report.why.startswith("`Store.save` (`src/shelf/store.py:20`) writes the file alone.")
    assert report.fix_idea == "Call `Cache.forget` in `Store.save`."
    assert report.check.startswith("Save twice")
    assert report.ticket.labels == ["bug", "Regression"]
    assert (report.ticket.title, report.ticket.effort) == ("Store.load is stale after Store.save", "S")


async def test_the_critic_sees_the_places_of_the_sloppy_answer(replayed: tuple[RunReport, list[ReceivedRequest]]):
    _, requests = replayed
    critic = next(one for one in requests if "CritiqueFinding" in json.dumps(one.body.get("response_format")))
    prompt = critic.body["messages"][1]["content"]
    for place in ("store.py:20-20", "store.py:12-14", "cache.py:11-12", "names.py:1-2"):
        assert f"src/shelf/{place}" in prompt
