"""The example that `make triage` shows is about this repository: what its traceback quotes has to stand in the code."""

import re

import pytest

from testing.runs.job import ROOT

FRAME = re.compile(r'File "C:\\src\\bug-triage\\(triage\\[^"]+)", line (\d+), in (\S+)\n    (.+)\n')
EXAMPLES = sorted((ROOT / "examples").glob("*.md"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_starts_with_its_title(path):
    first, blank, *rest = path.read_text(encoding="utf-8").splitlines()
    assert first.startswith("# ")
    assert blank == ""
    assert rest


def test_the_traceback_quotes_lines_of_this_code():
    frames = FRAME.findall((ROOT / "examples" / "crash-with-traceback.md").read_text(encoding="utf-8"))
    assert len(frames) == 5
    for path, number, function, line in frames:
        source = (ROOT / path.replace("\\", "/")).read_text(encoding="utf-8")
        assert function == "<module>" or f"def {function}(" in source
        near = source.splitlines()[max(0, int(number) - 40) : int(number) + 40]
        assert line.strip() in [found.strip() for found in near], f"{path} has no such line near {number}"
