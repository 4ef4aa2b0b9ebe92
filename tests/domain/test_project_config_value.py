"""What the project's settings mean."""

from triage.domain.project_config import ProjectConfig


def test_an_alias_replaces_an_owner():
    config = ProjectConfig(owners={"@Acme/Core": "@octocat"})
    assert config.resolve_assignee("acme/core") == "octocat"
    assert config.resolve_assignee("anna") == "anna"
