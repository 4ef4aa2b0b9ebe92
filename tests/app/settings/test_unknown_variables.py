"""`TRIAGE_` variables that name no setting."""

import re
from pathlib import Path

import pytest

from triage.app.settings.inputs import Settings
from triage.app.settings.runner_environment import find_gone_inputs, find_unknown_variables
from triage.base.errors import BadInput


@pytest.mark.parametrize(
    ("name", "warning"),
    [
        ("TRIAGE_MODEL_APIKEY", "TRIAGE_MODEL_APIKEY is not a setting; did you mean TRIAGE_MODEL_API_KEY?"),
        ("TRIAGE_REPOSS", "TRIAGE_REPOSS is not a setting; did you mean TRIAGE_REPOS?"),
        (
            "TRIAGE_MEMORY_ISSUES",
            "TRIAGE_MEMORY_ISSUES is gone: write `past-issues: ` and the number into .github/triage.yml.",
        ),
        ("TRIAGE_ZZZ", "TRIAGE_ZZZ is not a setting."),
    ],
)
def test_a_misspelt_name_is_a_warning_without_its_value(name: str, warning: str):
    assert find_unknown_variables({name: "sk-secret"}) == [warning]


def test_settings_and_other_variables_are_no_warning():
    known = [f"TRIAGE_{name.upper()}" for name in Settings.model_fields]
    assert find_unknown_variables(dict.fromkeys([*known, "TRIAGE_REPO", "TRIAGE_REPOS", "MY_TRIAGE_X"], "x")) == []


def test_a_gone_input_is_named_if_it_is_set():
    assert find_gone_inputs({"INPUT_CACHE-DIR": ".cache"}) == [
        "cache-dir is gone: each run pays for its own replies and vectors. Remove the line."
    ]
    assert find_gone_inputs({"INPUT_CACHE-DIR": "", "INPUT_FIX": "off", "INPUT_DOCTOR": "False"}) == []


def test_every_input_that_the_changelog_calls_gone_is_named():
    text = (Path(__file__).parents[3] / "CHANGELOG.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`[^|(]+)", text, re.MULTILINE)
    names = {name for cell in cells for name in re.findall(r"`([\w-]+)[:\w ]*`", cell) if "triage.yml" not in cell}
    assert {"fix", "cache-dir", "supervisor"} <= names
    for name in names:
        try:
            (said,) = find_gone_inputs({f"INPUT_{name.upper()}": "1"})
        except BadInput as refused:
            said = str(refused)
        assert said.startswith(f"{name} is gone: ")


@pytest.mark.parametrize("name", ["memory-issues", "backlog-limit", "backlog-after", "doctor"])
def test_what_would_spend_more_is_refused_however_the_runner_spells_it(name: str):
    for variable in (f"INPUT_{name.upper()}", f"INPUT_{name.replace('-', '_').upper()}"):
        with pytest.raises(BadInput, match=f"^{name} is gone: "):
            find_gone_inputs({variable: "0"})


def test_what_would_do_or_spend_something_else_is_refused():
    with pytest.raises(BadInput) as caught:
        find_gone_inputs({"INPUT_REPRODUCE": "run", "INPUT_FIX-MAX-TOKENS": "9000", "INPUT_CACHE-DIR": ".cache"})
    assert str(caught.value) == (
        "fix-max-tokens is gone: write max-tokens in the job with `task: fix-propose`. "
        "reproduce is gone: write `task: reproduce-` and the job, such as `task: reproduce-run`."
    )
