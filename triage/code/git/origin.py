"""The name of a checkout's repository on its host."""

import re
from pathlib import Path

from triage.code.git.git import Git, GitError

# `https://host/owner/name.git`, `ssh://git@host/owner/name`, `git@host:owner/name.git`
_REMOTE = re.compile(
    r"(?:[a-z+]+://[^/\s]+/|[^/\s:]+:)(?:[^\s]+/)?(?P<slug>[\w.-]+/[\w.-]+?)(?:\.git)?/?", re.IGNORECASE | re.ASCII
)


def read_origin(root: Path) -> str | None:
    """Return `owner/name` of the remote `origin`; None without git, a work tree, or a remote on a host."""
    try:
        output = Git(root).run("config", "--get", "remote.origin.url", accept=(0, 1))
    except GitError:
        return None
    found = _REMOTE.fullmatch(output.decode("utf-8", "replace").strip())
    return found["slug"] if found else None
