"""What a maintainer wants to read of six kinds of reports: real texts, shortened, on small repositories of their shape."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit, git
from testing.fakes import fake_services
from triage.domain.effect import Policy
from triage.domain.issue import Issue, Repository
from triage.find.codebase import Codebase
from triage.graph.run_graph import run_graph
from triage.say.comment import preview_comment

WORDS = [
    "apple",
    "river",
    "stone",
    "cloud",
    "maple",
    "ember",
    "north",
    "delta",
    "lilac",
    "cedar",
    "amber",
    "coral",
    "flint",
    "grove",
    "heron",
    "inlet",
]
FILLING = {
    f"lib/{word}.{ending}": text.format(word=word)
    for ending, text in (
        ("py", "def count_{word}(rows):\n    return len(rows)\n"),
        ("js", "export function sum{word}(rows) {{\n  return rows.length;\n}}\n"),
    )
    for word in WORDS
}
"""In a repository of three files every file is likely."""


@dataclass
class Case:
    title: str
    body: str
    files: dict[str, str]
    later: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Commits: subject, and what each changes; a subject that begins with `tag ` tags the commit before it."""
    labels: list[str] = field(default_factory=list)


UTILS = """'use strict';

const toString = Object.prototype.toString;

/**
 * Determine if a value is a FormData
 */
function isFormData(thing) {
  const pattern = '[object FormData]';
  return thing && (toString.call(thing) === pattern ||
    (isFunction(thing.toString) && thing.toString() === pattern));
}

function isFunction(thing) {
  return typeof thing === 'function';
}

export default { isFormData, isFunction };
"""
DEFAULTS = """import utils from './utils.js';

function transformRequest(data, headers) {
  const contentType = headers.getContentType() || '';
  const isFormData = utils.isFormData(data);
  return isFormData ? data : JSON.stringify(data);
}

export default { transformRequest };
"""
TRACE = Case(
    "Sending a large Buffer fails: Cannot create a string longer than 0x1fffffe8 characters",
    """#### Describe the bug
When I upload a Buffer of more than 512 MB with `application/octet-stream`, the request is never sent.

```
Error: Cannot create a string longer than 0x1fffffe8 characters
    at Object.slice (node:buffer:599:37)
    at Buffer.toString (node:buffer:819:14)
    at isFormData (/app/node_modules/http-client/lib/utils.js:11:42)
    at Object.transformRequest (/app/node_modules/http-client/lib/defaults.js:5:28)
```

#### Environment
http-client 1.3.5, Node 18.12""",
    {"lib/utils.js": UTILS, "lib/defaults.js": DEFAULTS},
)

SEQUENCE = '''"""Test relative lock times."""

from framework import TestFramework


class SequenceTest(TestFramework):
    def run_test(self):
        self.test_disabled()
        self.test_unconfirmed_inputs()

    def test_disabled(self):
        assert self.node.height() > 0

    def test_unconfirmed_inputs(self):
        first = self.wallet.send_to_self(self.node)["tx"]
        second = self.spend(first, sequence=0)
        self.node.send(second)
'''
FAILING_TEST = Case(
    "failure in feature_sequence.py",
    """Seen in CI on today's master:

```
Traceback (most recent call last):
  File "/build/test/functional/framework.py", line 12, in main
    self.run_test()
  File "/build/test/functional/feature_sequence.py", line 9, in run_test
    self.test_unconfirmed_inputs()
  File "/build/test/functional/feature_sequence.py", line 15, in test_unconfirmed_inputs
    first = self.wallet.send_to_self(self.node)["tx"]
framework.RPCError: premature spend of coinbase (-26)
```""",
    {
        "test/functional/feature_sequence.py": SEQUENCE,
        "test/functional/framework.py": "class TestFramework:\n    pass\n",
    },
)

LOADER = """import os


def load_conftest(path):
    key = make_key(path)
    return CACHE.setdefault(key, path)


def make_key(path):
    return path


CACHE = {}
"""
REGRESSION = Case(
    "ImportError: conftest is not found with capitals in the folder's name",
    """5.1.1 works fine. After upgrade to 5.1.2, the path of conftest was converted to lower case:

```
ImportError while loading conftest 'c:\\azure\\kms\\componenttest\\python\\tests\\cdb\\conftest.py'.
```

Windows 10, no plugins.""",
    {"loader/config.py": LOADER, "loader/paths.py": "def unique_path(path):\n    return path\n"},
    [
        ("tag v5.1.1", {}),
        ("Write shorter headings in the log", {"lib/apple.py": "def count_apple(rows):\n    return 1\n"}),
        (
            "Load each conftest once where the file system ignores capitals",
            {"loader/config.py": LOADER.replace("return path\n", "return os.path.normcase(path)\n")},
        ),
        ("Move unique_path for conftest", {"loader/paths.py": "def unique_path(path):\n    return path.lower()\n"}),
        ("Count rivers", {"lib/river.py": "def count_river(rows):\n    return 2\n"}),
        ("Count stones", {"lib/stone.py": "def count_stone(rows):\n    return 3\n"}),
        ("Count clouds", {"lib/cloud.py": "def count_cloud(rows):\n    return 4\n"}),
        ("tag v5.1.2", {}),
    ],
)

FORM = """name: Bug report
body:
  - type: textarea
    id: system
    attributes:
      label: System information
      placeholder: "version, operating system, compiler"
    validations:
      required: true
  - type: textarea
    id: steps
    attributes:
      label: Steps to reproduce
    validations:
      required: true
"""
QUESTIONS = Case(
    "very serious errors",
    """### System information

latest version

### Steps to reproduce

...
""",
    {".github/ISSUE_TEMPLATE/bug.yml": FORM},
)

STORE = """export default class Store {
  onOperations(operations) {
    for (const id of operations) {
      if (this.ids.has(id)) {
        this.report(
          Error(
            `Cannot add node "${id}" because a node with that id is already in the Store.`,
          ),
        );
      }
      this.ids.add(id);
    }
  }
}
"""
MESSAGE = Case(
    '[DevTools Bug] Cannot add node "1" because a node with that id is already in the Store.',
    """### Website or app

_No response_

### Repro steps

not able to see

### Error message (automated)

Cannot add node "1" because a node with that id is already in the Store.

### Error call stack (automated)

```text
at chrome-extension://abcdefgh/build/main.js:25708:41
    at listener (chrome-extension://abcdefgh/build/main.js:52511:39)
```""",
    {"packages/devtools/src/store.js": STORE, "packages/devtools/src/bridge.js": "export class Bridge {}\n"},
)

MSMF = """int open_with_params(const char* filename, int camera_index)
{
    if (!filename)
        return -1;
    return filename ? open_file(filename) : open_camera(camera_index);
}
"""
BLAMED = Case(
    "The camera is not opened by its index",
    """By rolling code back to 4.5.4 it works again. https://github.com/acme/vision/pull/31 is likely the culprit: the
check of `filename` in `open_with_params` is not needed, as the file is optional.""",
    {"src/capture.cpp": MSMF.replace("    if (!filename)\n        return -1;\n", "")},
    [
        ("tag 4.5.4", {}),
        ("Refuse a capture without a file (#31)", {"src/capture.cpp": MSMF}),
        ("Count rivers", {"lib/river.py": "def count_river(rows):\n    return 2\n"}),
    ],
    ["bug"],
)
CASES = {
    "trace_with_callers": TRACE,
    "failing_test": FAILING_TEST,
    "regression": REGRESSION,
    "questions_of_the_form": QUESTIONS,
    "message_with_values": MESSAGE,
    "blamed_pull_request": BLAMED,
}


def make_repository(root: Path, case: Case) -> Path:
    root.mkdir()
    commit(root, FILLING | case.files)
    for subject, files in case.later:
        if subject.startswith("tag "):
            git(root, "tag", subject.removeprefix("tag "))
        else:
            commit(root, files, subject)
    return root


@pytest.mark.parametrize("name", CASES)
async def test_the_comment_is_what_a_maintainer_wants_to_read(golden, tmp_path: Path, name: str):
    case = CASES[name]
    codebase = Codebase(make_repository(tmp_path / "repository", case), "acme/vision")
    issue = Issue(number=7, title=case.title, body=case.body, author="reporter", labels=case.labels)
    repository = Repository(slug="acme/vision", server_url="https://github.com")
    report = await run_graph(issue, repository, fake_services(codebase=codebase), asyncio.Event())
    golden(f"tests/golden/ideal_{name}.md", f"{preview_comment(report, Policy()).comment}\n")
