"""Makes `docs/reproduction.png`: what `/triage reproduce` writes about a real run, as GitHub shows it below the issue.

The example of the report is run on three versions of `bench/data/shop`, a made-up program, on this machine.

    python -m bench.reproduction_picture [--chromium PROGRAM] [--out FILE]

Needs Chromium and uv; `pngquant`, where it is installed, makes the file smaller.
"""

import argparse
import html
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import cmarkgfm

from bench.comment_picture import PAGE, PROJECT, ROOT, SLUG, WIDTH, take_picture
from triage.app.open_app import open_terminal_app
from triage.domain.issue import Issue, Repository
from triage.reproduce.environments.virtual import VirtualEnvironments
from triage.reproduce.pages import Pages
from triage.reproduce.project_checkout import ProjectCheckout
from triage.reproduce.render_evidence import render_evidence

ISSUE = PROJECT / "example.md"
FIND = "        return self._cents[article]\n"
OLD_FIND = f"        if is_voucher(article):\n            return -count_cents(article)\n{FIND}"
MANIFEST = """[project]
name = "acme-shop"
version = "2.3.1"
requires-python = ">=3.11"

[tool.setuptools]
packages = ["shop"]
"""


def make_history(folder: Path) -> None:
    """Commit three versions: one that knows vouchers, one that does not any more, and today's."""
    git = ["git", "-C", str(folder), "-c", "user.name=Mona", "-c", "user.email=mona@example.com"]
    shutil.copytree(PROJECT / "shop", folder / "shop", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pyproject.toml").write_text(MANIFEST, encoding="utf-8")
    prices = folder / "shop" / "prices.py"
    today = prices.read_text(encoding="utf-8")
    old = today.replace(FIND, OLD_FIND).replace(
        "from collections.abc import Mapping\n",
        "from collections.abc import Mapping\n\nfrom .vouchers import count_cents, is_voucher\n",
    )
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    for number, (text, subject, tag) in enumerate(
        ((old, "Vouchers", "v2.3.0"), (today, "Look prices up in one place (#12)", "v2.3.1"), (today, "Tea", "main"))
    ):
        prices.write_text(text, encoding="utf-8")
        (folder / "NEWS").write_text(subject, encoding="utf-8")
        date = f"2026-0{number + 3}-02T10:00:00Z"
        dates = {**os.environ, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "-m", subject], check=True, env=dates)
        if tag != "main":
            subprocess.run([*git, "tag", tag], check=True)


def run_example(title: str, body: str) -> str:
    """Return the block of the comment."""
    with tempfile.TemporaryDirectory() as name:
        make_history(Path(name))
        app, _ = open_terminal_app(Path(name))
        checkout = ProjectCheckout(app.root, app.config.reproduce)
        selection = checkout.select(Issue(number=7, title=title, body=body), [])
        with VirtualEnvironments(checkout.source, os.environ) as environments:
            *_, evidence = checkout.run(selection, environments, lambda _: True, app.progress.info)
        pages = Pages(checkout.source, Repository(slug=SLUG, server_url="https://github.com"))
        return render_evidence(selection, evidence, pages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "reproduction.png")
    arguments = parser.parse_args()
    title, _, body = ISSUE.read_text(encoding="utf-8").removeprefix("# ").partition("\n")
    block = run_example(title, body)
    print(block)
    page = PAGE.replace("text cut", "text") % {
        "width": WIDTH,
        "title": html.escape(title),
        "issue": cmarkgfm.github_flavored_markdown_to_html(body),
        "comment": cmarkgfm.markdown_to_html_with_extensions(
            block, cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE, ["table", "strikethrough", "autolink"]
        ),
    }
    take_picture(page, arguments.chromium, arguments.out)


if __name__ == "__main__":
    main()
