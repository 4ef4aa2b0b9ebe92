"""Makes `docs/comment.png`, `known.png` and `documented.png`: comments of real runs, as GitHub shows them below the issue.

The issues are about `bench/data/shop`, a made-up program whose shown line raises the error that the issue quotes. The
runs are those of the action against a GitHub on loopback. `documented` has a model, whose answer is written here.

    python -m bench.comment_picture [--chromium PROGRAM] [--out FOLDER]

Needs Chromium; `pngquant`, where it is installed, makes the file smaller.
"""

import argparse
import contextlib
import html
import io
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

import cmarkgfm

from testing import factories
from testing.command_line import run_command
from testing.servers.github_api import JOB_TOKEN, GitHubApi, serve_github_api
from testing.servers.github_api import SLUG as SERVED_SLUG
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion, serve_script
from triage.action import main as run_action
from triage.domain.findings import CitedPlace
from triage.domain.report import RunReport
from triage.say.comment import compose_comment
from triage.say.hidden_state import CommentState
from triage.say.report_pages import build_comment_page

ROOT = Path(__file__).parent.parent
PROJECT = ROOT / "bench" / "data" / "shop"
ISSUE, EARLIER, KNOWN, QUESTION = (PROJECT / f"{name}.md" for name in ("issue", "earlier", "again", "question"))
THINGS = [
    "invoice",
    "receipt",
    "customer",
    "address",
    "currency",
    "discount",
    "warehouse",
    "courier",
    "calendar",
    "label",
]
FAILURES = ["missing", "duplicated", "truncated", "misaligned", "untranslated", "outdated"]
"""Other issues of the tracker: how much two share is told by how many others share it."""
PAGE_FILE = PROJECT / "docs" / "vouchers.md"
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


@contextlib.contextmanager
def check_out() -> Iterator[Path]:
    """A checkout of the program and its page, so that links name a commit."""
    with tempfile.TemporaryDirectory() as name:
        for part in ("shop", "docs"):
            shutil.copytree(PROJECT / part, Path(name, part), ignore=shutil.ignore_patterns("__pycache__"))
        git = ["git", "-C", name, "-c", "user.name=Mona", "-c", "user.email=mona@example.com"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Start"]):
            subprocess.run([*git, *words], check=True)
        yield Path(name)


def run_triage() -> RunReport:
    """Triage the issue with the trace at a terminal, by rules."""
    with check_out() as folder:
        command = ["run", "--repo", str(folder), "--issue", str(ISSUE), "--github", SLUG, "--engine", "rules", "--json"]
        return RunReport.model_validate_json(run_command(command, {}, ROOT).stdout)


def read_issue(file: Path) -> tuple[str, str]:
    title, _, body = file.read_text(encoding="utf-8").removeprefix("# ").partition("\n")
    return title, body


def comment_on_known() -> str:
    """Return the comment on a report of what was fixed already, by rules."""
    with serve_github_api() as api:
        title, body = read_issue(EARLIER)
        at = {"created_at": "2026-11-09T08:00:00Z", "updated_at": "2026-11-12T08:00:00Z"}
        fix = {
            "number": 4,
            "oid": "d" * 40,
            "title": "Take deposits",
            "at": "2026-11-12T08:00:00Z",
            "milestone": "2.3.2",
        }
        ended = {"state": "closed", "state_reason": "completed", "fixes": [fix]}
        api.add_issue(3, title=title, body=body, **at, **ended)
        for number, (thing, failure) in enumerate(product(THINGS, FAILURES), 10):
            api.add_issue(
                number, title=f"The {thing} is {failure}", body=f"Order {number} has a {thing} that is {failure}.", **at
            )
        return comment_on(KNOWN, api, {"INPUT_ENGINE": "rules"})


def comment_on_documented() -> str:
    """Return the comment on a question that the page answers: a model names the line, and the program quotes it."""
    with serve_github_api() as api, serve_script(answer_as_model) as server:
        names = dict.fromkeys(("INPUT_MODEL", "INPUT_FAST-MODEL"), "made-up")
        return comment_on(
            QUESTION, api, names | {"INPUT_MODEL-BASE-URL": f"{server.url}/v1"}, labels=[{"name": "question"}]
        )


def answer_as_model(request: ReceivedRequest) -> ScriptedReply:
    """Cite the line about the setting by the number under which the section was shown."""
    asked = json.dumps(request.body["messages"])
    shown = re.search(r"\[(\d+)\] docs/vouchers\.md", asked)
    line = next(number for number, text in enumerate(PAGE_FILE.read_text().splitlines(), 1) if "vouchers.reuse" in text)
    if shown is None:
        return chat_completion(factories.investigation(kind="question").model_dump_json())
    cited = [CitedPlace(cite=f"{shown[1]}:{line}", reason="It is the setting that is asked for.")]
    found = factories.codebase(places=[], why="", documented=cited).model_dump_json()
    return chat_completion(tool_calls=[("CodebaseFinding", found)] if "tools" in request.body else None, content=found)


def comment_on(file: Path, api: GitHubApi, inputs: Mapping[str, str], **fields: object) -> str:
    """Run the action on an issue that was just opened, and return the comment that it writes."""
    title, body = read_issue(file)
    api.add_issue(
        7, title=title, body=body, created_at="2026-11-20T09:00:00Z", updated_at="2026-11-20T09:00:00Z", **fields
    )
    with check_out() as checkout, tempfile.TemporaryDirectory() as home:
        event = {"action": "opened", "issue": api.issues[7], "repository": {"full_name": SERVED_SLUG}}
        Path(home, "event.json").write_text(json.dumps(event | {"sender": {"login": "mona", "type": "User"}}))
        files = {f"GITHUB_{name}": str(Path(home, name)) for name in ("OUTPUT", "STEP_SUMMARY")}
        for path in files.values():
            Path(path).touch()
        runner = {
            "GITHUB_REPOSITORY": SERVED_SLUG,
            "GITHUB_EVENT_NAME": "issues",
            "GITHUB_EVENT_PATH": str(Path(home, "event.json")),
            "GITHUB_WORKSPACE": str(checkout),
            "GITHUB_API_URL": api.url,
            "GITHUB_SERVER_URL": "https://github.com",
            "INPUT_GITHUB-TOKEN": JOB_TOKEN,
            "HOME": home,
        }
        log = io.StringIO()
        with contextlib.redirect_stdout(log):
            run_action({**runner, **files, **inputs})
    if not api.comments:
        raise RuntimeError(log.getvalue())
    return str(api.comments[0]["body"])


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
    return render_thread(ISSUE, compose_comment("", CommentState().with_report(report, ""), build_comment_page(report)))


def render_thread(issue: Path, comment: str) -> str:
    """Return an issue with a comment as a page."""
    title, body = read_issue(issue)
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


def take_pictures(chromium: str, folder: Path) -> None:
    take_picture(render_page(run_triage()), chromium, folder / "comment.png")
    take_picture(render_thread(KNOWN, comment_on_known()), chromium, folder / "known.png")
    take_picture(render_thread(QUESTION, comment_on_documented()), chromium, folder / "documented.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="folder for the pictures")
    arguments = parser.parse_args()
    take_pictures(arguments.chromium, arguments.out)


if __name__ == "__main__":
    main()
