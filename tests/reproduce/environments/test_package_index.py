"""Releases from a registry on loopback."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from testing.each_row import each_row
from testing.faults.registry_faults import ANSWERS, Registry, serve_registry
from testing.servers.endless_body import EndlessBody
from triage.base.errors import TriageError
from triage.reproduce.environments.package_index import NpmPackage, PypiIndex, read_npm_releases, read_pypi_releases
from triage.reproduce.environments.releases import PYTHONS, Release

PYPI = {"files": [{"filename": "my_shop-1.0-py3-none-any.whl", "upload-time": "2022-01-01T00:00:00Z"}]}
NPM = {"versions": {"1.0.0": {}}, "time": {"1.0.0": "2022-01-01T00:00:00Z"}}


@pytest.fixture(scope="module")
def registry() -> Iterator[Registry]:
    with serve_registry() as served:
        yield served


def test_releases_of_both_languages(registry: Registry) -> None:
    registry.answer = json.dumps(PYPI)
    assert registry.list_versions("python", "My_Shop") == ["1.0"]
    registry.answer = json.dumps(NPM)
    assert registry.list_versions("node", "@acme/shop") == ["1.0.0"]
    assert registry.asked == ["/my-shop/", "/@acme%2Fshop"]


@pytest.mark.parametrize(("status", "said"), [(403, "cannot be used"), (500, "cannot be used"), (404, "")])
def test_a_registry_that_refuses_is_named(status: int, said: str) -> None:
    with serve_registry() as refusing:
        refusing.status = status
        if not said:
            assert refusing.list_versions() == []
            return
        with pytest.raises(TriageError, match=said):
            refusing.list_versions()


def test_a_registry_that_lies_costs_a_sentence(registry: Registry) -> None:
    answers: list[tuple[str, str | EndlessBody]] = [*ANSWERS, ("python", EndlessBody())]
    assert {answer: problems for answer in answers if (problems := registry.find_problems(*answer))} == {}


def test_a_registry_that_does_not_answer_is_named() -> None:
    with pytest.raises(TriageError, match="does not answer"):
        Registry("http://127.0.0.1:9").list_versions()


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
        ([file("s-1.0.zip", **{"requires-python": ">=3.13"})], ["3.13", "3.14"]),
        ([file("s-1.0-cp38-cp38-win32.whl"), file("s-1.0.tar.gz")], ["3.8"]),
        ([file("s-1.0-cp313-abi3-macosx_10_9_x86_64.whl")], ["3.13", "3.14"]),
        ([file("s-1.0-py2.py3-none-any.whl", **{"requires-python": "nonsense"})], [*PYTHONS]),
    ],
)
def test_a_release_runs_on_the_pythons_of_its_wheels_or_without_any_on_those_that_it_allows(files, pythons):
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
