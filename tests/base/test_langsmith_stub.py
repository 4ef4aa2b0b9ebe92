"""The stand-in for LangSmith: no answer of its own is wrong, and it makes room for the real package."""

import subprocess
import sys

import pytest

LOADED = "any(getattr(module, '__file__', None) for name, module in sys.modules.items() if name.split('.')[0] == 'langsmith')"
START = f"import sys; from triage.base import langsmith_stub as s; s.install(); is_loaded = lambda: {LOADED}; "


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", START + program], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_what_langchain_asks_loads_nothing():
    asked = "from langsmith import run_helpers, utils; "
    answers = "print(run_helpers.get_tracing_context()['parent'], utils.tracing_is_enabled(), is_loaded())"
    assert run(asked + answers) == "None False False"


def test_the_answer_has_all_fields_of_the_real_one():
    program = "from langsmith.run_helpers import get_tracing_context as ours; s.remove(); "
    program += "from langsmith.run_helpers import get_tracing_context as theirs; print(set(theirs()) - set(ours()))"
    assert run(program) == "set()"


@pytest.mark.parametrize(
    "use",
    [
        "from langsmith import traceable",
        "from langsmith.run_helpers import get_current_run_tree",
        "import langsmith.schemas",
        "import langsmith; langsmith.RunTree(name='a', run_type='chain', client=object()).end()",
        "import langsmith; langsmith.utils.LangSmithError",
    ],
)
def test_anything_else_is_the_real_package(use: str):
    assert run(use + "; print(is_loaded())") == "True"


def test_a_loaded_package_stays():
    program = "s.remove(); import langsmith; s.install(); print(sys.modules['langsmith'] is langsmith and is_loaded())"
    assert run(program) == "True"
