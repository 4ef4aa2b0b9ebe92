"""Every input and every fact of the environment. The only reader of the environment's variables."""

from triage.settings.inputs import PLACEHOLDER_KEY, Settings
from triage.settings.place import RunnerEnvironment

__all__ = ["PLACEHOLDER_KEY", "RunnerEnvironment", "Settings"]
