"""The pictures of the pages show what the program says: of code that raises the quoted error, and of real runs."""

import subprocess
import sys
from pathlib import Path

from bench.comment_picture import ISSUE, PROJECT, comment_on_documented, comment_on_known, run_triage
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


def test_the_known_issue_is_named_with_its_end() -> None:
    assert "**Probably the same as [`#3`]" in (comment := comment_on_known())
    assert "(closed, fixed in 2.3.2): same stack trace; same error text" in comment


def test_the_line_about_the_setting_is_quoted() -> None:
    assert "says: “A voucher can be used once. Set `vouchers.reuse: true` in `shop.yml`" in comment_on_documented()


def test_shown_example_works_before_the_commit_that_the_picture_names(tmp_path: Path) -> None:
    make_history(tmp_path)
    code = EXAMPLE.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]

    def run(commit: str) -> str:
        subprocess.run(["git", "-C", str(tmp_path), "checkout", "-q", commit], check=True)
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr.rstrip().rpartition("\n")[2]

    assert run("v2.3.0") == "To pay: 3.50 euros\n"
    assert run("v2.3.1") == run("main") == "KeyError: 'VOUCHER-10'"
