"""Publishes a release: its commit, its tags, its page, and the commit on main that names it.

Every step can be repeated. A job that failed in between is run again, and continues.
"""

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

from release.changelog import render_notes
from release.facts import Release, ReleaseError, parse_version
from release.files import CHANGELOG, write_following_files, write_release_files
from release.github_api import GitHubApi, RequestRefused

MAIN = "main"
_REFUSED = (403, 409, 422)
"""Of a branch with rules, or one that has moved on."""


def publish(api: GitHubApi, root: Path, released: str, release: Release) -> tuple[str, str]:
    """Publishes what `root` has checked out.

    Args:
        api: Where to publish.
        root: A checkout of the commit that is released.
        released: This commit.
        release: The release.

    Returns:
        The commit of the release, and the branch that a person has to merge into main; empty if that is done.

    Raises:
        ReleaseError: With what to do about it. What was done before stays.
    """
    _check_newest(api, release)
    existing = _find_tagged(api, released, release)
    if existing:
        release = _find_dated(api, root, released, release, existing)
    files = write_release_files(root, release)
    commit = existing or _tag_version(api, released, release, files)
    _publish_page(api, release, render_notes(files[CHANGELOG], release, commit))
    api.set_ref(f"tags/{release.major_tag}", commit, force=True)
    return commit, _name_release_on_main(api, root, released, release, commit)


def _check_newest(api: GitHubApi, release: Release) -> None:
    """Raises ReleaseError for the job of an old release that is run again: the major tag would go back to it."""
    newest = max(api.list_tags(f"{release.major_tag}."), key=parse_version, default="")
    if parse_version(newest) > parse_version(release.version):
        raise ReleaseError(
            f"{newest} is released, and newer than {release.tag}: {release.major_tag} would move back. Nothing was "
            "changed."
        )


def _find_tagged(api: GitHubApi, released: str, release: Release) -> str:
    existing = api.find_ref(f"tags/{release.tag}")
    if existing and api.find_parents(existing) != [released]:
        raise ReleaseError(f"The tag {release.tag} is of another commit. Raise the version in triage/__init__.py.")
    return existing


def _find_dated(api: GitHubApi, root: Path, released: str, release: Release, existing: str) -> Release:
    """Returns the release with the date of a tag that has its files.

    Raises ReleaseError for any other tag: whoever may push may put any files under it.
    """
    tree, last = api.find_tree(existing), date.fromisoformat(api.read_date(existing))
    for day in (last, last - timedelta(days=1)):  # midnight may have passed between the files and their commit
        dated = replace(release, date=day.isoformat())
        if api.store_tree(released, write_release_files(root, dated)) == tree:
            return dated
    raise ReleaseError(
        f"The tag {release.tag} has other files than the release. Nothing was changed. Find out who made it. If the "
        "version was never published, delete the tag; else raise the version in triage/__init__.py."
    )


def _tag_version(api: GitHubApi, released: str, release: Release, files: dict[str, str]) -> str:
    commit = api.store_commit(released, files, f"Release {release.tag}")
    api.set_ref(f"tags/{release.tag}", commit)
    return commit


def _publish_page(api: GitHubApi, release: Release, notes: str) -> None:
    try:
        api.ask("GET", f"releases/tags/{release.tag}")
    except RequestRefused as error:
        if error.status != 404:
            raise
        api.ask("POST", "releases", {"tag_name": release.tag, "name": release.tag, "body": notes})


def _name_release_on_main(api: GitHubApi, root: Path, released: str, release: Release, commit: str) -> str:
    head = api.find_ref(f"heads/{MAIN}")
    if head != released and released in api.find_parents(head) and _is_named(api, head, release):
        return ""
    following = api.store_commit(released, write_following_files(root, release, commit), _following_message(release))
    try:
        api.set_ref(f"heads/{MAIN}", following)
    except RequestRefused as error:
        if error.status not in _REFUSED:
            raise
        branch = f"name-{release.tag}"
        api.set_ref(f"heads/{branch}", following, force=True)
        return branch
    return ""


def _following_message(release: Release) -> str:
    return f"Pages and examples name {release.tag}"


def _is_named(api: GitHubApi, commit: str, release: Release) -> bool:
    message = str(api.ask("GET", f"git/commits/{commit}")["message"])
    return message.strip() == _following_message(release)
