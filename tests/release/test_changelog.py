"""The changelog and the version agree, and become the text of a release's page."""

import re
from dataclasses import replace

import pytest

from release.changelog import check_changelog, render_notes, write_date
from release.facts import ReleaseError, read_version
from tests.release.conftest import RELEASE, ROOT

CHANGELOG = """# Changelog

## 1.2.3 (unreleased)

Words
of two lines, see [below](#notes).

- New, see [memory](docs/memory.md#how)
  and [us](https://example.com).
- Newer.

### Notes

| a | b |
|---|---|
| c | d |

Last.

## 1.2.2 (2026-10-01)

- Old.
"""


def test_the_changelog_of_this_repository_begins_with_its_version() -> None:
    heading = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heading
    assert re.fullmatch(rf"{re.escape(read_version(ROOT))} \((?:unreleased|\d{{4}}-\d\d-\d\d)\)", heading[1])


def test_the_section_gets_the_date() -> None:
    dated = write_date(CHANGELOG, RELEASE)
    assert dated == CHANGELOG.replace("(unreleased)", "(2026-11-30)")


@pytest.mark.parametrize("version", ["1.2.4", "1.2.2", "11.2.3"])
def test_another_version_is_not_released(version: str) -> None:
    with pytest.raises(ReleaseError, match=re.escape(f"`## {version} (unreleased)`")):
        check_changelog(CHANGELOG, version)


def test_a_changelog_without_sections_is_not_released() -> None:
    with pytest.raises(ReleaseError):
        check_changelog("# Changelog\n", "1.2.3")


def test_notes_are_the_section_with_whole_links() -> None:
    notes = render_notes(write_date(CHANGELOG, RELEASE), RELEASE, "c" * 40)
    link = "https://github.test/octo/shop/blob/v1.2.3/docs/memory.md#how"
    below = "https://github.test/octo/shop/blob/v1.2.3/CHANGELOG.md#notes"
    assert notes.split("`\n\n")[-1] == (
        f"Words of two lines, see [below]({below}).\n\n- New, see [memory]({link}) and [us](https://example.com).\n"
        "- Newer.\n\n### Notes\n\n| a | b |\n|---|---|\n| c | d |\n\nLast.\n"
    )
    assert f"octo/shop@{'c' * 40} # v1.2.3" in notes
    assert "Old." not in notes


def test_notes_that_are_too_long_are_refused() -> None:
    long = CHANGELOG.replace("- New", "- New" * 30_000)
    with pytest.raises(ReleaseError, match="Shorten"):
        render_notes(write_date(long, RELEASE), RELEASE, "c" * 40)


def test_a_version_needs_three_numbers(tmp_path) -> None:
    (tmp_path / "triage").mkdir()
    (tmp_path / "triage" / "__init__.py").write_text('__version__ = "1.2rc1"\n')
    with pytest.raises(ReleaseError, match="three numbers"):
        read_version(tmp_path)


def test_capital_letters_of_the_owner_are_not_in_the_image() -> None:
    assert replace(RELEASE, repository="Octo/Shop").image.startswith("ghcr.io/octo/shop@sha256:")
