"""Labels that may be suggested."""

import pytest

from triage.domain.project_config import Labels, ProjectConfig
from triage.run.write.plan_suggestions import select_allowed_labels

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
    assert select_allowed_labels(config, EXISTING) == usable


def test_a_label_that_may_set_something_off_must_be_allowed_by_name():
    """Another workflow may start on it, with more rights than ours."""
    plain = ["area: parser", "good first issue", "priority/high", "type: bug", "security", "needs-info", "runtime"]
    setting_off = [
        "ｄeploy",
        "safe to test",
        "jules",
        "AI-fix",
        "Approved",
        "automerge",
        "release-now",
    ]
    assert select_allowed_labels(ProjectConfig(), plain + setting_off) == plain
    allowed = ProjectConfig(labels=Labels(allow=["approved"]))
    assert select_allowed_labels(allowed, plain + setting_off) == ["Approved"]
