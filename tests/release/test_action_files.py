"""The other actions have the inputs and outputs of `action.yml`, and the composite one hands each of them on."""

import re
from typing import Any

import pytest
import yaml

from release.action_files import COMPOSITE as FILE
from release.action_files import CONTAINER, ROOT, copy_container, update_composite
from tests.docs_pages import load_manifest
from triage.app.settings.runner_environment import check_input_names
from triage.base.errors import BadInput

ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
TEXT = FILE.read_text(encoding="utf-8")
COMPOSITE: dict[str, Any] = yaml.safe_load(TEXT)
STEPS: list[dict[str, Any]] = COMPOSITE["runs"]["steps"]


def variables(composite: dict[str, Any]) -> dict[str, str]:
    return {name: text for name, text in composite["runs"]["steps"][-1]["env"].items() if name.startswith("INPUT_")}


def test_they_are_current() -> None:
    assert update_composite(TEXT, ACTION) == TEXT, "run `make golden`"
    assert CONTAINER.read_text(encoding="utf-8") == copy_container(ACTION), "run `make golden`"


def test_the_container_in_a_folder_is_built_of_the_same_file() -> None:
    runs = yaml.safe_load(copy_container(ACTION))["runs"]
    assert (CONTAINER.parent / runs.pop("image")).resolve() == ROOT / "Dockerfile"
    assert runs == {"using": "docker"}


def test_inputs_and_outputs_are_those_of_the_action() -> None:
    manifest = load_manifest()
    assert COMPOSITE["inputs"] == manifest["inputs"]
    for name, entry in COMPOSITE["outputs"].items():
        assert entry == manifest["outputs"][name] | {"value": f"${{{{ steps.triage.outputs.{name} }}}}"}
    assert list(COMPOSITE["outputs"]) == list(manifest["outputs"])


def test_every_input_reaches_the_program_once() -> None:
    """Those that are gone too: the runner warns of an input that is not declared, and hands it on to be refused."""
    found, names = variables(COMPOSITE), list(COMPOSITE["inputs"])
    assert [*found][: len(names)] == [f"INPUT_{name.replace('-', '_').upper()}" for name in names]
    for variable, text in found.items():
        assert text == f"${{{{ inputs.{variable.removeprefix('INPUT_').replace('_', '-').lower()} }}}}"
    with pytest.raises(
        BadInput, match=r"^backlog, backlog-after, .*, fix, .*, scorecard: not an input of this version"
    ):
        check_input_names(found)


def test_no_script_contains_an_expression() -> None:
    """What somebody writes into an input must not become a command."""
    scripts = [step["run"] for step in STEPS if "run" in step]
    assert len(scripts) == 3
    assert not [script for script in scripts if "${{" in script]


def test_steps_of_others_are_pinned_and_no_secret_reaches_them() -> None:
    others = [step for step in STEPS if "uses" in step]
    assert len(others) == 1
    for step in others:
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step["uses"])
    for step in STEPS[:-1]:
        assert "inputs." not in yaml.safe_dump(step)


def test_what_the_image_has_is_not_looked_for_in_the_workspace() -> None:
    """The checkout belongs to the project: no file of it may be run."""
    for step in STEPS:
        for path in re.findall(r"\S+\.py", step.get("run", "")):
            assert path.startswith('"$GITHUB_ACTION_PATH/')
        assert step.get("run", "-I ").count("-I ") == 1
