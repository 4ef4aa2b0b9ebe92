"""Every input and every fact of the environment. The only reader of the environment's variables."""

from triage.settings.inputs import KEY_FOR_NONE, Settings
from triage.settings.runner_environment import RunnerEnvironment
from triage.settings.secret_inputs import own_secrets
from triage.settings.server_checkouts import Checkouts

__all__ = ["KEY_FOR_NONE", "Checkouts", "RunnerEnvironment", "Settings", "own_secrets"]
