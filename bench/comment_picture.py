"""Makes `docs/comment.png`: a real comment of the rules engine, as GitHub shows it below the issue.

The issue is about `bench/data/shop`, a made-up program whose shown line raises the error that the issue quotes.

    python -m bench.comment_picture [--chromium PROGRAM] [--out FILE]

Needs Chromium; `pngquant`, where it is installed, makes the file smaller.
"""

import argparse
import html
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import cmarkgfm

from triage.domain.report import RunReport
from triage.say.comment import render_comment
from triage.say.hidden_state import next_state
from triage.say.report_pages import build_comment_page

ROOT = Path(__file__).parent.parent
PROJECT = ROOT / "bench" / "data" / "shop"
ISSUE = PROJECT / "issue.md"
SLUG = "acme/shop"
WIDTH, HEIGHT, SCALE = 880, 1600, 2
_LONE_LINK = re.compile(r'<p><a href="[^"]*/blob/[0-9a-f]{40}/([^"#?]+)#L(\d+)-L(\d+)">[^<]*</a></p>')
PAGE = """<!doctype html><meta charset="utf-8"><style>
* { box-sizing: border-box }
body { margin: 0; padding: 16px 20px; width: %(width)spx; color: #1f2328; background: #fff;
  font: 14px/1.5 "Liberation Sans", Arial, sans-serif }
h1 { font-size: 22px; font-weight: 400; line-height: 1.3; margin: 0 0 8px } h1 span { color: #59636e }
.code { border: 1px solid #d1d9e0; border-radius: 6px; margin: 0 0 10px } .code pre { margin: 0; background: none;
  font: 12px/1.6 "Liberation Mono", monospace } .code i { color: #59636e; font-style: normal }
.state { background: #1f883d; color: #fff; border-radius: 16px; padding: 4px 12px; font-weight: 600; font-size: 13px }
.post { display: flex; margin-top: 16px } .face { width: 36px; height: 36px; border-radius: 50%%; margin-right: 12px;
  flex: none; color: #fff; font: 600 17px/36px "Liberation Sans", Arial; text-align: center }
.box { border: 1px solid #d1d9e0; border-radius: 6px; flex: 1; min-width: 0 }
.head { background: #f6f8fa; border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0; padding: 7px 14px;
  color: #59636e; font-size: 13px } .head b { color: #1f2328 }
.bot { border: 1px solid #d1d9e0; border-radius: 12px; font-size: 11px; padding: 0 6px; margin-left: 4px }
.text { padding: 12px 14px 8px } .text p, .text ul, .text ol, .text pre, .text table, details { margin: 0 0 10px }
h3, h4 { font-size: 15px; margin: 14px 0 8px } a { color: #0969da; text-decoration: none }
code { font: 12px "Liberation Mono", monospace; background: #eff1f3; border-radius: 5px; padding: 2px 5px }
pre { background: #f6f8fa; border-radius: 6px; padding: 10px 14px; overflow: hidden } pre code { padding: 0; background: none }
table { border-collapse: collapse; font-size: 13px } th, td { border: 1px solid #d1d9e0; padding: 5px 11px; text-align: left }
.text > :first-child { margin-top: 0 } .cut { max-height: 170px; overflow: hidden; -webkit-mask-image: linear-gradient(#000 60%%, transparent) }
summary { list-style: revert } sub { font-size: 11px; color: #59636e; vertical-align: baseline }
</style><h1>%(title)s <span>#7</span></h1><span class="state">Open</span>
<div class="post"><div class="face" style="background:#8250df">M</div><div class="box"><div class="head"><b>mona</b>
opened this issue</div><div class="text cut">%(issue)s</div></div></div>
<div class="post"><div class="face" style="background:#1f2328">⚙</div><div class="box"><div class="head"><b>github-actions</b>
<span class="bot">bot</span> commented</div><div class="text">%(comment)s</div></div></div>"""


def run_triage() -> RunReport:
    """Triage the issue on a checkout of the program, so that links name a commit."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PROJECT / "shop", Path(folder, "shop"), ignore=shutil.ignore_patterns("__pycache__"))
        git = ["git", "-C", folder, "-c", "user.name=Mona", "-c", "user.email=mona@example.com"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Start"]):
            subprocess.run([*git, *words], check=True)
        command = ["-m", "triage", "run", "--repo", folder, "--issue", str(ISSUE), "--github", SLUG]
        command += ["--engine", "rules", "--json"]
        done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, check=True)
        return RunReport.model_validate_json(done.stdout)


def show_code(comment: str) -> str:
    """Replaces a link that stands alone by the box of code that GitHub draws for it."""

    def draw(match: re.Match[str]) -> str:
        path, first, last = match[1], int(match[2]), int(match[3])
        lines = (PROJECT / path).read_text(encoding="utf-8").splitlines()[first - 1 : last]
        rows = "\n".join(f"<i>{number:>4}</i>  {html.escape(line)}" for number, line in enumerate(lines, first))
        head = f"<b>{SLUG.partition('/')[2]}/{path}</b><br>Lines {first} to {last}"
        return f'<div class="code"><div class="head">{head}</div><pre>{rows}</pre></div>'

    return _LONE_LINK.sub(draw, comment)


def render_page(report: RunReport) -> str:
    title, _, body = ISSUE.read_text(encoding="utf-8").removeprefix("# ").partition("\n")
    comment = render_comment(build_comment_page(report), next_state(report, None))
    return PAGE % {
        "width": WIDTH,
        "title": html.escape(title),
        "issue": cmarkgfm.github_flavored_markdown_to_html(body),
        "comment": show_code(
            cmarkgfm.markdown_to_html_with_extensions(
                comment, cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE, ["table", "strikethrough", "autolink"]
            )
        ),
    }


def take_picture(page: str, chromium: str, out: Path, width: int = WIDTH, height: int | None = None) -> None:
    """Stores what Chromium shows of a page in light colours: all of it, or its top. Sizes are CSS pixels."""
    with tempfile.TemporaryDirectory() as folder:
        source, picture = Path(folder, "page.html"), Path(folder, "page.png")
        source.write_text(page, encoding="utf-8")
        height = height or _measure(source, chromium)
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--force-device-scale-factor={SCALE}"]
        options += [f"--window-size={width},{height}", f"--screenshot={picture}"]
        subprocess.run([chromium, *options, source.as_uri()], capture_output=True, check=True)
        if shutil.which("pngquant"):
            subprocess.run(["pngquant", "--force", "--output", picture, "64", picture], check=True)
        shutil.copyfile(picture, out)


def _measure(source: Path, chromium: str) -> int:
    """Height of the page in CSS pixels."""
    script = "<script>document.title=document.documentElement.getBoundingClientRect().height</script>"
    source.write_text(source.read_text(encoding="utf-8") + script, encoding="utf-8")
    options = ["--headless", "--no-sandbox", f"--window-size={WIDTH},{HEIGHT}", "--dump-dom"]
    dom = subprocess.run([chromium, *options, source.as_uri()], capture_output=True, check=True, text=True).stdout
    return round(float(dom.rpartition("<title>")[2].partition("</title>")[0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "comment.png")
    arguments = parser.parse_args()
    take_picture(render_page(run_triage()), arguments.chromium, arguments.out)


if __name__ == "__main__":
    main()
