from datetime import UTC, datetime

from testing.each_row import each_row
from triage.reproduce.environments.releases import (
    Release,
    find_release,
    find_release_before,
    list_mainline,
    normalize_version,
    order_pythons,
)


@each_row(
    ("year", "supported", "preferred", "first"),
    [
        (2022, ["3.8", "3.9", "3.10", "3.11"], "", "3.9"),  # 3.10 had few wheels yet in January 2022
        (2022, ["3.8", "3.9"], "3.8", "3.8"),
        (2022, ["3.9", "3.12"], "3.12", "3.9"),
        (2022, ["3.12", "3.13"], "", "3.12"),
    ],
)
def test_the_python_is_of_the_time_of_the_packages(year, supported, preferred, first):
    ordered = order_pythons(datetime(year, 1, 5, tzinfo=UTC), supported, preferred)
    assert ordered[0] == first
    assert sorted(ordered) == sorted(supported)


NOW = datetime(2022, 1, 1, tzinfo=UTC)
KNOWN = [Release(version=version, time=NOW, commit="b") for version in ("1.0", "2.4.0", "2.4.1", "3.0a2", "10.0")]


@each_row(
    ("written", "version"),
    [
        ("2.4.1", "2.4.1"),
        ("v2.4", "2.4.0"),
        ("2.4.1.0", "2.4.1"),
        ("shop 2.4.1 on Python 3.9", "2.4.1"),
        ("1", "1.0"),
        ("3.0-alpha.2", "3.0a2"),
        ("2.4.1rc1", None),
        ("2.5", None),
        (f"1.{'1' * 5_000}", None),
        ("main", None),
    ],
)
def test_a_release_is_found_by_what_people_write(written, version):
    found = find_release(KNOWN, written)
    assert (found and found.version) == version


@each_row(
    ("written", "version"),
    [("2.5", "2.4.1"), ("2.4.1rc1", "2.4.0"), ("10.15.7", "10.0"), ("0.9", None), ("main", None)],
)
def test_what_has_no_tag_came_after_a_release(written, version):
    found = find_release_before(KNOWN, written)
    assert (found and found.version) == version


@each_row(
    ("tag", "version"),
    [
        ("v2.4.0", "2.4.0"),
        ("release-2.4", "2.4"),
        ("sympy-1.5.post1", "1.5.post1"),
        ("2.3.0-final", "2.3.0"),
        ("2.1.Final", "2.1"),
        ("release_2_3", "2.3"),
        ("@acme/pkg@2.3.0", "2.3.0"),
        ("pkg.3.1.1", "3.1.1"),
        ("v.1.3.1", "1.3.1"),
        ("v2.4.0rc1", "2.4.0rc1"),
        ("v1.0.0-rc.3", "1.0.0rc3"),
        ("v2.0.0-beta.1", "2.0.0b1"),
        ("v2.0.0-preview.1", "2.0.0rc1"),
        (f"v1.{'1' * 5_000}", ""),
        ("2.0.0-beta.1.2", ""),
        ("nightly", ""),
        ("v2", ""),
    ],
)
def test_a_tag_names_a_version(tag, version):
    assert normalize_version(tag) == version


def test_a_late_release_of_an_old_line_is_no_step_of_a_search():
    times = {"1.0": 1, "1.1": 2, "1.2": 9, "1.3": 8, "2.0rc1": 3, "2.0": 3, "2.1": 4}
    releases = [Release(version=version, time=NOW.replace(day=day), commit="b") for version, day in times.items()]
    assert [one.version for one in list_mainline(releases, "2.1")] == ["1.0", "1.1", "2.0", "2.1"]
    assert [one.version for one in list_mainline(releases, "1.2")] == ["1.0", "1.1", "1.2", "2.0", "2.1"]
    assert [one.version for one in list_mainline(releases, "2.0rc1")] == ["1.0", "1.1", "2.0rc1", "2.0", "2.1"]
