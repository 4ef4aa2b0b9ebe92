from datetime import UTC, datetime

from testing.each_row import each_row
from triage.reproduce.environments.releases import (
    PYTHONS,
    NpmPackage,
    PypiIndex,
    Release,
    Tag,
    find_release,
    list_mainline,
    merge_tags,
    normalize_version,
    order_pythons,
    read_npm_releases,
    read_pypi_releases,
)


def file(name: str, time: str = "2022-03-01T10:00:00Z", **more: object) -> dict[str, object]:
    return {"filename": name, "upload-time": time, "requires-python": None, "yanked": False, **more}


def versions(*files: dict[str, object]) -> list[Release]:
    return read_pypi_releases(PypiIndex.model_validate({"files": files}))


def test_releases_are_in_the_order_of_their_numbers():
    found = versions(file("shop-1.10-py3-none-any.whl"), file("shop-1.9-py3-none-any.whl"))
    assert [release.version for release in found] == ["1.9", "1.10"]


@each_row(
    "left_out",
    [
        file("shop-1.0.tar.gz"),
        file("shop-1.0rc1-py3-none-any.whl"),
        file("shop-1.0-py3-none-any.whl", yanked="broken"),
        file("shop-1.0-py3-none-any.whl", time="yesterday"),
        file("what is this"),
    ],
)
def test_what_cannot_be_installed_is_no_release(left_out):
    assert versions(left_out) == []


@each_row(
    ("files", "pythons"),
    [
        ([file("s-1.0-py3-none-any.whl", **{"requires-python": ">=3.9,<3.11"})], ["3.9", "3.10"]),
        ([file("s-1.0-cp38-cp38-manylinux1_x86_64.whl"), file("s-1.0-2b-cp39-cp39-win32.whl")], ["3.8", "3.9"]),
        ([file("s-1.0-cp313-abi3-macosx_10_9_x86_64.whl")], ["3.13", "3.14"]),
        ([file("s-1.0-py2.py3-none-any.whl", **{"requires-python": "nonsense"})], [*PYTHONS]),
    ],
)
def test_a_release_runs_on_the_pythons_of_its_wheels(files, pythons):
    (found,) = versions(*files)
    assert found.pythons == pythons


def test_a_wheel_of_a_later_python_does_not_make_the_release_younger():
    (found,) = versions(
        file("s-1.0-cp38-cp38-win32.whl", "2021-01-01T00:00:00Z"),
        file("s-1.0-cp38-cp38-linux_x86_64.whl", "2021-01-03T00:00:00Z"),
        file("s-1.0-cp312-cp312-win32.whl", "2023-11-01T00:00:00Z"),
    )
    assert found.time == datetime(2021, 1, 3, tzinfo=UTC)


def test_releases_of_npm():
    document = {
        "versions": {"1.10.0": {}, "1.9.0": {}, "2.0.0-beta.1": {}, "3.0.0": {}},
        "time": {"1.10.0": "2022-01-02T00:00:00.000Z", "1.9.0": "2021-01-02T00:00:00.000Z", "created": "x"},
    }
    found = read_npm_releases(NpmPackage.model_validate(document))
    assert [release.version for release in found] == ["1.9.0", "1.10.0"]


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
KNOWN = [Release(version=version, time=NOW) for version in ("1.0", "2.4.0", "2.4.1", "10.0")]


@each_row(
    ("written", "version"),
    [
        ("2.4.1", "2.4.1"),
        ("v2.4", "2.4.0"),
        ("2.4.1.0", "2.4.1"),
        ("shop 2.4.1 on Python 3.9", "2.4.1"),
        ("1", "1.0"),
        ("2.5", None),
        ("main", None),
    ],
)
def test_a_release_is_found_by_what_people_write(written, version):
    found = find_release(KNOWN, written)
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
        ("v2.4.0rc1", ""),
        ("2.0.0-beta.1.2", ""),
        ("nightly", ""),
        ("v2", ""),
    ],
)
def test_a_tag_names_a_version(tag, version):
    assert normalize_version(tag) == version


def test_a_late_release_of_an_old_line_is_no_step_of_a_search():
    times = {"1.0": 1, "1.1": 2, "1.2": 9, "1.3": 8, "2.0": 3, "2.1": 4}
    releases = [Release(version=version, time=NOW.replace(day=day)) for version, day in times.items()]
    assert [one.version for one in list_mainline(releases, "2.1")] == ["1.0", "1.1", "2.0", "2.1"]
    assert [one.version for one in list_mainline(releases, "1.2")] == ["1.0", "1.1", "1.2", "2.0", "2.1"]


def test_a_tag_without_a_wheel_is_a_release_too():
    merged = merge_tags(KNOWN, {"2.4": Tag("a", NOW), "2.4.2": Tag("b", NOW)})
    assert [(release.version, release.commit) for release in merged] == [
        ("1.0", ""), ("2.4.0", ""), ("2.4.1", ""), ("2.4.2", "b"), ("10.0", ""),
    ]  # fmt: skip
