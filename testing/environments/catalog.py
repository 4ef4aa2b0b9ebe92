"""Odd machines and odd networks to run the whole action on, by name.

A run in any of them ends by itself, writes one comment where GitHub can be reached, shows no traceback and no secret.
"""

from pathlib import Path

from testing.environments.environment import Environment, faults_in
from testing.environments.machines import MACHINES
from testing.environments.networks import NETWORKS

ENVIRONMENTS: dict[str, Environment] = MACHINES | NETWORKS


def faults(name: str, folder: Path) -> list[str]:
    """Run the action once in this environment, in a folder that is not there yet; what was wrong, empty when nothing."""
    return faults_in(ENVIRONMENTS[name], folder)
