"""The whole action on some of the unusual machines and networks; `make trust` runs it on all."""

from pathlib import Path

import pytest

from testing.environments.catalog import ENVIRONMENTS
from testing.environments.environment import find_problems

SAMPLE = [
    "a full disk under the workspace and the temporary files",
    "ASCII only",
    "an Enterprise Server behind a proxy with a login",
    "a GitHub that drips",
    "a public GitHub without TLS",
]


@pytest.mark.parametrize("name", SAMPLE)
def test_a_run_ends_as_expected(name: str, tmp_path: Path):
    environment = ENVIRONMENTS[name]
    if not environment.is_possible:
        pytest.skip("not possible on this machine")
    assert find_problems(environment, tmp_path / "job") == []
