"""`action.yml`, `Settings` and the README's tables say the same.

`python -m tests.test_action_yml` writes the tables anew between the README's markers.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr

from triage.publish.plan_effects import EMPTY_OUTPUTS
from triage.settings import Settings

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
OUTPUTS = list(EMPTY_OUTPUTS)


def manifest() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return loaded


def default_of(name: str) -> str:
    """A field's default as action.yml spells it."""
    if name == "github_token":
        return "${{ github.token }}"
    value = Settings.model_fields[name].default
    if value is None or isinstance(value, SecretStr):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def rows(kind: str) -> str:
    """A Markdown table of the inputs or the outputs."""
    if kind == "inputs":
        lines = ["| input | default | meaning |", "|---|---|---|"]
        for name, told in manifest()["inputs"].items():
            default = f"`{told['default']}`" if told["default"] else ""
            lines.append(f"| `{name}` | {default} | {told['description']} |")
    else:
        lines = ["| output | meaning |", "|---|---|"]
        lines += [f"| `{name}` | {told['description']} |" for name, told in manifest()["outputs"].items()]
    return "\n".join(lines)


def table_pattern(kind: str) -> re.Pattern[str]:
    return re.compile(f"(<!-- {kind} -->\n)(.*?)(<!-- /{kind} -->)", re.DOTALL)


def test_every_input_is_a_setting_in_the_same_order() -> None:
    assert list(manifest()["inputs"]) == [field.alias for field in Settings.model_fields.values()]


@pytest.mark.parametrize("name", list(Settings.model_fields))
def test_an_input_is_described_by_its_setting(name: str) -> None:
    field = Settings.model_fields[name]
    assert manifest()["inputs"][field.alias] == {
        "description": field.description,
        "required": False,
        "default": default_of(name),
    }


def test_defaults_given_by_the_runner_are_the_defaults() -> None:
    given = {f"INPUT_{name.upper()}": told["default"] for name, told in manifest()["inputs"].items()}
    given["INPUT_GITHUB-TOKEN"] = ""
    assert Settings.from_runner(given) == Settings.from_runner({})


def test_outputs() -> None:
    outputs = manifest()["outputs"]
    assert list(outputs) == OUTPUTS
    assert all(set(told) == {"description"} for told in outputs.values())


def test_a_listing_in_the_marketplace_is_possible() -> None:
    told = manifest()
    assert told["name"] == "Bug Triage"
    assert len(told["description"]) < 125
    assert told["branding"] == {"icon": "search", "color": "blue"}


def test_the_image_is_built_from_this_repository() -> None:
    assert manifest()["runs"] == {"using": "docker", "image": "Dockerfile"}


@pytest.mark.skipif(not README.exists(), reason="there is no README yet")
@pytest.mark.parametrize("kind", ["inputs", "outputs"])
def test_readme_table(kind: str) -> None:
    table = table_pattern(kind).search(README.read_text(encoding="utf-8"))
    assert table, f"README.md has no table between <!-- {kind} --> and <!-- /{kind} -->"
    assert table[2].strip() == rows(kind)


def write_tables() -> None:
    text = README.read_text(encoding="utf-8")
    for kind in ("inputs", "outputs"):
        # A backslash in a description must not become a group's reference.
        text = table_pattern(kind).sub(r"\1" + rows(kind).replace("\\", r"\\") + r"\n\3", text)
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_tables()
