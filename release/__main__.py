"""What the workflow `release` runs, with the standard library only: `python -m release check|pull|publish`.

The variables are those of the runner, and GH_TOKEN; `pull` and `publish` also need DIGEST, of the pushed image.
"""

import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from release.anonymous_pull import pull_as_anybody
from release.changelog import check_changelog
from release.facts import Release, ReleaseError, name_image, read_version
from release.files import CHANGELOG
from release.github_api import GitHubApi
from release.publish import publish

ROOT = Path(__file__).parents[1]


def check(root: Path, environ: Mapping[str, str]) -> None:
    """Stops a release that cannot succeed before anything is built, and sets the outputs `version` and `image`."""
    version = read_version(root)
    check_changelog((root / CHANGELOG).read_text(encoding="utf-8"), version)
    if _open_api(environ).find_ref(f"tags/v{version}"):
        raise ReleaseError(f"v{version} is released already. Raise the version in triage/__init__.py.")
    with Path(environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as output:
        output.write(f"version={version}\nimage={name_image(environ['GITHUB_REPOSITORY'])}\n")


def publish_and_report(root: Path, environ: Mapping[str, str]) -> None:
    """Publishes, and writes what is left for a person to the job's summary."""
    release = _read_release(root, environ)
    commit, branch = publish(_open_api(environ), root, environ["GITHUB_SHA"], release)
    page = f"{release.server_url}/{release.repository}/releases/edit/{release.tag}"
    lines = [
        f"Released {release.tag}: `{release.repository}@{commit} # {release.tag}`",
        f"- The Marketplace lists a release only if a person ticks the box on [its page]({page}).",
    ]
    if branch:
        lines.append(f"- main has moved on, or its rules refuse the commit: merge the branch `{branch}` into it.")
    with Path(environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as summary:
        summary.write("\n".join(lines) + "\n")


def _open_api(environ: Mapping[str, str]) -> GitHubApi:
    return GitHubApi(environ["GITHUB_API_URL"], environ["GITHUB_REPOSITORY"], environ["GH_TOKEN"])


def _read_release(root: Path, environ: Mapping[str, str]) -> Release:
    return Release(
        repository=environ["GITHUB_REPOSITORY"],
        version=read_version(root),
        digest=environ["DIGEST"],
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        server_url=environ["GITHUB_SERVER_URL"],
    )


def main(arguments: list[str], environ: Mapping[str, str], root: Path = ROOT) -> int:
    """Returns the exit code. An error is one line for the job's log."""
    try:
        match arguments:
            case ["check"]:
                check(root, environ)
            case ["pull"]:
                pull_as_anybody(_read_release(root, environ))
            case ["publish"]:
                publish_and_report(root, environ)
            case _:
                raise ReleaseError("Say what to do: check, pull or publish.")
    except ReleaseError as error:
        print(f"::error::{error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
