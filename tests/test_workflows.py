"""The workflows of `examples/`, `.github/` and the pages: what each gives the action, and what the called ones may do."""

import re
from typing import Any

import pytest
import yaml

from release import copied_jobs
from tests.docs_pages import list_reusable_workflows, load_manifest, load_workflow
from tests.docs_yaml import ROOT, list_blocks
from triage.app.settings.inputs import Settings

LEVELS = ["none", "read", "write"]


REUSABLE = list_reusable_workflows()
CALLERS = {
    (path.stem, name): job
    for path in sorted((ROOT / "examples" / "workflows").glob("*.yml"))
    for name, job in load_workflow(path)["jobs"].items()
    if "uses" in job
}
WORKFLOWS = {
    str(path.relative_to(ROOT)): load_workflow(path)
    for folder in (".github/workflows", "examples/workflows")
    for path in sorted((ROOT / folder).glob("*.yml"))
}
BLOCKS = {block.location: block.parsed for block in list_blocks()}
OURS = re.compile(r"OWNER/bug-triage(?:/composite)?(?:@.*)?|\$/(?:composite|container)|\./(?:composite)?")


def list_our_steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps with our action; a release tries them with inputs of its own."""
    steps = [step for job in workflow["jobs"].values() for step in job.get("steps", [])]
    return [step for step in steps if OURS.fullmatch(step.get("uses", ""))]


@pytest.mark.parametrize("name", [*WORKFLOWS, *BLOCKS])
def test_what_the_action_is_given_it_takes_and_what_is_read_of_it_it_gives(name: str) -> None:
    workflow, manifest = (WORKFLOWS | BLOCKS)[name], load_manifest()
    steps = list_our_steps(workflow)
    for step in steps:
        given = {key: str(value) for key, value in step.get("with", {}).items()}
        assert set(given) <= set(manifest["inputs"])
        plain = {f"INPUT_{key.upper()}": value for key, value in given.items() if "${{" not in value}
        Settings.from_runner(plain)
    text = yaml.safe_dump(workflow)
    for step in steps:
        read = re.findall(rf"steps\.{step.get('id')}\.outputs\.([\w-]+)", text)
        assert set(read) <= set(manifest["outputs"])
    for job, output in re.findall(r"needs\.([\w-]+)\.outputs\.([\w-]+)", text):
        assert output in workflow["jobs"][job]["outputs"]


def test_each_input_is_set_by_an_example_or_a_page() -> None:
    """A called workflow hands most of its own inputs on: that is no use of them."""
    found = set()
    for workflow in (WORKFLOWS | BLOCKS).values():
        for step in list_our_steps(workflow):
            found |= {key for key, value in step.get("with", {}).items() if str(value) != f"${{{{ inputs.{key} }}}}"}
        for job in workflow["jobs"].values():
            found |= {*job.get("with", {}), *(job.get("secrets", {}) if "uses" in job else {})}
    assert set(load_manifest()["inputs"]) - found == set()


def test_the_first_workflow_asks_for_no_more_than_reading_the_code_and_writing_to_issues() -> None:
    (job,) = WORKFLOWS["examples/workflows/triage.yml"]["jobs"].values()
    assert job["permissions"] == {"contents": "read", "issues": "write"}


def read_call(name: str) -> dict[str, Any]:
    called: dict[str, Any] = REUSABLE[name]["on"]["workflow_call"] or {}
    return called


def test_every_one_is_called_by_an_example() -> None:
    called = {re.search(r"workflows/([\w-]+)\.yml@", job["uses"]) for job in CALLERS.values()}
    assert {found[1] for found in called if found} == set(REUSABLE) >= {"fix", "scorecard", "triage"}


@pytest.mark.parametrize("name", REUSABLE)
def test_inputs_of_the_action_are_described_alike(name: str) -> None:
    manifest, call = load_manifest(), read_call(name)
    for key, entry in {**call.get("inputs", {}), **call.get("secrets", {})}.items():
        if key in manifest["inputs"] and key != "issue-number":
            assert entry["description"] == manifest["inputs"][key]["description"]


@pytest.mark.parametrize("name", REUSABLE)
def test_the_action_is_that_of_the_commit_of_the_workflow(name: str) -> None:
    """A caller that pins the workflow has pinned the action.

    No release has to change a workflow, which GitHub lets no workflow's token do.
    """
    used = [step.get("uses", "") for job in REUSABLE[name]["jobs"].values() for step in job["steps"]]
    own = [one for one in used if "actions/" not in one and one]
    assert set(own) <= {"$/container", "$/composite"}
    assert "$/container" in own


@pytest.mark.parametrize("name", REUSABLE)
def test_everything_that_it_takes_is_used_and_the_rest_declared(name: str) -> None:
    text = yaml.safe_dump(REUSABLE[name]["jobs"]) + yaml.safe_dump(REUSABLE[name].get("concurrency", ""))
    call = read_call(name)
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(call.get("inputs", {}))
    assert set(re.findall(r"secrets\.([\w-]+)", text)) == set(call.get("secrets", {}))
    assert all("type" in entry for entry in call.get("inputs", {}).values())


@pytest.mark.parametrize("name", REUSABLE)
def test_no_job_has_more_rights_than_it_names(name: str) -> None:
    """A workflow without `permissions` would have those of its caller in every job."""
    assert REUSABLE[name]["permissions"] == {}
    assert all("permissions" in job for job in REUSABLE[name]["jobs"].values())


@pytest.mark.parametrize("caller", CALLERS, ids=str)
def test_a_caller_gives_what_the_jobs_need_and_nothing_else(caller: tuple[str, str]) -> None:
    """GitHub refuses a called workflow whose jobs want more than the caller has."""
    job = CALLERS[caller]
    found = re.fullmatch(r"OWNER/bug-triage/\.github/workflows/([\w-]+)\.yml@[0-9a-f]{40}", job["uses"])
    assert found
    needed: dict[str, str] = {}
    for one in REUSABLE[found[1]]["jobs"].values():
        for name, level in one["permissions"].items():
            needed[name] = max(level, needed.get(name, "none"), key=LEVELS.index)
    assert job["permissions"] == needed
    call = read_call(found[1])
    assert set(job.get("with", {})) <= set(call.get("inputs", {}))
    assert set(job.get("secrets", {})) <= set(call.get("secrets", {}))


def test_a_caller_is_short() -> None:
    for path in (ROOT / "examples" / "workflows").glob("*.yml"):
        if any(name == path.stem for name, _ in CALLERS):
            lines = path.read_text(encoding="utf-8").splitlines()
            assert len(lines) <= 35, path.name


@pytest.mark.parametrize("name", copied_jobs.NAMES)
def test_the_files_for_enterprise_server_are_made_of_the_called_workflows(name: str) -> None:
    text = (copied_jobs.TARGET / f"{name}.yml").read_text(encoding="utf-8")
    assert text == copied_jobs.copy_workflow(name), "make golden"
    loaded = yaml.safe_load(text)
    assert loaded["jobs"].keys() == REUSABLE[name]["jobs"].keys()
    assert not re.search(r"\$/|queue:|secrets\.model|inputs\.(?!issue-number|query)", text)
    for job, other in zip(loaded["jobs"].values(), REUSABLE[name]["jobs"].values(), strict=True):
        assert job["permissions"] == other["permissions"]
        tasks = [step["with"].get("task") for step in job["steps"] if "bug-triage" in step.get("uses", "")]
        assert tasks == [step["with"].get("task") for step in other["steps"] if "$/" in step.get("uses", "")]
