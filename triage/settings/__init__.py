"""Every input and every fact of the environment. The only reader of the environment's variables."""

from triage.settings.checkouts import Checkouts
from triage.settings.held import own_secrets
from triage.settings.inputs import KEY_FOR_NONE, Settings
from triage.settings.place import RunnerEnvironment

__all__ = ["KEY_FOR_NONE", "Checkouts", "RunnerEnvironment", "Settings", "own_secrets"]
