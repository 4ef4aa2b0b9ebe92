"""GitHub on loopback, as for its other clients."""

from tests.outside.github.conftest import (
    api,
    approvals,
    git,
    no_wait_between_writes,
    open_approvals,
    open_store,
    open_tracker,
    pulls,
    store,
    tracker,
)

__all__ = [
    "api",
    "approvals",
    "git",
    "no_wait_between_writes",
    "open_approvals",
    "open_store",
    "open_tracker",
    "pulls",
    "store",
    "tracker",
]
