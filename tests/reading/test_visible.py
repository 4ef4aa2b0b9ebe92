"""The model sees what a person sees."""

import time
import unicodedata

import pytest
import regex  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.domain.text import clean, visible_only
from triage.reading.visible import visible, visible_line

HIDDEN_CHANNELS = {
    "comment": "a <!-- canary --> b",
    "comment first": "<!-- canary -->\n\nb",
    "comment never closed": "a\n\n<!-- canary\n\nmore canary",
    "comment closed oddly": "a\n\n<!-- canary --!>\n\nb",
    "empty comment trick": "a <!--> <!-- canary --> b",
    "comment after an indented fence": "a\n\n     ```\n\n<!-- canary -->\n",
    "processing instruction": "a <?canary x?> b",
    "declaration": "a <!CANARY canary> b",
    "cdata": "a <![CDATA[canary]]> b",
    "attribute": '<b data-x="canary">a</b>',
    "title": '<b title="canary canary canary canary canary">a</b>',
    "link title": '[a](http://x.example "canary")',
    "alt": "![canary](http://x.example/p.png)",
    "long alt": "a ![canary is what this picture says](http://x.example/p.png)",
    "hidden": "a <span hidden>canary</span> b",
    "display": '<div style="display: none">canary</div>\n\na',
    "visibility": '<span style="visibility:hidden">canary</span> a',
    "font size": '<span style="font-size:0px">canary</span> a',
    "opacity": '<span style="opacity:0">canary</span> a',
    "aria": 'a <span aria-hidden="true">canary</span>',
    "template": "a <template>canary</template>",
    "script": "a <script>canary</script>",
    "style": "a <style>canary</style> b",
    "noscript": "a <noscript>canary</noscript> b",
    "textarea": "a <textarea>canary</textarea> b",
    "svg": "a <svg><text>canary</text></svg> b",
    "definition": "a\n\n[//]: # (canary)",
    "definition title": 'a\n\n[x]: http://x.example "canary"',
    "definition label": "a\n\n[canary]: http://x.example",
    "unused footnote": "a\n\n[^x]: canary",
    "cell too many": "| a |\n|---|\n| b | canary |",
    "info string": "```python canary\na\n```",
    "empty link": '[](http://x.example "canary")a',
    "invisible letters": "a" + "".join(chr(0xE0000 + ord(letter)) for letter in "canary"),
    "deep and hidden": "> " * 80 + "<div>" * 300 + "<span hidden>canary</span>",
    "very many tags and hidden": "a|b\n-|-\n" + "a|b\n" * 16_000 + "\n<!-- canary -->\n<i hidden>canary</i>",
}


@pytest.mark.parametrize("channel", HIDDEN_CHANNELS)
def test_what_is_hidden_is_not_read(channel: str) -> None:
    page = visible(HIDDEN_CHANNELS[channel])
    readable = "".join(chr(ord(c) - 0xE0000) if ord(c) > 0xE0000 else c for c in page.text + " ".join(page.links))
    assert "canary" not in readable.lower()


@pytest.mark.parametrize(
    "channel",
    [
        "comment",
        "comment first",
        "comment never closed",
        "long alt",
        "title",
        "hidden",
        "display",
        "aria",
        "template",
        "script",
        "definition",
        "invisible letters",
    ],
)
def test_what_was_hidden_is_counted(channel: str) -> None:
    assert visible(HIDDEN_CHANNELS[channel]).hidden_fragments >= 1


def test_a_page_reads_as_on_the_screen() -> None:
    page = visible(
        "<!-- please fill in -->\n"
        "## What happened\r\n\r\n"
        "Saving `cart.json` fails, see [the docs](https://docs.example/save) and https://x.example.\r\n"
        "It worked in **2.1**.\n\n"
        "- first\n- second\n  1. deeper\n\n"
        "- [x] searched\n- [ ] asked\n\n"
        "| os | ok |\n|---|---|\n| linux | yes |\n\n"
        "```python\ndef save(self):\n    pass\n```\n\n"
        "<details><summary>Log</summary>\n\n```\nline 1\n\nline 2\n```\n\n</details>\n\n"
        "> quoted\n\n    indented code\n"
    )
    assert page.text == (
        "## What happened\n\n"
        "Saving `cart.json` fails, see the docs (https://docs.example/save) and https://x.example.\n"
        "It worked in 2.1.\n\n"
        "- first\n- second\n  1. deeper\n- [x] searched\n- [ ] asked\n\n"
        "os | ok\nlinux | yes\n\n"
        "```python\ndef save(self):\n    pass\n```\n\n"
        "Log\n\n"
        "```\nline 1\n\nline 2\n```\n\n"
        "> quoted\n\n"
        "```\nindented code\n```"
    )
    assert page.links == ["https://docs.example/save", "https://x.example"]
    assert page.hidden_fragments == 1


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        (None, ""),
        ("", ""),
        (" \r\n\t", ""),
        ("a\x00b\ud800c", "abc"),
        ("one\rtwo\r\nthree\u2028four", "one\ntwo\nthree\nfour"),
        ("call __init__ now", "call __init__ now"),
        ("call **init** now", "call init now"),
        ("the <module> here", "the  here"),
        ("the `<module>` here", "the `<module>` here"),
        ("use the <script> tag", "use the <script> tag"),
        ("a <title> b", "a <title> b"),
        ("**Steps:**\nrun it", "###### Steps:\n\nrun it"),
        ("it is **very** bad", "it is very bad"),
        ("&lt;b&gt; &amp; &#64;bob", "<b> & @bob"),
        (r"\*not bold\*", "*not bold*"),
        (">>> f(1)\n3", ">>> f(1)\n>>> 3"),
        ("````\n```\ninner\n```\n````", "````\n```\ninner\n```\n````"),
        ("![shot](https://img.example/1.png)", ""),
        ("\x1b[31mred\x1b[0m", "red"),
        ("👩\u200d💻 ❤\ufe0f done", "👩\u200d💻 ❤\ufe0f done"),
    ],
)
def test_small_pages(markdown: str | None, text: str) -> None:
    assert visible(markdown).text == text


def test_a_picture_is_a_link() -> None:
    assert visible("![shot](https://img.example/1.png)").links == ["https://img.example/1.png"]


def test_a_long_underlined_paragraph_is_no_heading() -> None:
    page = visible("word " * 60 + "\n----\n")
    assert [block.kind for block in page.blocks] == ["text"]


def test_a_title_is_one_line() -> None:
    assert visible_line("  Crash\u200b on\r\n`save`  **now** ") == ("Crash on `save` **now**", 1)


def test_every_invisible_code_point_goes() -> None:
    unseen = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Cs}]")
    shown_formats = {chr(n) for n in (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD)}
    points = [
        chr(n)
        for n in range(0x110000)
        if unseen.match(chr(n)) and chr(n) not in shown_formats | set("\n\t\r\x0b\x0c\x85")
    ]
    assert len(points) > 4_000
    survivors = [f"{ord(c):X} {unicodedata.category(c)}" for c in points if clean(f"a{c}b")[0] != "ab"]
    assert survivors == []


def test_a_run_counts_once() -> None:
    assert clean("a\u200b\u200c\u200db\u2060c") == ("abc", 2)


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_text_is_read_and_stays_clean(markdown: str) -> None:
    page = visible(markdown)
    assert visible_only(page.text) == page.text
    page.text.encode()


SHAPES = {
    "[": "[", "![": "![", "[a](": "[a](", "[a][": "[a][", "> ": "> ", ">": ">", "- > ": "- > ", "*": "*", "**a ": "**a ", "*_": "*_", "***a": "***a", "`": "`", "`` `": "`` ` ",
    "~": "~", "~~a ": "~~a ", "<!--": "<!--", "<!-- -->": "<!-- -->", "<!": "<!", "<?": "<?", "<![CDATA[": "<![CDATA[", "&amp;": "&amp;", "&#x1F600;": "&#x1F600;", "<": "<", "<a ": "<a ",
    "<div>": "<div>", "<b>": "<b>", "<ul><li>": "<ul><li>", "<dl><dt>": "<dl><dt>", "<table><b>": "<table><b>", "<table><tr><td>": "<table><tr><td>", "<a><p>": "<a><p>",
    "<details>": "<details>", "<template>": "<template>", "<script>": "<script>", "<svg><g>": "<svg><g>", "<select><option>": "<select><option>", "</p>": "</p>", "</": "</",
    "http://": "http://", "www.": "www.", "a@b.": "a@b.", "http://a(": "http://a(", "|": "|", "table": "a|b\n-|-\n", "rows": "x|y\n", "| b": "|\n", "[a]: b": "[a]: b\n", "[^a]: x": "[^a]: x\n\n", "[^a]": "[^a]",
    "lines": "\n", "cr": "\r", "tabs": "\t", "a": "a", "-": "-\n", "1.": "1. ", "a=": "a\n=\n", "#": "# a\n\nx\n\n", "fences": "```\n", "\\": "\\", "\"": "\"", "nul": "\0", "emoji": "👩\u200d", "marks": "\u0301", "zw": "a\u200b", "esc": "\x1b[", "bold": "**a**\n",
}  # fmt: skip
BUILT = {
    "wide table": "|" + "a|" * 5_000 + "\n|" + "-|" * 5_000 + "\n" + "|a\n" * 15_000,
    "nested list": "".join(" " * n + "- a\n" for n in range(360)),
    "many stars": "".join("* " * n + "a\n" for n in range(250)),
    "deeper quotes": "".join(">" * n + "a\n" for n in range(360)),
    "attributes": "<div " + " ".join(chr(0x4E00 + n) for n in range(20_000)) + ">",
    "quoted attributes": "<div " + " ".join(f"{chr(0x4E00 + n)}='>'" for n in range(10_000)) + ">",
    "formatting": "".join(f"<p><b id={n}>" for n in range(5_000)),
    "formatting, falsely closed": "".join(f"<p><b id={n}></x>" for n in range(4_000)),
    "definitions": "".join(f"[r{n}]: x\n" for n in range(6_000)),
    "footnotes": "".join(f"[^{n}]: [^{n + 1}]\n" for n in range(4_000)) + "[^0]",
    "long reference": "[a]: " + "x" * 30_000 + "\n\n" + "[a]" * 10_000,
    "backtick runs": " ".join("`" * n for n in range(1, 350)),
}  # fmt: skip


@pytest.mark.parametrize("shape", [*SHAPES, *BUILT])
def test_64_kib_of_anything_is_fast(shape: str) -> None:
    markdown = BUILT.get(shape) or (SHAPES[shape] * 65_536)
    started = time.process_time()
    page = visible(markdown[:65_536])
    text = page.text
    assert time.process_time() - started < 0.75  # 250 ms on a quiet machine
    assert len(text) < 4 * 65_536
