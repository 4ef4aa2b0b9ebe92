"""What the project's settings mean."""

import pytest

from triage.domain.project_config import Config, Labels

EXISTING = ["Bug", "regression", "triage", "no-triage"]


@pytest.mark.parametrize(
    ("config", "usable"),
    [
        (Config(), EXISTING),
        (Config(labels=Labels(allow=["bug", "unknown"])), ["Bug"]),
        (Config(opt_in_label="Triage", opt_out_label="NO-triage"), ["Bug", "regression"]),
        (Config(labels=Labels(allow=["triage"]), opt_in_label="triage"), []),
    ],
)
def test_labels_are_those_of_the_repository_that_are_allowed_and_steer_nothing(config: Config, usable: list[str]):
    assert config.usable(EXISTING) == usable


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
    assert Config().usable(plain + setting_off) == plain
    allowed = Config(labels=Labels(allow=["approved"]))
    assert allowed.usable(plain + setting_off) == ["Approved"]


def test_a_label_is_described_whatever_its_case():
    config = Config(labels=Labels(describe={"Regression": "worked before"}))
    assert config.described("regression") == "worked before"
    assert config.described("bug") == ""


def test_an_alias_stands_in_for_an_owner():
    config = Config(owners={"@Acme/Core": "@octocat"})
    assert config.stands_in("acme/core") == "octocat"
    assert config.stands_in("anna") == "anna"
