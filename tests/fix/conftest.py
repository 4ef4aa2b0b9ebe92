"""GitHub on loopback, as for its other clients."""

from tests.outside.github.conftest import (
    api,
    git,
    no_wait_between_writes,
    open_store,
    open_tracker,
    pulls,
    store,
    tracker,
)

__all__ = [
    "api",
    "git",
    "no_wait_between_writes",
    "open_store",
    "open_tracker",
    "pulls",
    "store",
    "tracker",
]
