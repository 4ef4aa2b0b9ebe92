"""Every input and every fact of the environment. The only reader of the environment's variables."""

from triage.settings.inputs import PLACEHOLDER_KEY, Settings
from triage.settings.runner_environment import RunnerEnvironment
from triage.settings.secret_inputs import collect_own_secrets
from triage.settings.server_checkouts import Checkouts

__all__ = ["PLACEHOLDER_KEY", "Checkouts", "RunnerEnvironment", "Settings", "collect_own_secrets"]
