"""What the project's settings mean."""

import pytest

from triage.domain.project_config import Labels, ProjectConfig

EXISTING = ["Bug", "regression", "triage", "no-triage"]


@pytest.mark.parametrize(
    ("config", "usable"),
    [
        (ProjectConfig(), EXISTING),
        (ProjectConfig(labels=Labels(allow=["bug", "unknown"])), ["Bug"]),
        (ProjectConfig(opt_in_label="Triage", opt_out_label="NO-triage"), ["Bug", "regression"]),
        (ProjectConfig(labels=Labels(allow=["triage"]), opt_in_label="triage"), []),
    ],
)
def test_labels_are_those_of_the_repository_that_are_allowed_and_steer_nothing(
    config: ProjectConfig, usable: list[str]
):
    assert config.allowed_labels(EXISTING) == usable


def test_a_label_that_may_set_something_off_must_be_allowed_by_name():
    """Another workflow may start on it, with more rights than ours."""
    plain = ["area: parser", "good first issue", "priority/high", "type: bug", "security", "needs-info", "runtime"]
    setting_off = [
        "ｄeploy",
        "de-ploy",
        "Deployments",
        "safe to test",
        "jules",
        "AI-fix",
        "Approved",
        "ok-to-test",
        "claude:implement",
        "automerge",
        "run/e2e",
        "lgtm",
        "release-now",
    ]
    assert ProjectConfig().allowed_labels(plain + setting_off) == plain
    allowed = ProjectConfig(labels=Labels(allow=["approved"]))
    assert allowed.allowed_labels(plain + setting_off) == ["Approved"]


def test_a_label_is_described_whatever_its_case():
    config = ProjectConfig(labels=Labels(describe={"Regression": "worked before"}))
    assert config.label_description("regression") == "worked before"
    assert config.label_description("bug") == ""


def test_an_alias_stands_in_for_an_owner():
    config = ProjectConfig(owners={"@Acme/Core": "@octocat"})
    assert config.resolve_assignee("acme/core") == "octocat"
    assert config.resolve_assignee("anna") == "anna"
