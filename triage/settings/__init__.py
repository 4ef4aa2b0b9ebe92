"""Inputs and variables. No other package reads the environment."""

from triage.settings.inputs import PLACEHOLDER_KEY, Settings
from triage.settings.runner_environment import RunnerEnvironment
from triage.settings.secret_inputs import collect_own_secrets, remove_own_variables
from triage.settings.triage_variables import Checkouts, find_unknown_variables

__all__ = [
    "PLACEHOLDER_KEY",
    "Checkouts",
    "RunnerEnvironment",
    "Settings",
    "collect_own_secrets",
    "find_unknown_variables",
    "remove_own_variables",
]
