"""The fix flow on a repository whose tracked code has secrets in it: everything that leaves its jobs."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from testing.runs.fix_workflow import ANSWERS, BASKET, NO_FILE, OLD_TEST, FixWorkflow, serve_fix_workflow
from testing.servers.github_api import JOB_TOKEN
from testing.text.secret_forms import SECRET_FORMS
from trust.observed_run import list_strings

NOTES = "\n".join(text.replace("\r", "") for text, _ in SECRET_FORMS.values())
MADE_FOR_SECRETS = "sokumeridavonalitupex"
TEST = f'{OLD_TEST}\n\nTOKENS = r"""\n{NOTES}\n"""\n'
FILES: Mapping[str, str | bytes] = {
    "shop/basket.py": BASKET,
    "shop/settings.py": f'"""The total of the prices in the basket."""\n\nNOTES = r"""\n{NOTES}\n"""\n',
    "shop/secrets.yml": f"total: prices of the basket\nwords: {MADE_FOR_SECRETS}\n",
    "tests/test_basket.py": TEST,
}
SECRETS = {f"tracked code in the form {form}": secret for form, (_, secret) in SECRET_FORMS.items()} | {
    "a tracked file made for secrets": MADE_FOR_SECRETS
}


def _change(path: str, *edits: tuple[str, str]) -> dict[str, Any]:
    return NO_FILE | {
        "file_path": path,
        "description": "A missing price is 0.",
        "edits": [{"search": search, "replace": replace} for search, replace in edits],
    }


_TRIES = (
    # Edits that do not apply: the next prompt says why.
    [_change("shop/settings.py", ("NOTES", "x")), _change("shop/secrets.yml", ("words: 1", "x"))],
    [_change("shop/basket.py", ("names[price]", "x"))],
    [_change("shop/basket.py", ("prices[name]", "prices.get(name, 0)"))],
)
_CODE = ANSWERS["CodeChanges"]
_LOOK = _CODE | {"changes": [], "needs_to_see": ["shop/settings.py", "shop/secrets.yml", "tests/test_basket.py"]}
_TEST = ("TOKENS = r", "def test_a_missing_price():\n    assert Basket\n\n\nTOKENS = r")
_ANSWERS = {name: [answer] for name, answer in ANSWERS.items()} | {
    "CodeChanges": [_LOOK, *(_CODE | {"changes": changes} for changes in _TRIES)],
    "TestChanges": [ANSWERS["TestChanges"] | {"tests": [_change("tests/test_basket.py", _TEST)]}],
}


def list_sinks() -> Iterator[tuple[str, str]]:
    """Yields what leaves the jobs: the name of the place, and the text."""
    with _serve() as workflow:
        yield from _run_jobs(workflow)
        workflow.say("/triage fix once more, without the permission to store commits")
        yield from _leave("propose, again", workflow, workflow.propose())
        workflow.api.denied[JOB_TOKEN] = {"contents"}
        yield from _leave("report, not stored", workflow, workflow.run("report"))
        for number, request in enumerate(workflow.requests):
            yield f"prompt {number}", "\n".join(list_strings(request.body))


@contextmanager
def _serve() -> Iterator[FixWorkflow]:
    with TemporaryDirectory() as folder, serve_fix_workflow(Path(folder), FILES, _ANSWERS) as workflow:
        yield workflow


def _run_jobs(workflow: FixWorkflow) -> Iterator[tuple[str, str]]:
    workflow.say("/triage fix")
    yield from _leave("propose", workflow, workflow.propose())
    stored = workflow.run("store")
    yield from _leave("store", workflow, stored)
    yield from _leave("report", workflow, workflow.run("report", proposal_tests="proved"))
    workflow.say(f"/triage revise {stored['proposal-id']}\nSay it in a comment as well.")
    yield from _leave("propose, revised", workflow, workflow.propose())
    workflow.run("store")
    yield from _leave("report, revised", workflow, workflow.run("report"))


def _leave(job: str, workflow: FixWorkflow, outputs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield f"outputs of {job}", json.dumps(outputs)
    yield f"log of {job}", re.sub(r"^::add-mask::.*$", "", workflow.log, flags=re.M)
    yield f"page of {job}", workflow.summary
    yield f"comments after {job}", "\n".join(one["body"] for one in workflow.api.comments)
    for file in (workflow.folder / "checkout" / ".triage").glob("*.json"):
        yield f"{file.name} of {job}", file.read_text(encoding="utf-8")
