"""Releases from a registry on loopback."""

import json
from collections.abc import Iterator

import pytest

from testing.faults.registry_faults import ANSWERS, Registry, serve_registry
from testing.servers.endless_body import EndlessBody
from triage.base.errors import TriageError

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
    answers = [*ANSWERS, ("python", EndlessBody())]
    assert {answer: problems for answer in answers if (problems := registry.find_problems(*answer))} == {}


def test_a_registry_that_does_not_answer_is_named() -> None:
    with pytest.raises(TriageError, match="does not answer"):
        Registry("http://127.0.0.1:9").list_versions()
