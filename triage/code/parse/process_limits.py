"""Limits that a process sets for itself before it parses a file of a stranger."""

import resource
from contextlib import suppress


def limit_process(memory_bytes: int) -> None:
    """Limit the address space, and write no core file.

    Where the system refuses a limit, the process goes on with the one that it has: the user's own may be lower. macOS
    takes none below what is mapped already, which is more than this, so that memory is not limited there.
    """
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
