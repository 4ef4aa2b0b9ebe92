"""Answers of a package registry that lies, is broken, or does not end, and what a client may make of them."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from testing.servers.endless_body import EndlessBody
from testing.servers.http_server import QuietHandler, serve_http
from triage.base.errors import TriageError
from triage.reproduce.environments.package_index import MAX_BYTES, list_releases
from triage.reproduce.example.example import Project

MAX_SECONDS = 30.0
_TIME = "2022-01-01T00:00:00Z"
_TAGS = ".".join(f"t{number}" for number in range(1_000))


def _file(filename: Any = "shop-1.0-py3-none-any.whl", upload_time: Any = _TIME, **more: Any) -> str:
    return json.dumps({"files": [{"filename": filename, "upload-time": upload_time, **more}]})


def _package(version: str, released: Any = _TIME) -> str:
    return json.dumps({"versions": {version: {}}, "time": {version: released}})


_ODD: list[Any] = [7, None, 1e300, [], {}, "", "why"]
_VERSIONS = ["9" * 5_000, "\u0661.0.0", "1.0+x;y", "1!2", "`x`", "@a", "1.0.0\n", "../../x", "1.0.0; id", "-1.0.0", ""]
_TIMES = [*_ODD, "9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+23:00"]
_BROKEN = [
    "",
    "<html>",
    "null",
    "[]",
    "7",
    '"x"',
    "{}",
    "\0",
    '{"files": [',
    "[" * 100_000,
    '{"a":' * 100_000,
    "9" * 5_000,
]
_PYPI = [
    *('{"files": null}', '{"files": {"filename": 1}}', '{"files": [null]}', '{"files": [[]]}', '{"files": [{}]}'),
    *(_file(name) for name in [*_ODD, "../shop-1.0-py3-none-any.whl", f"shop-1.0-{_TAGS}-{_TAGS}-any.whl"]),
    *(_file(f"shop-{version}-py3-none-any.whl") for version in _VERSIONS),
    *(_file(upload_time=when) for when in _TIMES),
    *(_file(**{"requires-python": what}) for what in [*_ODD, ">=3," * 100_000, "<" * 5_000, "\u0000"]),
    *(_file(yanked=what) for what in _ODD),
    _file("shop-1.0-cp3\u0663-abi3-any.whl"),
    json.dumps({"files": [{"filename": f"shop-1.{number}-py3-none-any.whl"} for number in range(20_000)]}),
]
_NPM = [
    *('{"versions": [], "time": null}', '{"versions": {"1.0.0": {}}, "time": []}', '{"versions": {"1.0.0": {}}}'),
    *(_package(version) for version in _VERSIONS),
    *(_package("1.0.0", when) for when in _TIMES),
]
ANSWERS: list[tuple[str, str]] = [
    *(("python", answer) for answer in [*_BROKEN, *_PYPI]),
    *(("node", answer) for answer in [*_BROKEN, *_NPM]),
]


@dataclass
class Registry:
    """Gives one answer to every question."""

    url: str = ""
    answer: str | EndlessBody = ""
    status: int = 200
    asked: list[str] = field(default_factory=list)
    """The paths of the questions."""

    def list_versions(self, language: str = "python", package: str = "shop") -> list[str]:
        """Return what the client takes for releases. Raises TriageError."""
        variables = {"UV_DEFAULT_INDEX": self.url, "npm_config_registry": self.url}
        project = Project.model_validate({"language": language, "package": package})
        return [release.version for release in list_releases(project, variables)]

    def find_problems(self, language: str, answer: str | EndlessBody) -> list[str]:
        """Return what is not as expected: plain numbers of releases, or a sentence, and soon."""
        self.answer, began = answer, time.monotonic()
        try:
            odd = [one for one in self.list_versions(language) if not re.fullmatch(r"[0-9.]{1,50}(?:post[0-9]+)?", one)]
            problems = [f"takes {one[:40]!r} for a release" for one in odd]
        except TriageError as error:
            problems = [] if str(error).startswith("The package registry") else [f"says {error}"]
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody has caught it
            problems = [f"ended with {type(error).__name__}"]
        if (seconds := time.monotonic() - began) > MAX_SECONDS:
            problems.append(f"took {seconds:.0f} s")
        if isinstance(answer, EndlessBody) and answer.sent_bytes > 2 * MAX_BYTES:
            problems.append(f"read {answer.sent_bytes} bytes")
        return problems


@contextmanager
def serve_registry() -> Iterator[Registry]:
    registry = Registry()

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            registry.asked.append(self.path)
            if isinstance(registry.answer, EndlessBody):
                registry.answer.send(self)
                return
            self.send_response(registry.status)
            self.end_headers()
            self.wfile.write(registry.answer.encode())

    with serve_http(Handler) as registry.url:
        yield registry
