"""All environments by name.

A run in any of them ends by itself, writes one comment if GitHub can be reached, and shows no traceback or secret.
"""

from testing.environments.environment import Environment
from testing.environments.machines import MACHINES
from testing.environments.networks import NETWORKS

ENVIRONMENTS: dict[str, Environment] = MACHINES | NETWORKS
