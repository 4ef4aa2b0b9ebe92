"""`action.yml` and `Settings` agree."""

import re

from pydantic import SecretStr

from testing.each_row import each_row
from tests.docs_pages import load_manifest
from tests.docs_yaml import ROOT, is_release
from triage.app.settings.inputs import Settings
from trust.allowed_effects import OUTPUTS

FEATHER_ICONS = {"activity", "crosshair", "eye", "filter", "git-commit", "map-pin", "message-square", "search", "zap"}
"""Some of those that GitHub takes."""
MARKETPLACE_COLORS = {"white", "black", "yellow", "blue", "green", "orange", "red", "purple", "gray-dark"}


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


def test_every_input_is_a_setting_in_the_same_order() -> None:
    assert list(load_manifest()["inputs"]) == [field.alias for field in Settings.model_fields.values()]


@each_row("name", list(Settings.model_fields))
def test_an_input_is_described_and_has_the_default_of_its_setting(name: str) -> None:
    entry = load_manifest()["inputs"][Settings.model_fields[name].alias]
    assert entry.pop("description").endswith(".")
    assert entry == {"required": False, "default": default_of(name)}


def test_defaults_given_by_the_runner_are_the_defaults() -> None:
    given = {f"INPUT_{name.upper()}": entry["default"] for name, entry in load_manifest()["inputs"].items()}
    given["INPUT_GITHUB-TOKEN"] = ""
    assert Settings.from_runner(given) == Settings.from_runner({})


def test_outputs() -> None:
    outputs = load_manifest()["outputs"]
    assert set(outputs) == set(OUTPUTS)
    assert all(set(entry) == {"description"} for entry in outputs.values())


def test_a_listing_in_the_marketplace_is_possible() -> None:
    """GitHub says so only when a person ticks the box, and then the release cannot be changed any more."""
    entry = load_manifest()
    assert re.fullmatch(r"Bug Triage(?: \w+)+", entry["name"]), "two common words belong to somebody already"
    assert len(entry["name"]) < 50
    assert len(entry["description"]) < 125
    assert entry["branding"]["icon"] in FEATHER_ICONS
    assert entry["branding"]["color"] in MARKETPLACE_COLORS
    assert (ROOT / "README.md").exists()
    assert not (ROOT / "action.yaml").exists()


def test_the_image_is_built_from_this_repository_or_named_by_digest() -> None:
    runs = load_manifest()["runs"]
    assert runs["using"] == "docker"
    assert re.fullmatch(r"docker://ghcr\.io/\S+@sha256:[0-9a-f]{64}" if is_release() else "Dockerfile", runs["image"])
