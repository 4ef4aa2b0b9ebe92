"""Inputs and `TRIAGE_` variables that name no setting."""

import pytest

from triage.app.settings.inputs import Settings
from triage.app.settings.runner_environment import check_input_names, find_unknown_variables
from triage.base.errors import BadInput


@pytest.mark.parametrize(
    ("name", "warning"),
    [
        ("TRIAGE_MODEL_APIKEY", "TRIAGE_MODEL_APIKEY is not a setting; did you mean TRIAGE_MODEL_API_KEY?"),
        ("TRIAGE_REPOSS", "TRIAGE_REPOSS is not a setting; did you mean TRIAGE_REPOS?"),
        ("TRIAGE_ZZZ", "TRIAGE_ZZZ is not a setting."),
    ],
)
def test_a_misspelt_name_is_a_warning_without_its_value(name: str, warning: str):
    assert find_unknown_variables({name: "sk-secret"}) == [warning]


def test_settings_and_other_variables_are_no_warning():
    known = [f"TRIAGE_{name.upper()}" for name in Settings.model_fields]
    assert find_unknown_variables(dict.fromkeys([*known, "TRIAGE_REPO", "TRIAGE_REPOS", "MY_TRIAGE_X"], "x")) == []


@pytest.mark.parametrize("variable", ["INPUT_FIX-MAX-TOKENS", "INPUT_FIX_MAX_TOKENS"])
def test_an_input_of_another_version_is_refused_however_the_runner_spells_it(variable: str):
    with pytest.raises(BadInput, match=r"^fix-max-tokens: not an input of this version\. CHANGELOG\.md says"):
        check_input_names({variable: "0"})


def test_inputs_of_this_version_and_those_without_a_value_are_taken():
    known = [f"INPUT_{name.upper()}" for name in Settings.model_fields]
    check_input_names(dict.fromkeys([*known, *(name.replace("_", "-") for name in known)], "x") | {"INPUT_FIX": " "})
