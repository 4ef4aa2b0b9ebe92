"""Hostile examples, and the tests of a patch, in real containers: what they reach, and how they end.

Needs Docker with buildx, and network or the images below. Marked `container`, and left out unless asked for.
"""

import os
import shutil
import subprocess
from datetime import UTC, datetime

import pytest

from testing.checkouts.git_repositories import commit
from testing.runs.verify_job import STEPS, run_verify
from triage.reproduce.environments.docker import DockerEnvironments
from triage.reproduce.environments.source import Source
from triage.reproduce.evidence import Target
from triage.reproduce.example.example import Example, Project

pytestmark = [
    pytest.mark.container,
    pytest.mark.skipif(not shutil.which("docker"), reason="containers of examples need Docker"),
]
FILES = {
    "python": {
        "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n[tool.setuptools]\npackages = ["shop"]\n',
        "shop/__init__.py": "def total(items):\n    return sum(items)\n",
    },
    "node": {
        "package.json": '{"name": "shop", "main": "index.js"}',
        "index.js": "exports.total = (items) => items.reduce((a, b) => a + b, 0);\n",
    },
}
BEGIN = {
    "python": "import os, shop, socket\nprint(shop.total([1]), flush=True)\n",
    "node": "const fs = require('fs'), shop = require('shop');\nconsole.log(shop.total([1]));\n",
}
CLOSED = [
    *("/x", "/etc/x", "/reproduce/x", "/reproduce/runner/x", "/proc/1/fd/1", "/proc/1/environ", "/proc/1/mem"),
    *("/var/run/docker.sock", "/proc/sys/kernel/core_pattern", "/sys/fs/cgroup/pids.max", "/etc/passwd"),
]
LATE, ENDED = "it did not end within its time limit", "the runner was ended"
ATTACKS = [
    ("python", "for place in [('1.1.1.1', 53), ('169.254.169.254', 80), ('github.com', 443)]:\n    try: socket.create_connection(place, 3); print('reached')\n    except OSError: pass\n", "passed", ""),
    ("python", f"for path in {CLOSED}:\n    try: open(path, 'a').write('x'); print('reached')\n    except OSError: pass\n", "passed", ""),
    ("python", "for one in range(1, 32): os.kill(1, one)\n", "passed", ""),
    ("python", "while True:\n    try:\n        if not os.fork(): os.setsid()\n    except OSError: pass\n", "timed-out", LATE),
    ("python", "x = []\nwhile True: x.append(b'x' * 10**7)\n", "could-not-run", ENDED),
    ("python", "with open('/tmp/f', 'wb') as file:\n    while True: file.write(b'x' * 10**6)\n", "failed", ""),
    ("python", "os._exit(0)\n", "could-not-run", "it ended itself with code 0"),
    ("node", f"for (const path of {CLOSED}) try {{ fs.appendFileSync(path, 'x'); console.log('reached'); }} catch {{}}\n", "passed", ""),
    ("node", "for (const one of [1, 2, 3, 9, 10, 13, 15, 19]) process.kill(1, one);\n", "passed", ""),
    ("node", "for (;;) try { require('child_process').spawn('sleep', ['99'], { detached: true }); } catch {}\n", "timed-out", LATE),
    ("node", "const x = [];\nfor (;;) x.push(Buffer.alloc(1e7, 1));\n", "could-not-run", ENDED),
    ("node", "for (const one of fs.readdirSync('/tmp')) require('child_process').execFileSync('mkfifo', [`/tmp/${one}/x.json`]);\n", "could-not-run", "it ended itself with code 0"),
]  # fmt: skip
"""By language what an example does, how it ends, and why that says nothing. What it reaches, it says."""


@pytest.mark.parametrize("language", FILES)
def test_an_example_reaches_nothing_and_ends_as_what_it_was(language, tmp_path):
    pythons = ["3.12"] if language == "python" else []
    target = Target(on="main", commit=commit(tmp_path, FILES[language]), time=datetime.now(UTC), pythons=pythons)
    project = Project(language=language, package="shop", modules=["shop"])
    with DockerEnvironments(Source(tmp_path), os.environ) as environments:
        built = environments.build(target, project)
        for code, outcome, reason in (one[1:] for one in ATTACKS if one[0] == language):
            found = built.run(Example(language=language, code=BEGIN[language] + code), project, 20.0)
            assert (found.outcome, found.reason) == (outcome, reason), (code, found)
            assert "reached" not in found.output, (code, found.output)
    names = ["docker", "ps", "--all", "--quiet", "--filter", "name=triage-reproduce"]
    assert subprocess.run(names, capture_output=True, check=True).stdout == b""


PATCHES = {
    "python:3.12-slim\nRUN pip install pytest": (
        "python -m pytest -q --junit-xml=/tmp/reports/tests.xml",
        {"shop.py": "def total(x): return sum(x) / len(x)\n", "test_old.py": "def test_old(): pass\n"},
        {"test_shop.py": "import shop\n\n\ndef test_none():\n    assert shop.total([]) == 0\n"},
        {"shop.py": "def total(x): return sum(x)\n"},
    ),
    "node:22-slim": (
        "node --test --test-reporter=junit --test-reporter-destination=/tmp/reports/tests.xml",
        {"index.js": "exports.total = (x) => x.reduce((a, b) => a + b);\n", "old.test.js": ""},
        {"shop.test.js": "require('node:test')('none', () => { if (require('./index.js').total([])) throw 1; });\n"},
        {"index.js": "exports.total = (x) => x.reduce((a, b) => a + b, 0);\n"},
    ),
}
"""By image the command, the files of the base commit, the new test, and the fix."""


@pytest.mark.parametrize("image", PATCHES)
def test_the_tests_of_a_patch_prove_it(tmp_path, image):
    command, base, test, fix = PATCHES[image]
    for side, files in (("base", base), ("test-only", {**base, **test}), ("after", {**base, **test, **fix})):
        (tmp_path / side).mkdir()
        for name, text in files.items():
            (tmp_path / side / name).write_text(text)
    (install,) = (step["run"] for step in STEPS if "docker build" in step.get("run", ""))
    environ = {**os.environ, "DOCKERFILE": f"FROM {image}\nWORKDIR /project\nCOPY . .\n"}
    subprocess.run(["bash", "-e", "-c", install], cwd=tmp_path, env=environ, check=True, capture_output=True)
    real = f'#!/bin/sh\nexec {shutil.which("docker")} "$@"\n'
    engine = {name: value for name, value in os.environ.items() if name.startswith("DOCKER_")}
    assert run_verify(tmp_path, real, TEST_COMMAND=command, **engine)[0] == "tests=proved"
