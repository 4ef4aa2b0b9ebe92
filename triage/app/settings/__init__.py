"""Inputs and variables. No other package reads the environment."""

from triage.app.settings.inputs import PLACEHOLDER_KEY, Settings
from triage.app.settings.runner_environment import (
    Checkouts,
    RunnerEnvironment,
    find_gone_inputs,
    find_unknown_variables,
)
from triage.app.settings.secret_inputs import collect_own_secrets, remove_own_variables

__all__ = [
    "PLACEHOLDER_KEY",
    "Checkouts",
    "RunnerEnvironment",
    "Settings",
    "collect_own_secrets",
    "find_gone_inputs",
    "find_unknown_variables",
    "remove_own_variables",
]
