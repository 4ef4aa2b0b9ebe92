"""Makes the pictures of the pages from real runs: three comments, the page of a job, and a backtest.

    python -m bench.pictures --repo DIR [--chromium PROGRAM] [--out FOLDER]

The backtest tries `DIR`, a clone with its history, offline. Needs Chromium; `pngquant`, where it is installed, makes
the files smaller.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import cmarkgfm

from bench.comment_picture import PAGE, ROOT, WIDTH, run_triage, take_picture, take_pictures
from triage.domain.report import RunReport
from triage.say.job_page import render_job_page

ISSUES = 40
BACKTEST_WIDTH, BACKTEST_HEIGHT = 1_000, 760
"""Of this long page the picture has the top: the figures, and the first fixes."""
_OPENED = re.compile(r"<details>(?=\s*<summary>(?:Evidence|\d+ steps))")


def make_page(report: RunReport) -> str:
    """Returns the page of the job as GitHub shows it."""
    style = PAGE.partition("</style>")[0] % {"width": WIDTH} + "</style>"
    markdown = render_job_page(report)
    shown = cmarkgfm.markdown_to_html_with_extensions(
        markdown, cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE, ["table", "strikethrough", "autolink"]
    )
    shown = _OPENED.sub("<details open>", shown)
    head = '<div class="head"><b>triage summary</b></div>'
    return f'{style}<div class="box">{head}<div class="text">{shown}</div></div>'


def run_backtest(repo: Path) -> str:
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "backtest.html")
        command = ["-m", "triage", "backtest", "--repo", str(repo.resolve())]
        command += ["--last", str(ISSUES), "--html", str(page)]
        subprocess.run([sys.executable, *command], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        return page.read_text(encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repo", type=Path, required=True, help="clone with its history, for the backtest")
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="folder for the pictures")
    arguments = parser.parse_args()
    take_pictures(arguments.chromium, arguments.out)
    take_picture(make_page(run_triage()), arguments.chromium, arguments.out / "job-page.png")
    backtest = run_backtest(arguments.repo)
    take_picture(backtest, arguments.chromium, arguments.out / "backtest.png", BACKTEST_WIDTH, BACKTEST_HEIGHT)


if __name__ == "__main__":
    main()
