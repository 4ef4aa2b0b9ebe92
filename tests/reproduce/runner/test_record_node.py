"""The recorder for Node, as a process."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import triage.reproduce.runner
from testing.checkouts.git_repositories import write
from triage.reproduce.runner.read_record import read_record

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")

RECORDER = Path(triage.reproduce.runner.__path__[0]) / "record_node.cjs"
SHOP = {
    "node_modules/@acme/shop/package.json": '{"name": "@acme/shop", "main": "lib/cart.js"}',
    "node_modules/@acme/shop/lib/cart.js": (
        "function register(f) { return f; }\n"
        "function add(items) {\n  if (!items.length) throw new RangeError('no items');\n  return items.length;\n}\n"
        "exports.total = register(function total(items) { return add(items); });\n"
    ),
}


def record(folder: Path, code: str, seconds: float = 20) -> Any:
    command = ["node", str(RECORDER), str(seconds), str(write(folder, SHOP)), "@acme/shop"]
    done = subprocess.run(command, input=code.encode(), capture_output=True, timeout=60, check=False)
    assert done.stderr == b""
    json.loads(done.stdout)
    return read_record(done.stdout)


def test_nothing_of_a_run_stays_on_the_machine(tmp_path, monkeypatch):
    own = tmp_path / "tmp"
    own.mkdir()
    monkeypatch.setenv("TMPDIR", str(own))
    assert record(tmp_path, "require('@acme/shop').total([1]);\n").executed
    assert not [*own.iterdir()]


def test_a_folder_that_cannot_be_removed_does_not_lose_the_record(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    code = """\
require('@acme/shop');
process.chdir(process.env.NODE_V8_COVERAGE);
for (let depth = 0; depth < 30; depth++) {
  require('fs').mkdirSync('a'.repeat(200));
  process.chdir('a'.repeat(200));
}
console.log('deep');
"""
    assert record(tmp_path, code).output == "deep\n"


def test_what_is_written_for_people_is_output(tmp_path):
    assert record(tmp_path, "console.error('a');\nconsole.log('b');\nconsole.warn('c');\n").output == "a\nb\nc\n"


@pytest.mark.parametrize(
    "code",
    [
        "const { total } = require('@acme/shop');\nconsole.log('start');\ntotal([]);\n",
        "import { total } from '@acme/shop';\nconsole.log('start');\nawait total([]);\n",
    ],
)
def test_an_error_is_recorded_with_its_frames_and_what_ran(tmp_path, code):
    found = record(tmp_path, code)
    (failure,) = found.failures
    assert (found.outcome, failure.text, found.output) == ("failed", "RangeError: no items", "start\n")
    assert [(frame.path, frame.line, frame.function) for frame in failure.frames[-2:]] == [
        ("lib/cart.js", 6, "total"),
        ("lib/cart.js", 3, "add"),
    ]
    assert [(place.path, place.function) for place in found.executed] == [
        ("lib/cart.js", "add"),
        ("lib/cart.js", "total"),
    ]
    assert found.runtime.startswith("Node.js ")


def test_a_module_that_is_missing_is_named(tmp_path):
    (failure,) = record(tmp_path, "require('@acme/shop'); require('left-pad');").failures
    assert "MODULE_NOT_FOUND" in failure.causes


def test_one_that_takes_all_memory_says_so(tmp_path):
    code = "require('@acme/shop');\nrequire('v8').setFlagsFromString('--max-old-space-size=20');\n"
    (failure,) = record(tmp_path, f"{code}const all = []; for (;;) all.push(new Array(1e5).fill(all.length));").failures
    assert failure.text == "SIGABRT: out of memory"
    written = "require('@acme/shop'); process.stderr.write('JavaScript heap out of memory');"
    assert record(tmp_path, written).outcome == "passed"


def test_a_late_example_is_ended(tmp_path):
    assert record(tmp_path, "require('@acme/shop'); for (;;);", seconds=1).outcome == "timed-out"


def test_the_example_cannot_open_the_inspector_of_its_recorder(tmp_path):
    code = (
        "require('@acme/shop');\nprocess.kill(process.ppid, 'SIGUSR1');\n"
        "setTimeout(() => require('net').connect(9229, '127.0.0.1')\n"
        "  .on('connect', () => { console.log('open'); process.exit(); })\n"
        "  .on('error', () => console.log('closed')), 500);\n"
    )
    assert record(tmp_path, code).output == "closed\n"
