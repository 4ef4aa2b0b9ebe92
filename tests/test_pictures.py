"""The code in the pictures of the pages raises the error that the issue beside it quotes."""

import subprocess
import sys
from pathlib import Path

from bench.comment_picture import ISSUE, PROJECT, run_triage
from bench.reproduction_picture import ISSUE as EXAMPLE
from bench.reproduction_picture import make_history


def test_the_shown_line_raises_the_quoted_error() -> None:
    done = subprocess.run([sys.executable, "-m", "shop"], cwd=PROJECT, capture_output=True, text=True, check=False)
    raised = done.stderr.replace(str(PROJECT), "/srv/shop").strip().splitlines()
    issue = ISSUE.read_text(encoding="utf-8")
    assert raised[-1] == "KeyError: 'VOUCHER-10'"
    frames = [line for line in raised if line.startswith('  File "/srv/shop/')]
    assert [frame for frame in frames if frame not in issue] == []
    report = run_triage()
    assert report.best_place is not None
    assert f'{report.best_place.span.path}", line {report.best_place.line},' in frames[-1]
    assert report.best_place.text == raised[-1]


def test_shown_example_works_before_the_commit_that_the_picture_names(tmp_path: Path) -> None:
    make_history(tmp_path)
    code = EXAMPLE.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]

    def run(commit: str) -> str:
        subprocess.run(["git", "-C", str(tmp_path), "checkout", "-q", commit], check=True)
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr.rstrip().rpartition("\n")[2]

    assert run("v2.3.0") == "To pay: 3.50 euros\n"
    assert run("v2.3.1") == run("main") == "KeyError: 'VOUCHER-10'"
