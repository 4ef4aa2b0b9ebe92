"""The harness's own reader of finished pages: it sees what acts, and nothing in what does not."""

from testing.each_row import each_row
from trust.markdown_judge import judge_page
from trust.report_builder import LINKS

LIVE = {
    "![x](https://evil.example/x.png)": "an image",
    "<img src=x>": "an image",
    "[x](https://evil.example)": "a link to evil.example",
    "[x](javascript:x)": "a link to javascript:x",
    "[x](https://github.com/octo/shop/../../evil)": "a link to github.com",
    "https://evil.example": "a link to evil.example",
    "a@evil.example": "a link to mailto:a@evil.example",
    "hello @mona": "a mention",
    "as in #1": "an issue reference",
    "GH-3": "an issue reference",
    "since 6f1ad64": "a commit reference",
    "é6f1ad64": "a commit reference",
    "修GH-3": "an issue reference",
    "- [ ] ****": "an empty bold",
    "<b>x</b>": "raw HTML",
    "x <!-- y -->": "a comment of HTML",
    "<!-- bug-triage: x": "a marker without an end",
    "x[^1]\n\n[^1]: y": "a footnote",
    "> [!NOTE]\n> x": "an alert",
    "$x$": "a formula",
    "```mermaid\ngraph LR\n```": "a drawn block",
    "x\n/approve": "a bot's command",
    "```\n/approve\n```": "a bot's command",
    f"{'`' * 81} x {'`' * 81}": "a run of backticks that is too long for GitHub",
    "x\u200by": "an invisible character",
}
DEAD = [
    "plain words, 12 of them; and/or, 1.5 s, C#, a_b",
    "`@mona` `#1` `6f1ad64` `https://evil.example` ``x`@mona``",
    "```\n@mona #1 <img src=x>\n```",
    "&lt;img src=x&gt; \\<b> \\![x]\\(y)",
    "[x](https://github.com/octo/shop/blob/0123456789abcdef0123456789abcdef01234567/a.py#L1)",
    "<details>\n<summary>x</summary>\n\nwords<br>words\n\n</details>",
    "- [ ] a question\n- [x] answered",
    '<!-- bug-triage: v1 {"text":""} -->\nwords',
    "\u26a0\ufe0f words",
]


@each_row("page", LIVE)
def test_active_content_is_found(page: str):
    assert LIVE[page] in judge_page(page, LINKS).live_effects


@each_row("page", DEAD)
def test_inert_content_is_accepted(page: str):
    assert judge_page(page, LINKS).live_effects == []


def test_structure_is_counted():
    found = judge_page("# x\n\n> y\n\n<details><summary>z</summary>\n\n***\n\n</details>", LINKS)
    assert (found.folds, found.blocks) == (1, 3)
