"""A process limits itself, and works where the system refuses a limit."""

import resource
import subprocess
import sys

import pytest

from triage.code.parse.process_limits import limit_process

GIB = 1 << 30
CODE = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from triage.code.parse.process_limits import limit_process
{before}
limit_process(1 << 30)
print(resource.getrlimit(resource.RLIMIT_AS)[1], resource.getrlimit(resource.RLIMIT_CORE)[1])
"""


def limits_after(before: str) -> list[int]:
    """Returns the limits of a new process for memory and core files."""
    command = [sys.executable, "-c", CODE.format(before=before), "."]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.split()]


@pytest.mark.skipif(sys.platform != "linux", reason="macOS takes no limit below what is mapped already")
def test_memory_is_limited_and_no_core_file_is_written():
    assert limits_after("") == [GIB, 0]


@pytest.mark.skipif(sys.platform != "linux", reason="macOS takes no limit below what is mapped already")
def test_a_lower_limit_of_the_user_stays():
    lower = GIB // 2
    assert limits_after(f"resource.setrlimit(resource.RLIMIT_AS, ({lower}, {lower}))") == [lower, 0]


@pytest.mark.parametrize("error", [ValueError("current limit exceeds maximum limit"), OSError(22, "Invalid argument")])
def test_a_system_that_refuses_every_limit_is_no_reason_to_stop(monkeypatch: pytest.MonkeyPatch, error: Exception):
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(resource, "setrlimit", refuse)
    limit_process(GIB)
