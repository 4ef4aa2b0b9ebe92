"""The tag of a version, however project and reporter write it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from triage.domain.code import Tag
from triage.domain.issue import IssueFacts, Quote, Regression
from triage.read.versions.regressions import choose_versions, resolve_version
from triage.read.versions.versions import (
    find_previous_tag,
    find_release,
    find_tag,
    parse_version,
)

QUOTE = Quote(text="x", start=0, end=1)


def tags(*names: str) -> list[Tag]:
    return [Tag(name=name, commit=f"{place:040x}") for place, name in enumerate(names, 1)]


def name(tag: Tag | None) -> str | None:
    return tag.name if tag else None


PLAIN = tags("v2.0.0", "v2.0.0-rc1", "v1.10.0", "v1.9.1", "v1.9.0", "v1.2.3", "nightly")


@each_row(
    ("written", "among", "expected"),
    [
        ("1.2.3", PLAIN, "v1.2.3"),
        ("v1.2.3", PLAIN, "v1.2.3"),
        ("1.10", PLAIN, "v1.10.0"),
        ("2.0", PLAIN, "v2.0.0"),
        ("2.0.0rc1", PLAIN, "v2.0.0-rc1"),
        ("2.0.0-RC.1", PLAIN, "v2.0.0-rc1"),
        ("1.1", PLAIN, None),
        ("21.2.3", PLAIN, None),
        ("nightly", PLAIN, None),
        ("", PLAIN, None),
        ("1.4", tags("release-1.4", "1.3"), "release-1.4"),
        ("1.4", tags("REL_1_4"), "REL_1_4"),
        ("1.4", tags("core@1.4.0"), "core@1.4.0"),
        ("1.4", tags("core@1.4.0", "cli@1.4.0"), None),
        ("1.4", tags("core@1.4.0", "v1.4.0"), "v1.4.0"),
        ("1.9.x", PLAIN, "v1.9.0"),
        ("3.x", PLAIN, None),
    ],
)
def test_the_tag_of_a_version(written: str, among: list[Tag], expected: str | None):
    assert name(find_tag(written, among)) == expected


def test_the_last_tag_of_a_series():
    assert name(find_tag("1.9.x", PLAIN, last=True)) == "v1.9.1"


@pytest.mark.parametrize(
    ("tag", "expected"), [("v2.0.0", "v1.10.0"), ("v2.0.0-rc1", "v1.10.0"), ("v1.2.3", None), ("nightly", None)]
)
def test_the_release_before_a_tag(tag: str, expected: str | None):
    [one] = [one for one in PLAIN if one.name == tag]
    assert name(find_previous_tag(one, PLAIN)) == expected


MONOREPO = tags("core@1.0.0", "core@1.0.1", "web@1.1.0", "web@1.2.0", "core@1.1.0-beta", "core@1.2.0")


@given(st.text(max_size=60))
def test_any_text_can_be_a_tag(text: str):
    version = parse_version(text)
    assert version is None or version.numbers
    find_tag(text, PLAIN)


def facts(
    worked: str = "", broken: str = "", version: str = "", *, told: str = QUOTE.text, regression: bool = True
) -> IssueFacts:
    quote = Quote(text=told, start=0, end=1)
    return IssueFacts(
        version=Quote(text=version, start=0, end=1) if version else None,
        regression=Regression(worked_in=worked, broken_in=broken, quote=quote) if regression else None,
    )


@each_row(
    ("given_facts", "expected"),
    [
        (facts("1.9.1", "2.0"), ("v1.9.1", "v2.0.0")),
        (facts("1.9.x", "1.10"), ("v1.9.1", "v1.10.0")),
        (facts("", "2.0"), ("v1.10.0", "v2.0.0")),
        (facts("", "", "ledger 2.0"), None),
        (facts("", "", "ledger 2.0", told="It broke after the update."), ("v1.10.0", "v2.0.0")),
        (facts("1.9.1", "", "1.10.0"), ("v1.9.1", "v1.10.0")),
        (facts("1.9.1"), ("v1.9.1", "HEAD")),
        (facts("abcdef1", "2.0"), ("abcdef1", "v2.0.0")),
        (facts("fffffff", "2.0"), None),
        (facts("1.9.1", "2.7"), None),
        (facts("0.1", "2.0"), None),
        (facts("2.0", "2.0.0"), None),
        (facts(), None),
        (facts(regression=False), None),
    ],
)
def test_the_versions_of_a_regression(given_facts: IssueFacts, expected: tuple[str, str] | None):
    chosen = choose_versions(given_facts, PLAIN, "e" * 40, lambda text: "a" * 40 if text == "abcdef1" else None)
    assert (chosen and tuple(tag.name for tag in chosen)) == expected


def test_a_word_is_no_commit():
    assert resolve_version("defaced", PLAIN, lambda _: "a" * 40) is None
    assert resolve_version("feedback", PLAIN, lambda _: "a" * 40) is None


@pytest.mark.parametrize("written", ["deadbee3", "1.1.0-2-gdeadbee3", "1.1.0-dev.4+deadbee3"])
def test_a_commit_is_no_version(written: str):
    among = tags("v3.0", "v2.0")
    assert resolve_version(written, among, lambda _: None) is None
    assert resolve_version(written, among, lambda text: "a" * 40) == Tag(name="deadbee3", commit="a" * 40)
    assert choose_versions(facts("", written), among, "e" * 40, lambda _: "a" * 40) is None


@pytest.mark.parametrize("written", ["2024-05-01", "2.0-M1", "1.1-3ubuntu2", "0.9-SNAPSHOT-3", "other@3.0"])
def test_the_last_number_alone_is_no_version(written: str):
    assert find_tag(written, tags("v1.0", "v2.0", "v3.0", "core@3.0")) is None


@pytest.mark.parametrize(
    ("names", "like", "expected"),
    [
        (("nightly", "v2.0-rc1", "core@2.0", "v2.0", "v2.1"), "v1.0", "v2.0"),
        (("nightly", "core@2.0"), "core@1.0", "core@2.0"),
        (("nightly",), "v1.0", None),
        ((), "abcdef1", None),
    ],
)
def test_the_first_release_of_the_same_package(names: tuple[str, ...], like: str, expected: str | None):
    assert find_release(tags(*names), Tag(name=like, commit="a" * 40)) == expected


def test_a_release_is_later_than_its_own_pre_release():
    for like, expected in (("v2.0.0rc1", "v2.0.0"), ("v2.0.0", "v2.0.1")):
        assert find_release(tags("v2.0.0", "v2.0.1"), Tag(name=like, commit="a" * 40), is_later=True) == expected
