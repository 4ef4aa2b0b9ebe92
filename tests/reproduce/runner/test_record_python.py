"""The recorder as it runs in an environment: a process of another Python, with a package of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from testing.checkouts.git_repositories import write
from triage.reproduce.runner import record_python

SHOP = {
    "shop/__init__.py": "def register(f):\n    return f\n\n@register\ndef total(items):\n    return add(items)\n\nfrom shop.deep import add\n",
    "shop/deep.py": "def add(items):\n    if not items:\n        raise ValueError('no items')\n    return sum(items)\n\ndef unused():\n    pass\n",
}


@pytest.fixture
def shop(tmp_path):
    return write(tmp_path, SHOP)


def record(folder: Path, code: str, seconds: float = 20, *, is_session: bool = False) -> dict[str, Any]:
    command = [sys.executable, record_python.__file__, str(seconds), str(int(is_session)), "shop"]
    done = subprocess.run(command, cwd=folder, input=code.encode(), capture_output=True, timeout=60, check=False)
    assert done.stderr == b""
    line: dict[str, Any] = json.loads(done.stdout)
    return line


def test_an_error_is_recorded_with_its_frames(shop):
    line = record(shop, "import shop\nprint('start')\nshop.total([])\nprint('end')\n")
    (error,) = line["record"]["errors"]
    assert (error["type"], error["message"], error["causes"]) == ("ValueError", "no items", ["ValueError"])
    assert [(Path(path).name, number, name) for path, number, name in error["frames"]] == [
        ("<example>", 3, "<module>"),
        ("__init__.py", 6, "total"),
        ("deep.py", 3, "add"),
    ]
    assert (line["output"], line["code"]) == ("start\n", 1)
    assert line["runtime"].startswith("Python 3.")


def test_functions_that_run_on_import_do_not_count(shop):
    executed = record(shop, "import shop\nshop.total([1])\n")["record"]["executed"]
    assert [(Path(path).name, name.rpartition(".")[2]) for path, _, name in executed] == [
        ("__init__.py", "total"),
        ("deep.py", "add"),
    ]


def test_a_function_of_a_project_of_one_file_counts(tmp_path):
    folder = write(tmp_path, {"shop.py": "def total(items):\n    return sum(items)\n"})
    found = record(folder, "import shop\nshop.total([1])\n")["record"]
    assert [(Path(path).name, name) for path, _, name in found["executed"]] == [("shop.py", "total")]


def test_a_project_that_is_imported_in_a_function_counts(shop):
    found = record(shop, "def f():\n    import shop\n    shop.total([])\n\nf()\n")["record"]
    assert [Path(path).name for path, _, _ in found["executed"]] == ["__init__.py", "deep.py"]


def test_a_function_in_a_thread_counts(shop):
    code = "import shop, threading\nt = threading.Thread(target=shop.total, args=([1],))\nt.start()\nt.join()\n"
    assert len(record(shop, code)["record"]["executed"]) == 2


def test_values_are_shown_as_at_a_prompt(shop):
    code = "import shop\nshop.total([1, 2])\nNone\n'a'\nfor i in range(2):\n    i\n"
    assert record(shop, code)["output"] == "3\n'a'\n0\n1\n"


def test_a_script_has_its_docstring_and_does_not_print_it(shop):
    code = "'Usage: shop'\nprint(__doc__)\n'shown'\n"
    assert record(shop, code)["output"] == "Usage: shop\n'shown'\n"
    assert record(shop, code, is_session=True)["output"] == "'Usage: shop'\nNone\n'shown'\n"


def test_an_error_ends_a_script_and_not_a_session(shop):
    code = "import shop\nshop.total([])\n{}['x']\n5\n"
    script, session = record(shop, code), record(shop, code, is_session=True)
    assert ([one["type"] for one in script["record"]["errors"]], script["output"]) == (["ValueError"], "")
    assert ([one["type"] for one in session["record"]["errors"]], session["output"]) == (
        ["ValueError", "KeyError"],
        "5\n",
    )


@pytest.mark.parametrize(
    ("code", "types"),
    [
        ("raise SystemExit", []),
        ("raise SystemExit(3)", ["SystemExit"]),
        ("x = (", ["SyntaxError"]),
        ("raise KeyboardInterrupt", ["KeyboardInterrupt"]),
    ],
)
def test_an_example_may_end_in_other_ways(shop, code, types):
    assert [one["type"] for one in record(shop, code)["record"]["errors"]] == types


def test_a_late_example_is_ended_with_what_it_started(shop):
    line = record(shop, "import subprocess\nprint('a', flush=True)\nsubprocess.run(['sleep', '60'])\n", seconds=1)
    assert (line["late"], line["record"], line["output"]) == (True, None, "a\n")


def test_a_process_that_dies_leaves_no_record(shop):
    line = record(shop, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    assert (line["code"], line["late"], line["record"]) == (-11, False, None)


def test_output_is_cut(shop):
    assert len(record(shop, "print('x' * 10**6)")["output"]) == record_python.MAX_OUTPUT_BYTES


def test_what_an_example_prints_is_no_record(shop):
    line = record(
        shop,
        "import os\nprint('{\"code\": 0}')\nfor n in range(3, 20):\n    try: os.write(n, b'{}')\n    except OSError: pass\n",
    )
    assert line["record"] is None


def test_an_error_without_a_message_is_recorded(shop):
    code = "class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E\n"
    assert [(one["type"], one["message"]) for one in record(shop, code)["record"]["errors"]] == [("E", "")]


def test_what_the_future_says_holds_for_all_statements(shop):
    line = record(
        shop, "from __future__ import annotations\nimport shop\ndef f(x: Undefined): pass\nprint(shop.total([1]))\n"
    )
    assert (line["record"]["errors"], line["output"]) == ([], "1\n")
