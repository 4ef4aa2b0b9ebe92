"""Releases from a registry on loopback."""

import json
from http.server import BaseHTTPRequestHandler

import pytest

from testing.servers.http_server import QuietHandler, serve_http
from triage.base.errors import TriageError
from triage.base.network import DIRECT
from triage.reproduce.environments.package_index import list_releases
from triage.reproduce.example.example import Project

PYPI = {"files": [{"filename": "my_shop-1.0-py3-none-any.whl", "upload-time": "2022-01-01T00:00:00Z"}]}
NPM = {"versions": {"1.0.0": {}}, "time": {"1.0.0": "2022-01-01T00:00:00Z"}}
ANSWERS: dict[str, tuple[int, str]] = {
    "/my-shop/": (200, json.dumps(PYPI)),
    "/@acme%2Fshop": (200, json.dumps(NPM)),
    "/broken/": (200, "<html>"),
    "/closed/": (403, "{}"),
    "/list/": (200, "[]"),
    "/shape/": (200, '{"files": {"filename": 1}}'),
    "/file/": (200, '{"files": [{"filename": 7}]}'),
    "/deep/": (200, "[" * 100_000),
    "/deep": (200, '{"versions": [], "time": null}'),
}


class Registry(QuietHandler):
    def do_GET(self) -> None:
        status, body = ANSWERS.get(self.path, (404, ""))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body.encode())


@pytest.fixture(scope="module")
def url():
    handler: type[BaseHTTPRequestHandler] = Registry
    with serve_http(handler) as address:
        yield address


def ask(url: str, package: str, language: str = "python") -> list[str]:
    project = Project.model_validate({"language": language, "package": package})
    variables = {"UV_DEFAULT_INDEX": url, "npm_config_registry": url}
    return [release.version for release in list_releases(project, DIRECT, variables)]


def test_releases_of_both_languages(url):
    assert ask(url, "My_Shop") == ["1.0"]
    assert ask(url, "@acme/shop", "node") == ["1.0.0"]
    assert ask(url, "unknown") == []


@pytest.mark.parametrize("package", ["broken", "closed", "list", "shape", "file", "deep"])
def test_an_answer_that_is_none_is_named(url, package):
    with pytest.raises(TriageError, match="cannot be used"):
        ask(url, package)


def test_an_answer_of_npm_that_is_none_is_named(url):
    with pytest.raises(TriageError, match="cannot be used"):
        ask(url, "deep", "node")


def test_a_registry_that_does_not_answer_is_named():
    with pytest.raises(TriageError, match="does not answer"):
        ask("http://127.0.0.1:9", "shop")
