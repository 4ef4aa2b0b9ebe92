"""What the project's settings mean."""

from triage.domain.project_config import Labels, ProjectConfig


def test_label_descriptions_ignore_case():
    config = ProjectConfig(labels=Labels(describe={"Regression": "worked before"}))
    assert config.label_description("regression") == "worked before"
    assert config.label_description("bug") == ""


def test_an_alias_replaces_an_owner():
    config = ProjectConfig(owners={"@Acme/Core": "@octocat"})
    assert config.resolve_assignee("acme/core") == "octocat"
    assert config.resolve_assignee("anna") == "anna"
