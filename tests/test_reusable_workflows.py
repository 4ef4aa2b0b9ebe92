"""`.github/workflows` that other repositories call: what they take, may do and pass on, and the files that call them."""

import re
from typing import Any

import pytest
import yaml

from tests.docs_pages import is_gone, list_reusable_workflows, load_manifest, load_workflow
from tests.docs_yaml import ROOT

LEVELS = ["none", "read", "write"]


REUSABLE = list_reusable_workflows()
CALLERS = {
    (path.stem, name): job
    for path in sorted((ROOT / "examples" / "workflows").glob("*.yml"))
    for name, job in load_workflow(path)["jobs"].items()
    if "uses" in job
}


def read_call(name: str) -> dict[str, Any]:
    called: dict[str, Any] = REUSABLE[name]["on"]["workflow_call"] or {}
    return called


def list_steps(name: str) -> list[dict[str, Any]]:
    """The steps with our action."""
    steps = [step for job in REUSABLE[name]["jobs"].values() for step in job["steps"]]
    return [step for step in steps if step.get("uses", "").startswith("./.bug-triage")]


def test_every_one_is_called_by_an_example() -> None:
    called = {re.search(r"workflows/([\w-]+)\.yml@", job["uses"]) for job in CALLERS.values()}
    assert {found[1] for found in called if found} == set(REUSABLE) >= {"fix", "scorecard", "triage"}


@pytest.mark.parametrize("name", REUSABLE)
def test_inputs_of_the_action_exist_and_are_described_alike(name: str) -> None:
    manifest, call = load_manifest(), read_call(name)
    for step in list_steps(name):
        assert set(step["with"]) <= set(manifest["inputs"])
    for key, entry in {**call.get("inputs", {}), **call.get("secrets", {})}.items():
        if key in manifest["inputs"] and key != "issue-number":
            assert entry["description"] == manifest["inputs"][key]["description"]


@pytest.mark.parametrize("name", REUSABLE)
def test_the_action_is_that_of_the_commit_of_the_workflow(name: str) -> None:
    """A caller that pins the workflow has pinned the action.

    No release has to change a workflow, which GitHub lets no workflow's token do.
    """
    for job in REUSABLE[name]["jobs"].values():
        steps = job["steps"]
        for before, step in zip([{}, *steps], steps, strict=False):
            if step.get("uses", "").startswith("./"):
                assert before["uses"].startswith("actions/checkout@")
                assert before["with"] == {
                    "repository": "${{ job.workflow_repository }}",
                    "ref": "${{ job.workflow_sha }}",
                    "path": ".bug-triage",
                    "persist-credentials": False,
                }
    assert list_steps(name)


@pytest.mark.parametrize("name", sorted(REUSABLE))
def test_a_runner_that_does_not_know_the_workflow_is_told_so(name: str) -> None:
    first = next(iter(REUSABLE[name]["jobs"].values()))["steps"][0]
    assert (first["if"], "exit 1" in first["run"]) == ("job.workflow_repository == ''", True)


@pytest.mark.parametrize("name", REUSABLE)
def test_everything_that_it_takes_is_used_and_the_rest_declared(name: str) -> None:
    text = yaml.safe_dump(REUSABLE[name]["jobs"]) + yaml.safe_dump(REUSABLE[name].get("concurrency", ""))
    call = read_call(name)
    inputs = {key for key, entry in call.get("inputs", {}).items() if not is_gone(entry)}
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == inputs
    assert set(re.findall(r"secrets\.([\w-]+)", text)) == set(call.get("secrets", {}))
    assert all("default" in entry and "type" in entry for entry in call.get("inputs", {}).values())


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


def read_inputs(job: dict[str, Any]) -> list[dict[str, Any]]:
    """What the action is given."""
    return [step["with"] for step in job["steps"] if "fix" in step.get("with", {})]


def test_the_fix_flow_has_the_jobs_of_the_example_to_copy() -> None:
    """What differs is what a project writes itself: how it is installed and tested, and its model."""
    example = load_workflow(ROOT / "examples" / "workflows" / "fix-all-jobs.yml")
    jobs = yaml.safe_load(
        re.sub(r"\$\{\{ inputs\.runs-on }}", "ubuntu-latest", yaml.safe_dump(REUSABLE["fix"]["jobs"]))
    )
    assert set(jobs) == set(example["jobs"])
    assert REUSABLE["fix"]["concurrency"] == example["concurrency"]
    for name in ("gate", "store", "report"):
        assert read_inputs(jobs[name]) == read_inputs(example["jobs"][name])
    for name, job in jobs.items():
        other = example["jobs"][name]
        assert {key: job[key] for key in ("permissions", "outputs", "needs") if key in job} == {
            key: other[key] for key in ("permissions", "outputs", "needs") if key in other
        }
    install, tests, upload = jobs["verify"]["steps"][-3:]
    assert "$DOCKERFILE" in install["run"]
    assert install["env"] == {"DOCKERFILE": "${{ inputs.dockerfile }}"}
    other_tests, other_upload = example["jobs"]["verify"]["steps"][-2:]
    assert tests["run"] == other_tests["run"]
    assert upload == other_upload
    assert jobs["verify"]["steps"][3] == example["jobs"]["verify"]["steps"][3], "the example of the report"
    assert tests["env"] == {"TEST_COMMAND": "${{ inputs.test-command }}"}
