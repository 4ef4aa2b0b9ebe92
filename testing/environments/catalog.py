"""Odd machines and odd networks to run the whole action on, by name.

A run in any of them ends by itself, writes one comment where GitHub can be reached, shows no traceback and no secret.
"""

from pathlib import Path

from testing.environments.environment import Environment, find_problems
from testing.environments.machines import MACHINES
from testing.environments.networks import NETWORKS

ENVIRONMENTS: dict[str, Environment] = MACHINES | NETWORKS


def find_problems_in(name: str, folder: Path) -> list[str]:
    """Run the action once in this environment, in a folder that is not there yet; what was wrong, empty when nothing."""
    return find_problems(ENVIRONMENTS[name], folder)
