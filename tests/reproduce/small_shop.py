"""A small project with releases, tags and a registry, whose versions really are built and installed."""

import base64
import hashlib
import io
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from testing.checkouts.git_repositories import commit, git
from testing.servers.http_server import QuietHandler, serve_http

PYTHON = f"=={sys.version_info[0]}.{sys.version_info[1]}.*"
BACKEND = """
import os, re, sys
sys.path.insert(0, os.path.dirname(__file__))
from wheels import write_wheel
def build_wheel(folder, settings=None, metadata=None):
    files = {"shop/" + name: open(os.path.join("shop", name)).read() for name in os.listdir("shop")}
    data, name = write_wheel("shop", "9.9", files), "shop-9.9-py3-none-any.whl"
    open(os.path.join(folder, name), "wb").write(data)
    return name
"""
PYPROJECT = f'[project]\nname = "shop"\nversion = "9.9"\nrequires-python = "{PYTHON}"\n[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
GOOD = "def total(items):\n    return sum(items)\n"
BAD = "def total(items):\n    if not items:\n        raise ValueError('no items')\n    return sum(items)\n"
ISSUE = '# total() fails\n\nSince an update, shop 1.4 fails:\n\n```python\nimport shop\nshop.total([])\n```\n\n```\nTraceback (most recent call last):\n  File "a.py", line 2, in <module>\n    shop.total([])\n  File "shop/__init__.py", line 3, in total\n    raise ValueError(\'no items\')\nValueError: no items\n```\n'


def write_wheel(name: str, version: str, files: Mapping[str, str]) -> bytes:
    info = f"{name}-{version}.dist-info"
    contents = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    digests = {
        path: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        for path, text in contents.items()
    }
    rows = [f"{path},sha256={digest},{len(contents[path].encode())}" for path, digest in digests.items()]
    contents[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as archive:
            for path, text in contents.items():
                archive.writestr(path, text)
        return file.getvalue()


def make_repository(folder: Path, versions: Mapping[str, str]) -> Path:
    """Commit each version's `shop/__init__.py` with a tag, and a change that is only words before each."""
    folder.mkdir()
    tools = {
        "backend.py": BACKEND,
        "wheels.py": Path(__file__)
        .read_text()
        .split("def make_repository")[0]
        .replace("from testing", "# from testing"),
        "pyproject.toml": PYPROJECT,
    }
    for version, code in versions.items():
        commit(folder, {**tools, "README.md": f"Before {version}\n"})
        commit(folder, {"shop/__init__.py": code})
        git(folder, "tag", f"v{version}")
    return folder


@contextmanager
def serve_packages(versions: Mapping[str, str]) -> Iterator[str]:
    """Yield the URL of an index with a wheel of each version, and of the build tools that every environment gets."""
    wheels = {
        f"shop-{version}-py3-none-any.whl": write_wheel("shop", version, {"shop/__init__.py": code})
        for version, code in versions.items()
    }
    for tool in ("setuptools", "pip", "wheel"):
        wheels[f"{tool}-58.0-py3-none-any.whl"] = write_wheel(tool, "58.0", {f"{tool}/__init__.py": ""})

    class Index(QuietHandler):
        def do_HEAD(self) -> None:
            self.send_answer()

        def do_GET(self) -> None:
            self.wfile.write(self.send_answer())

        def send_answer(self) -> bytes:
            folder, name = self.path.strip("/").split("/")
            body, kind = self.answer(folder, name)
            self.send_response(200 if body else 404)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            return body

        def answer(self, folder: str, name: str) -> tuple[bytes, str]:
            if folder == "files":
                return wheels.get(name, b""), "application/octet-stream"
            found = [
                {
                    "filename": wheel,
                    "url": f"/files/{wheel}",
                    "hashes": {"sha256": hashlib.sha256(data).hexdigest()},
                    "requires-python": PYTHON,
                    "upload-time": "2023-12-01T00:00:00Z",
                    "yanked": False,
                }
                for wheel, data in wheels.items()
                if wheel.startswith(f"{name}-")
            ]
            document = {"meta": {"api-version": "1.1"}, "name": name, "files": found, "versions": []}
            return json.dumps(document).encode() if found else b"", "application/vnd.pypi.simple.v1+json"

    handler: type[BaseHTTPRequestHandler] = Index
    with serve_http(handler) as url:
        yield f"{url}/simple"


def variables(url: str, folder: Path) -> dict[str, str]:
    # uv starts each Python of the path to ask for its version, and one that pyenv stands in for each time again.
    ours = (str(Path(sys.executable).parent), f"{sys.base_prefix}/bin", str(Path(shutil.which("git") or "").parent))
    return {
        "UV_DEFAULT_INDEX": url,
        "UV_CACHE_DIR": str(folder / "cache"),
        "UV_PYTHON_DOWNLOADS": "never",
        "PATH": os.pathsep.join([*ours, "/usr/bin", "/bin"]),
        "HOME": str(folder),
    }
