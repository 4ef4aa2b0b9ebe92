"""The code in the pictures of the pages raises the error that the issue beside it quotes."""

import subprocess
import sys

from bench.comment_picture import ISSUE, PROJECT, run_triage


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
