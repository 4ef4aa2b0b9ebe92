"""The whole action on odd machines and networks: a few of each kind here; `make trust` runs them all."""

from pathlib import Path

import pytest

from testing.environments.catalog import ENVIRONMENTS, find_problems_in

SAMPLE = [
    "a full disk under the workspace and the temporary files",
    "no home",
    "plain letters only",
    "few open files",
    "an Enterprise Server behind a proxy with a login",
    "an Enterprise Server with a port, a path and slashes",
    "a proxy that refuses the login",
    "a GitHub that drips",
    "a GitHub without TLS far away",
]


@pytest.mark.parametrize("name", SAMPLE)
def test_a_run_there_ends_as_it_should(name: str, tmp_path: Path):
    if not ENVIRONMENTS[name].is_possible:
        pytest.skip("this machine cannot be made so")
    assert find_problems_in(name, tmp_path / "job") == []
