"""Pulls the image as somebody without any login would."""

import os
import subprocess
import tempfile

from release.facts import Release, ReleaseError


def pull_as_anybody(release: Release) -> None:
    """Raises ReleaseError if the image of the release cannot be pulled without a login."""
    with tempfile.TemporaryDirectory() as empty:  # a folder for docker's settings, without the logins of this machine
        done = subprocess.run(  # noqa: S603
            ["docker", "pull", "--quiet", release.image],  # noqa: S607 - the runner's
            env=os.environ | {"DOCKER_CONFIG": empty},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        owner, _, name = release.repository.partition("/")
        raise ReleaseError(
            f"Nobody can pull {release.image} without a login: {_last_line(done.stderr)}. New packages are private: "
            f"open the package {name.lower()} of {owner} on GitHub, Package settings, Change visibility, Public. "
            "Then run the failed job again. No tag was moved."
        )


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].rstrip(".") if lines else "docker says nothing"
