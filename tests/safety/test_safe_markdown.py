"""Outgoing text has no active content, whatever it is made of; one thread at a time uses GitHub's parser."""

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from cmarkgfm.cmark import Options, markdown_to_html_with_extensions
from hypothesis import HealthCheck, given, settings, strategies
from hypothesis import strategies as st

from testing.each_row import each_row
from testing.text.pathological_text import PATHOLOGICAL_TEXTS
from triage.safety import safe_markdown
from triage.safety.active_content import find_active_content
from triage.safety.clean_text import clean_and_count, clean_text
from triage.safety.safe_markdown import (
    escape_markdown,
    escape_table_cell,
    format_bold,
    format_code_block,
    format_code_span,
    markdown_to_html,
)
from trust.markdown_judge import judge_page

EXTENSIONS = ["autolink", "strikethrough", "tasklist", "table"]
OPTIONS = Options.CMARK_OPT_GITHUB_PRE_LANG | Options.CMARK_OPT_FOOTNOTES | Options.CMARK_OPT_UNSAFE | 1 << 16
GROWTH = """
from pathlib import Path
from triage.safety.safe_markdown import markdown_to_html

def read_kibibytes() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))

def parse() -> None:
    for text in ("a|b\\n-|-\\n" + "a|b\\n" * 4_000, "word " * 3_000, "[a](b) *c* " * 1_000):
        markdown_to_html(text, raw_html=True)

parse()
before = read_kibibytes()
for _ in range(20):
    parse()
print(read_kibibytes() - before)
"""


def test_no_two_threads_are_in_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    inside: list[int] = []
    most: list[int] = []

    def parse(markdown: str, options: int, extensions: Sequence[str]) -> str:
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.01)
        inside.pop()
        return ""

    monkeypatch.setattr(safe_markdown, "_parse_and_free", parse)
    threads = [
        threading.Thread(target=safe_markdown.markdown_to_html, args=("x",), kwargs={"raw_html": True})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 4


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_parsing_leaves_no_memory_behind() -> None:
    done = subprocess.run([sys.executable, "-c", GROWTH], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 10_000  # 130,000 without freeing


def assert_same_html(text: str) -> None:
    expected = markdown_to_html_with_extensions(text, options=OPTIONS, extensions=EXTENSIONS)
    assert safe_markdown.markdown_to_html(text, raw_html=True) == expected


@given(strategies.text(alphabet="ab[]()*_~`|-<>#:^!&; \n\\1.", max_size=80))
def test_the_html_is_that_of_cmarkgfm(text: str) -> None:
    assert_same_html(text)


@each_row("name", list(PATHOLOGICAL_TEXTS)[::7])
def test_hostile_text_is_parsed_and_freed(name: str) -> None:
    assert safe_markdown.markdown_to_html(PATHOLOGICAL_TEXTS[name](2_000), raw_html=True) is not None


NASTY = [
    "@bob", "@org/team", "#1", "GH-7", "o/r#5", "o/r@deadbeef1", "a1b2c3d4e5", "http://evil.example", "www.evil.example", "x@y.example",
    "mailto:a@b.c", "![x](http://e/p.png)", "[l](http://e)", "[r]", "[r]: http://e", "<http://e>", "<img src=x>", "<b>", "<!--", "-->", "<?x?>", "<![CDATA[", "</details>",
    "<script>", "&#64;bob", "&commat;bob", "&lt;", "`", "``", "```", "~~~", "\\", "\\`", "|", "\\|", "$x$", "$`x`$", ":tada:", "*", "**", "_", "__", "~~", "#", "# ",
    "- ", "+ ", "1. ", "1) ", "> ", "---", "===", ":-:", "/approve", "\n", "\r\n", "\r", "\n\n", "\t", " ", "    ", "[^1]", "[^1]: x", "- [ ] ", "\x1b[31m", "\x1b]8;;http://e\x07",
    "\u202e", "\u200b", "\u2066", "\U000e0041", "\x00", "\ud800", "\u2028", "word", "foo_bar", "foo.py", "it's", "😀", "javascript:x", "ftp://e", "JIRA-12", "1", "é",
]  # fmt: skip
text = st.one_of(st.text(max_size=120), st.lists(st.sampled_from(NASTY), max_size=14).map("".join))
thorough = settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])


def visible_words(markdown: str) -> str:
    """Words of the rendered page."""
    from selectolax.lexbor import LexborHTMLParser

    body = LexborHTMLParser(markdown_to_html(markdown, raw_html=True)).body
    return " ".join(body.text(deep=True).split()) if body else ""


@thorough
@given(text)
def test_escaped_text_has_no_active_content(words: str) -> None:
    assert find_active_content(escape_markdown(words), []) == []


@thorough
@given(text)
def test_escaped_text_is_one_block_with_the_same_words(words: str) -> None:
    line = escape_markdown(words)
    assert "\n" not in line
    html = markdown_to_html(line, raw_html=True).strip()
    assert html == "" or (html.startswith("<p>") and html.count("<p>") == 1 and html.endswith("</p>")), html

    def letters(some: str) -> str:
        return re.sub(r"[\s`]", "", some)

    assert letters(visible_words(line)) == letters(clean_text(words))


@thorough
@given(text)
def test_escaping_twice_is_safe(words: str) -> None:
    assert find_active_content(escape_markdown(escape_markdown(words)), []) == []


PROBES = [
    "http://evil.example", "HTTPS://EVIL.EXAMPLE", "hxxp://evil.example", "//evil.example/x", "\\\\evil.example\\x", "https:/evil.example", "https:evil.example", "http://127.0.0.1:1", "http://[::1]/", "http://3232235777", "www.evil.example", "WWW.evil.example",
    "evil.example", "ftp://e", "file:///etc/passwd", "mailto:a@b.example", "xmpp:a@b.example", "javascript:alert(1)", "data:text/html,x", "vbscript:x", "a@b.example", "a+b@c.example", "<https://evil.example>", "<a@b.example>", "[x](evil.example)", "[x](<//evil.example>)",
    "[x]: //evil.example\n\n[x]", "![](//evil.example/p)", "![x][y]\n\n[y]: //evil.example", "[![x](//e/p)](//e)", "https://evil.example](x", "(https://evil.example)", "https://evil.example.", "*https://evil.example*", "`https://evil.example", "https://еvil.example", "https://evil。example", "https://user:pw@evil.example",
    "@bob", "@org/team", "@@bob", "(@bob)", "*@bob*", "x @bob", "@bob's", "&#64;bob", "&commat;bob", "\\@bob", "`@bob", "@`bob`", "@bob-", "\ufeff@bob", "@\u200bbob", "＠bob", "@all", "[@bob]", "a.@bob", "/@bob", "<@bob>", "@b\u0301ob",
    "#1", "#0001", "(#1)", "x#1", "o/r#1", "o#1", "GH-1", "gh-1", "Gh-1", "JIRA-1", "AB2-12", "ISSUE-1234", "#1#2", "&#35;1", "\\#1", "a1b2c3d", "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef", "o/r@a1b2c3d4", "a1b2c3d...deadbee", "1234567", "GHSA-aaaa-bbbb-cccc", "CVE-2026-1234", "r1234567",
    "/approve", " /approve", "x\n/approve", "- /approve", "> /approve", "1. /approve", "\u00a0/approve", "\\/approve", "&#47;approve", "|/approve", "# /approve", "<br>/approve", "*/approve*", "/ approve", "(/approve)", "`/approve", "\u200b/approve",
    "$x$", "$$x$$", "$`x`$", "a$b$c", "\\$x\\$", ":tada:", "- [ ] x", "- [x] x", "> [!NOTE]\n> x", "x[^1]\n\n[^1]: y", "<details><summary>x</summary>", "</details>", "<!-- bug-triage: x -->", "<!--", "-->", "```mermaid\ngraph\n```", "~~~math\nx\n~~~", "    /code", "\tx", "x  \ny", "===", "a\n===", "a\n---", "***", "| a |\n|---|\n| b |",
    "<img src=x>", "<img/src=//e>", "<svg onload=x>", "<style>*{}</style>", "<base href=//e>", "<meta http-equiv=refresh>", "<a name=x>", "<a href=//e>x</a>", "<input autofocus>", "<x-y>", "</p>", "<![CDATA[x]]>", "<?x?>", "<!X>", "&lt;img src=x&gt;", "\\<img src=x>", "<\nimg src=x>", "<img\u00a0src=x>",
]  # fmt: skip
NAUGHTY = json.loads((Path(__file__).parents[2] / "testing" / "data" / "naughty_strings.json").read_text("utf-8"))


@pytest.mark.parametrize("words", [pytest.param([probe], id=probe[:30]) for probe in PROBES] + [NAUGHTY])
def test_other_parsers_find_no_active_content(words: list[str]) -> None:
    for one in words:
        for page in (
            escape_markdown(one),
            escape_markdown(escape_markdown(one)),
            f"- {format_bold(escape_markdown(one))} {escape_markdown(one)}",
            f"| a | b |\n| --- | --- |\n| {escape_table_cell(one)} | {escape_table_cell(one)} |",
            format_code_block(one, one),
            f"x {format_code_span(one)} y",
        ):
            found = judge_page(page, [])
            assert [effect for effect in found.live_effects if effect != "an invisible character"] == [], page
            assert clean_and_count(page) == (page, 0)  # an emoji's joiners are seen
            assert found.folds == 0, page


@thorough
@given(text, text)
def test_escaped_text_fits_into_the_templates(words: str, more: str) -> None:
    page = f"{format_bold(escape_markdown(words))} {escape_markdown(more)}\n\n- {format_bold(escape_markdown(words))}\n1. {escape_markdown(more)}\n\n> - {escape_markdown(words)}"
    assert find_active_content(page, []) == []


@thorough
@given(text, text)
def test_a_table_cell_stays_one_cell(words: str, more: str) -> None:
    table = f"| a | b |\n| --- | --- |\n| {escape_table_cell(words)} | {escape_table_cell(more)} |\n| x | y |"
    assert find_active_content(table, []) == []
    rows = markdown_to_html(table, raw_html=True).split("<tr>")[1:]
    assert [row.count("<td") for row in rows] == [0, 2, 2]
    assert "<td>x</td>" in rows[2]


@thorough
@given(text, text)
def test_nothing_leaves_a_fence(words: str, language: str) -> None:
    block = format_code_block(words, language)
    assert find_active_content(block, []) == []
    html = markdown_to_html(f"{block}\n\nafter", raw_html=True)
    assert html.count("<pre") == 1
    assert html.endswith("<p>after</p>\n")


@thorough
@given(text)
def test_nothing_leaves_a_code_span(words: str) -> None:
    span = format_code_span(words)
    assert find_active_content(f"x {span} y", []) == []
    assert find_active_content(span, []) == []
    assert markdown_to_html(f"x {span} y", raw_html=True).count("<code>") == (1 if clean_text(words).split() else 0)


@each_row(
    ("words", "markdown"),
    [
        ("plain words, nothing else.", "plain words, nothing else."),
        ("ping @bob please", "ping `@bob` please"),
        ("fixes #12.", "fixes `#12`."),
        ("see GH-3 and o/r#4", "see `GH-3` and `o/r#4`"),
        ("since a1b2c3d4", "since `a1b2c3d4`"),
        ("éa1b2c3d a1b2c3dé 修a1b2c3d e\u0301a1b2c3d", "`éa1b2c3d` `a1b2c3dé` `修a1b2c3d` `e\u0301a1b2c3d`"),
        ("mona@a1b2c3d o/r@a1b2c3d éGH-12 修JIRA-12", "`mona@a1b2c3d` `o/r@a1b2c3d` `éGH-12` `修JIRA-12`"),
        ("xa1b2c3d a1b2c3dx xGH", "xa1b2c3d a1b2c3dx xGH"),
        ("log in at evil.example/x", "log in at `evil.example/x`"),
        ("call foo_bar() in a.b.c", "call `foo_bar()` in `a.b.c`"),
        ("_private foo_ __dunder__ __init__.py", "`_private` `foo_` `__dunder__` `__init__.py`"),
        ("(_private), obj._print and f(_x, y_).", "(`_private`), `obj._print` and `f(_x`, `y_`)."),
        ("Vec<_T> x->_y foo[_bar] ${HOME} %s_%d", "`Vec<_T>` `x->_y` `foo[_bar]` `${HOME}` `%s_%d`"),
        ("camelCase pkg::name $var @decorator --flag -v", "`camelCase` `pkg::name` `$var` `@decorator` `--flag` `-v`"),
        ("**_bold_name** on macOS, iOS and GitHub -- well", r"\*\*`_bold_name`\*\* on macOS, iOS and GitHub -- well"),
        ("`Store.save` drops it", "`Store.save` drops it"),
        ("an `open span", "an &#96;open span"),
        ("1. first", r"1\. first"),
        ("- item", r"\- item"),
        ("/approve", "`/approve`"),
        ("`a` / `b`, `c`/`d` and ` /approve`", "`a` / `b`, `c`/`d` and `/approve`"),
        ("e.g. 3.5 times, i.e. more", "e.g. 3.5 times, i.e. more"),
        ("a < b & c > d", "a &lt; b &amp; c &gt; d"),
        ("two\n\nparagraphs\n/close", "two paragraphs `/close`"),
        ("", ""),
        ("\x1b[31mred\x1b[0m", "red"),
    ],
)
def test_escaped_text_is_readable(words: str, markdown: str) -> None:
    assert escape_markdown(words) == markdown


def test_text_is_cut_before_escaping() -> None:
    assert escape_markdown("abc def ghi", max_chars=8) == "abc def…"


def test_fences_are_longer_than_runs_of_backticks_inside() -> None:
    assert format_code_block("a\n````\nb", "python") == "`````python\na\n````\nb\n`````"
    assert format_code_block("graph TD", "mermaid") == "```\ngraph TD\n```"
    assert format_code_span("`") == "`` ` ``"
    assert format_code_block("/approve\n  /close\n// x\na /b") == "```\n\\/approve\n  \\/close\n// x\na /b\n```"


@each_row(
    ("page", "effect"),
    [
        ("![x](https://a.example/p.png)", "an image"),
        ("<img src=x>", "an image"),
        ("[x](https://evil.example)", "a foreign link"),
        ("https://evil.example", "a foreign link"),
        ("www.evil.example", "a foreign link"),
        ("me@evil.example", "a foreign link"),
        ("[x](javascript:alert)", "a foreign link"),
        ("[x](#top)", "a foreign link"),
        ("[x](https://ok.example/a/../../evil)", "a foreign link"),
        ("hello @bob", "a mention"),
        ("hello &#64;bob", "a mention"),
        (r"hello \@bob", "a mention"),
        ("<details>\n`@bob`\n</details>", "a mention"),
        ("see #1", "an issue reference"),
        ("see gh-1", "an issue reference"),
        ("in a1b2c3d", "a commit reference"),
        ("éa1b2c3d", "a commit reference"),
        ("_a1b2c3d_", "a commit reference"),
        ("\u212aGH-12", "an issue reference"),
        ("****", "raw HTML"),
        ("words\n===", "raw HTML"),
        ("/approve", "a line that begins with a slash"),
        ("- /approve", "a line that begins with a slash"),
        ("```\n/approve\n```", "a line that begins with a slash"),
        ("words\n/approve", "a line that begins with a slash"),
        ("words<br>/approve", "a line that begins with a slash"),
        ("<b>x</b>", "raw HTML"),
        ("<a href='https://ok.example/a'>x</a>", "raw HTML"),
        ("<details ontoggle=x>", "an attribute"),
        ("<iframe src=x></iframe>", "raw HTML"),
        ("x <!-- c -->", "an HTML comment"),
        ("<!-- c -->", "an HTML comment"),
        ("x\n\n<!-- bug-triage: -->", "an HTML comment"),
        ("<!-- bug-triage: never closed", "an open comment"),
        ("a\u202eb", "invisible characters"),
        ("a\u2028b", "invisible characters"),
        ("see JIRA-12", "an issue reference"),
        ("let $x$ be", "a formula"),
        ("let $`x`$ be", "a formula"),
        ("$$\nx\n$$", "a formula"),
        ("```mermaid\ngraph\n```", "a rendered block"),
        ("<div>" * 300, "nesting too deep to check"),
    ],
)
def test_active_content_is_found(page: str, effect: str) -> None:
    assert effect in find_active_content(page, ["https://ok.example/a"])


@each_row(
    "page",
    [
        "<!-- bug-triage: v2 abc -->\n**Likely a bug.** `@bob` said `#1`.",
        "<details><summary>More</summary>\n\n| a | b |\n|---|---|\n| `@x` | [f](https://ok.example/a) |\n\n</details>",
        "<details open>\n<summary>More</summary>\n\n- [ ] question\n\n</details>\n<sub>12 s, 0 USD</sub>",
        "```\n@bob #1 /approve\n```",
        "    indented code @bob",
        "[f](https://ok.example/tree/x%20y.py#L1-L2)",
        "line one<br>line two",
        "",
    ],
)
def test_our_own_pages_are_safe(page: str) -> None:
    allowed = ["https://ok.example/a", "https://ok.example/tree/x y.py#L1-L2"]
    assert find_active_content(page, allowed) == []


def test_a_prefix_ends_at_a_slash() -> None:
    assert find_active_content("[x](https://ok.example/o/r-evil)", ["https://ok.example/o/r"]) == ["a foreign link"]
    assert find_active_content("[x](https://ok.example/o/r/blob)", ["https://ok.example/o/r/"]) == []


@each_row("length", [20, 21, 79, 80, 81, 254, 255, 256, 257, 1_500, 70_000])
def test_runs_of_backticks_of_any_length_are_closed(length: int):
    """GitHub's parser takes at most 80 for a code span, and counts those of a fence in one byte."""
    payload = "`" * length + " @mona ![x](http://e.test/p.png) <b>x"
    for page in (
        format_code_span(payload),
        format_code_block(payload.replace(" ", "\n", 1)),
        escape_markdown(payload, 100_000),
    ):
        assert not find_active_content(page, [])
        assert "<img" not in markdown_to_html(page, raw_html=True)
