"""GitHub on loopback, as for its other clients."""

from tests.outside.github.conftest import (
    api,
    no_wait_between_writes,
    open_tracker,
    tracker,
)

__all__ = [
    "api",
    "no_wait_between_writes",
    "open_tracker",
    "tracker",
]
